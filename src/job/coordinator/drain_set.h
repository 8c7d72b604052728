// A checkpoint set as its agents offer it, and how it is cut into rank groups. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "fabric/hub.h"
#include "job/wire/messages.h"

namespace forebay::job {

// More ranks than any machine has; what a message says is believed up to here.
inline constexpr uint32_t kMaxRanks = 1 << 22;

struct OfferedFile {
  std::unique_ptr<wire::FileT> file;
  uint32_t index = 0;  // in the offer
};

// What one agent has of a set.
struct Part {
  fabric::ConnectionId session = 0;  // of the agent; 0: it is gone, and may come back
  std::string node, host, addresses, stage;
  uint64_t exposure = 0;
  uint32_t ranks = 0;              // of the whole job; 0: unknown
  std::vector<OfferedFile> files;  // by name
  std::vector<uint32_t> covered;   // the ranks whose part of the set is complete here, in order
  uint64_t hash = 0;               // of the files' names, kinds, sizes and times
  uint64_t bytes = 0;
};

// A part's hash as store::Manifest::sources has it.
std::string hash_text(uint64_t hash);

// Takes the files out of `offer`. invalid_argument, with what is wrong, if ranks or names do not fit together.
Result<Part> make_part(wire::OfferT& offer);

// The same files were offered again: what may be different goes over to `part`.
void renew(Part& part, Part&& again);
// Whether `again` lists the same files, in the state that `part` has them: the hash, and the times of the inodes.
bool is_same(const Part& part, const Part& again);

// By the agent that offered them.
using Parts = std::map<std::string, Part>;

// Which ranks of a job are there, by how many parts.
class Coverage {
 public:
  void add(const std::vector<uint32_t>& ranks);
  void remove(const std::vector<uint32_t>& ranks);
  size_t size() const { return counts_.size(); }
  // "3, 5-7, ...": those below `total` that are not there, up to a few.
  std::string missing(uint32_t total) const;

 private:
  std::unordered_map<uint32_t, uint32_t> counts_;
};

struct GroupFile {
  Part* part = nullptr;
  uint32_t file = 0;  // index into part->files
};

struct RankGroup {
  uint32_t first_rank = 0;
  std::vector<GroupFile> files;  // by rank, then name
  std::vector<Part*> parts;      // in which they lie
  std::string home;              // the node with most of the bytes
  uint64_t bytes = 0;
};

struct Groups {
  uint32_t ranks = 0;
  uint64_t group_size = 0;  // ranks of each, but for the last one
  uint64_t files = 0, bytes = 0;
  std::vector<RankGroup> groups;
};

// Gives ranks to files that have none, and cuts. Files get their ranks from their names if no file has one
// (engine::assign_ranks()); else a file without one is that of the lowest rank of its part. A directory that several
// nodes have is stored once, as are links that say the same, and markers of the application's with the same bytes.
// invalid_argument if there is nothing to store, two nodes have files of one name, or the parts differ in the number of
// ranks. The groups point into `parts`.
Result<Groups> cut_groups(Parts& parts, uint64_t group_size);

// The task that packs the group, but for where the container goes.
wire::TaskT make_task(const RankGroup& group);

}  // namespace forebay::job
