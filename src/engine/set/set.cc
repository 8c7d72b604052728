#include "engine/set/set.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/checksum.h"
#include "engine/set/decoded_frames.h"
#include "engine/set/parent_frames.h"
#include "engine/set/set_files.h"
#include "store/files.h"

namespace forebay::engine {

Result<OpenContainer> open_container(std::unique_ptr<ByteSource> source, uint64_t memory_bytes) {
  OpenContainer opened{.path = source->name()};
  const std::string& path = opened.path;
  FOREBAY_TRY(opened.reader, container::Reader::open(std::move(source), memory_bytes));
  const container::Index& index = opened.index();
  auto plan = merge::Plan::make(index.catalogue, index.plan, index.frames.size());
  if (!plan) return fail(ErrorKind::corrupt, "the index does not fit together: " + plan.error().what, path);
  if (plan->frames().size() != index.frames.size())
    return fail(
        ErrorKind::corrupt,
        fmt::format("the index has {} frames where its plan has {}", index.frames.size(), plan->frames().size()), path);
  for (size_t i = 0; i < index.frames.size(); ++i)
    if (index.frames[i].raw_bytes != plan->frames()[i].raw_bytes)
      return fail(ErrorKind::corrupt, fmt::format("frame {} has another size in the index than in its plan", i), path,
                  index.frames[i].record_offset);
  opened.plan = std::make_unique<merge::Plan>(*std::move(plan));
  return opened;
}

Result<OpenContainer> open_container(const store::SetFiles& set, const std::string& name, uint64_t memory_bytes) {
  FOREBAY_TRY(auto source, set.open(name));
  return open_container(std::move(source), memory_bytes);
}

// Whether a container is the one that the manifest means, not just a valid one.
static Result<void> check_against(const store::ContainerEntry& entry, const OpenContainer& opened) {
  FOREBAY_TRY(const uint64_t tail, store::tail_hash(opened.reader->source()));
  if (opened.reader->source().size() != entry.bytes || tail != entry.tail_hash)
    return fail(ErrorKind::corrupt, "this is not the container that the set's manifest lists", opened.path, {},
                "was it replaced or cut short?");
  return {};
}

Result<OpenContainer> open_listed(const store::SetFiles& set, const store::ContainerEntry& entry, uint64_t memory_bytes,
                                  std::shared_ptr<ParentFrames> parents) {
  auto opened = open_container(set, entry.name, memory_bytes);
  if (!opened && opened.error().kind == ErrorKind::not_found)
    return fail(ErrorKind::corrupt, "a container of the set is missing", set.path_of(entry.name));
  if (!opened) return opened;
  FOREBAY_CHECK(check_against(entry, *opened));
  opened->parents = std::move(parents);
  return opened;
}

uint64_t memory_of(const OpenContainer& container) {
  const container::Index& index = container.index();
  return index.catalogue.memory_bytes() + container.plan->memory_bytes() +
         index.frames.size() * sizeof(container::FrameEntry) +
         index.characteristics.size() * sizeof(container::Characteristics) +
         index.catalogue.files.size() * (sizeof(uint64_t) + sizeof(FileCrc));
}

uint64_t memory_of(const OpenSet& set) {
  uint64_t bytes = (set.parents ? set.parents->memory_bytes() : 0) + (set.decoded ? set.decoded->memory_bytes() : 0);
  for (const OpenContainer& container : set.containers) bytes += memory_of(container);
  return bytes;
}

Result<OpenSet> open_set(const store::SetInfo& info, uint64_t memory_bytes) {
  if (!info.manifest) return std::unexpected(info.manifest.error());
  return open_containers(info, info.manifest->containers, memory_bytes);
}

Result<OpenSet> open_containers(const store::SetInfo& info, std::span<const store::ContainerEntry> entries,
                                uint64_t memory_bytes, std::vector<std::string>* unread) {
  if (!info.manifest) return std::unexpected(info.manifest.error());
  OpenSet set{.manifest = *info.manifest, .files = info.files, .containers = {}, .parents = {}, .decoded = {}};
  set.parents = make_parent_frames(info, memory_bytes);
  for (const store::ContainerEntry& entry : entries) {
    auto opened = open_listed(info.files, entry, memory_bytes, set.parents);
    if (opened) {
      memory_bytes -= std::min(memory_bytes, memory_of(*opened));
      set.containers.push_back(*std::move(opened));
    } else if (unread && is_damage(opened.error())) {
      unread->push_back(opened.error().message());
    } else {
      return std::unexpected(std::move(opened).error());
    }
  }
  set.decoded = share_decoded_frames(set.containers, memory_bytes);
  return set;
}

}  // namespace forebay::engine
