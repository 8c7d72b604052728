#include "engine/pack/parent_matcher.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "engine/set/set_files.h"

namespace forebay::engine {
namespace {

// A reference takes about as many bytes: what is smaller is better stored again, and hangs on no other set.
constexpr uint64_t kLeastEncodedBytes = 256;

// Appends the frames of one container of the parent.
class Collector {
 public:
  Collector(Parent& parent, const OpenContainer& container, const std::string& name)
      : parent_(parent), container_(container), own_(intern({parent.manifest.name, name, container.reader->id()})) {}

  void run() {
    for (uint32_t number = 0; number < container_.index().frames.size(); ++number) take(number);
  }

 private:
  void take(uint32_t number) {
    const container::FrameEntry& entry = container_.index().frames[number];
    Parent::Frame frame{.raw_hash = entry.raw_hash, .raw_bytes = entry.raw_bytes, .container = own_, .number = number};
    if (is_parent_frame(container_, number)) {
      const auto stored = fetch_frame(container_, number);
      const auto origin = stored ? parse_parent_recipe(stored->stored.recipe) : std::unexpected(stored.error());
      if (!origin || !is_listed(origin->set)) return;
      frame.container = intern({origin->set, origin->container, origin->container_id});
      frame.number = origin->number;
    } else if (entry.is_lost() || entry.encoded_bytes < kLeastEncodedBytes || needs_other_sets(entry)) {
      return;
    }
    parent_.frames.push_back(frame);
  }

  bool is_listed(const std::string& set) const {
    return std::ranges::find(parent_.manifest.parents, set, &store::ParentEntry::name) !=
           parent_.manifest.parents.end();
  }

  // Whether it was predicted from a frame that lies elsewhere: who follows a reference finds all that he needs in one
  // container.
  bool needs_other_sets(const container::FrameEntry& entry) const {
    return std::ranges::any_of(entry.references, [&](uint32_t other) { return is_parent_frame(container_, other); });
  }

  uint32_t intern(const Parent::Container& wanted) {
    const auto is_it = [&](const Parent::Container& c) {
      return c.set == wanted.set && c.name == wanted.name && c.id == wanted.id;
    };
    const auto known = std::ranges::find_if(parent_.containers, is_it);
    const auto index = static_cast<uint32_t>(known - parent_.containers.begin());
    if (known == parent_.containers.end()) parent_.containers.push_back(wanted);
    return index;
  }

