// An open set: its manifest, and its containers with their plans.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "container/container.h"
#include "engine/options.h"
#include "merge/plan.h"
#include "store/store.h"

namespace forebay::engine {

class ParentFrames;
class DecodedFrames;

struct OpenContainer {
  std::string path;  // what messages call it
  std::unique_ptr<container::Reader> reader;
  std::unique_ptr<merge::Plan> plan;       // of reader->index().catalogue, with one entry per index frame
  std::shared_ptr<ParentFrames> parents;   // for frames that lie in other sets; null if there are none
  std::shared_ptr<DecodedFrames> decoded;  // for frames that others are predicted from; see share_decoded_frames()

  const container::Index& index() const { return reader->index(); }
  const Catalogue& catalogue() const { return index().catalogue; }
};

// corrupt, with file and offset, if anything that the index says does not hold; limit if the index alone passes
// `memory_bytes`.
Result<OpenContainer> open_container(std::unique_ptr<ByteSource> source, uint64_t memory_bytes);
Result<OpenContainer> open_container(const store::SetFiles& set, const std::string& name, uint64_t memory_bytes);

// Likewise for a container that a manifest lists: corrupt, too, if it is missing or another one than the manifest
// means. `parents` is what make_parent_frames() has for the set.
Result<OpenContainer> open_listed(const store::SetFiles& set, const store::ContainerEntry& entry, uint64_t memory_bytes,
                                  std::shared_ptr<ParentFrames> parents = nullptr);

struct OpenSet {
  store::Manifest manifest;
  store::SetFiles files;
  std::vector<OpenContainer> containers;
  std::shared_ptr<ParentFrames> parents;   // of all containers
  std::shared_ptr<DecodedFrames> decoded;  // likewise
};

// The memory that an open container holds, roughly, without what it shares with others.
uint64_t memory_of(const OpenContainer& container);

// What the containers of the set hold, and may hold of other sets' containers.
uint64_t memory_of(const OpenSet& set);

// Opens all containers of a set and checks them against its manifest. `memory_bytes` pays for all of them together.
Result<OpenSet> open_set(const store::SetInfo& info, uint64_t memory_bytes);

// The same with those containers of the set that `entries` are. Those that are damaged are told in `unread`, each with
// the reason, and left out; if that is null, they are errors.
Result<OpenSet> open_containers(const store::SetInfo& info, std::span<const store::ContainerEntry> entries,
                                uint64_t memory_bytes, std::vector<std::string>* unread = nullptr);

}  // namespace forebay::engine