  Parent& parent_;
  const OpenContainer& container_;
  const uint32_t own_;
};

auto content(const Parent::Frame& frame) { return std::pair(frame.raw_hash, frame.raw_bytes); }

constexpr size_t kFrameTextBytes = 24;

}  // namespace

const Parent::Frame* Parent::find(uint64_t raw_hash, uint64_t raw_bytes) const {
  const auto at = std::ranges::lower_bound(frames, std::pair(raw_hash, raw_bytes), {}, content);
  return at != frames.end() && at->raw_hash == raw_hash && at->raw_bytes == raw_bytes ? &*at : nullptr;
}

Result<Parent> read_parent(const store::SetInfo& set, uint64_t memory_bytes, std::vector<std::string>& remarks) {
  FOREBAY_CHECK(set.manifest);
  Parent parent{.manifest = *set.manifest, .containers = {}, .frames = {}};
  for (const store::ContainerEntry& entry : set.manifest->containers) {
    const auto opened = open_listed(set.files, entry, memory_bytes);
    if (opened) {
      Collector(parent, *opened, entry.name).run();
    } else if (is_damage(opened.error())) {
      remarks.push_back(
          fmt::format("frames of {}/{} cannot be referred to: {}", set.name, entry.name, opened.error().what));
    } else {
      return std::unexpected(opened.error());
    }
  }
  std::ranges::sort(parent.frames);
  const auto again = std::ranges::unique(parent.frames, {}, content);
  parent.frames.erase(again.begin(), again.end());
  return parent;
}

std::string to_text(const Parent& parent) {
  nlohmann::json containers = nlohmann::json::array();
  for (const Parent::Container& container : parent.containers)
    containers.push_back({container.set, container.name, container.id});
  const nlohmann::json head = {{"manifest", store::serialise(parent.manifest)}, {"containers", containers}};
  const auto packed = nlohmann::json::to_msgpack(head);
  std::string text(8, '\0');
  store_le<uint64_t>(reinterpret_cast<std::byte*>(text.data()), packed.size());
  text.append(packed.begin(), packed.end());
  for (const Parent::Frame& frame : parent.frames) {
    std::array<std::byte, kFrameTextBytes> bytes;
    store_le(bytes.data(), frame.raw_hash);
    store_le(bytes.data() + 8, frame.raw_bytes);
    store_le(bytes.data() + 16, frame.container);
    store_le(bytes.data() + 20, frame.number);
    text += as_text(bytes);
  }
  return text;
}

Parent parent_from_text(const std::string& text) {
  const std::span<const std::byte> bytes = as_bytes(text);
  const auto head_bytes = static_cast<size_t>(load_le<uint64_t>(bytes.data()));
  const auto head = nlohmann::json::from_msgpack(text.substr(8, head_bytes));
  Parent parent{.manifest = *store::parse_manifest(head["manifest"].get<std::string>(), "parent"),
                .containers = {},
                .frames = {}};
  for (const auto& container : head["containers"])
    parent.containers.push_back({.set = container[0], .name = container[1], .id = container[2]});
  for (size_t at = 8 + head_bytes; at < bytes.size(); at += kFrameTextBytes) {
    const std::byte* from = bytes.data() + at;
    parent.frames.push_back({.raw_hash = load_le<uint64_t>(from),
                             .raw_bytes = load_le<uint64_t>(from + 8),
                             .container = load_le<uint32_t>(from + 16),
                             .number = load_le<uint32_t>(from + 20)});
  }
  return parent;
}

std::vector<store::ParentEntry> candidates(const store::Manifest& parent) {
  std::vector<store::ParentEntry> parents = parent.parents;
  parents.push_back({.name = parent.name, .created_ns = parent.created_ns});
  return parents;
}

// A third for indices; what the table leaves of the rest for frames.
ParentMatcher::ParentMatcher(const Parent& parent, const store::SetFiles& files, uint64_t memory_bytes)
    : parent_(parent),
      memory_bytes_(memory_bytes),
      containers_(files, memory_bytes / 3),
      budget_(memory_bytes - memory_bytes / 3 -
              std::min(memory_bytes - memory_bytes / 3, parent.frames.size() * sizeof(Parent::Frame))) {}

Result<bool> ParentMatcher::has_bytes(const ParentFrame& at, std::span<const std::byte> raw) {
  FOREBAY_TRY(const auto container, containers_.find(at));
  FOREBAY_TRY(const Lease lease, budget_.lease(frame_memory(*container, at.number)));
  FOREBAY_TRY(const RawFrame frame, read_frame(*container, at.number));
  return frame.raw.size() == raw.size() && std::memcmp(frame.raw.data(), raw.data(), raw.size()) == 0;
}

ParentMatcher::Answer ParentMatcher::find(uint64_t raw_hash, std::span<const std::byte> raw) {
  const Parent::Frame* frame = parent_.find(raw_hash, raw.size());
  if (!frame) return {};
  const Parent::Container& container = parent_.containers[frame->container];
  ParentFrame at{
      .set = container.set, .container = container.name, .container_id = container.id, .number = frame->number};
  const auto same = has_bytes(at, raw);
  if (!same)
    return {.found = {},
            .remark = fmt::format("frames of {}/{} cannot be read back ({}) and are stored again", container.set,
                                  container.name, to_string(same.error().kind))};
  return {.found = *same ? std::optional(std::move(at)) : std::nullopt, .remark = {}};
}

}  // namespace forebay::engine
