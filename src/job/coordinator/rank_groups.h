// How a checkpoint set that is offered in parts is cut into rank groups, each of which becomes a container. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "job/coordinator/offered_part.h"
#include "job/wire/messages.h"

namespace forebay::job {

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

// Ranks of each container of a set: `most`, and fewer where the set is so large that each stream of the workers can
// have two containers of it. 0 ranks are not known.
uint64_t group_size_for_streams(uint64_t most, uint32_t ranks, uint64_t set_bytes, uint64_t streams);

// Gives ranks to files that have none, and cuts. Files get their ranks from their names if no file has one
// (engine::assign_ranks()); else a file without one is that of the lowest rank of its part. A directory that several
// nodes have is stored once, as are links that say the same, markers of the application's with the same bytes, and
// files of one writing of the set that were made again.
// The parts stay where they are until it is done, and keep their files; what renew() changes may change.
class GroupCutter {
 public:
  GroupCutter(Parts& parts, uint64_t group_size) : parts_(&parts), group_size_(group_size) {}

  // Goes on for about so many files, so that a set of a million is no long call: true when it is done. It is not so
  // short where ranks are told from names, which are looked at all at once, and where one rank group alone has more.
  // invalid_argument if there is nothing to store, two nodes have files of one name, or the parts differ in the number
  // of ranks: it is over then.
  Result<bool> work(size_t files);
  // When it is done. The groups point into the parts.
  Groups take() { return std::move(cut_); }

 private:
  enum class Stage : uint8_t { begin, spread, find_repeated, cut };
  struct Entry {
    int32_t rank;
    Part* part;
    uint32_t file;
    const wire::FileT& row() const { return *part->files[file].file; }
  };
  struct Named {  // for finding names that come twice
    uint64_t hash;
    uint64_t place;  // of the part among the parts
    Entry entry;
  };

  Result<void> begin();
  size_t spread(size_t files);
  Result<size_t> find_repeated();
  Result<void> check_same_hash(std::vector<Named>::iterator first, std::vector<Named>::iterator last);
  size_t cut();

  Parts* parts_;
  uint64_t group_size_;
  Stage stage_ = Stage::begin;
  Groups cut_;
  // Where spread() is.
  Parts::iterator part_;
  uint64_t place_ = 0;
  uint32_t file_ = 0;
  int32_t highest_ = 0;                      // rank
  std::vector<std::vector<Named>> by_name_;  // by a part of the hash of the name: small enough to be sorted at once
  std::vector<std::vector<Entry>> by_group_;
  size_t next_ = 0;                                  // of these
  std::unordered_set<const wire::FileT*> repeated_;  // another node's is stored
};

// The task that packs the group, but for where the container goes.
wire::TaskT make_task(const RankGroup& group);

}  // namespace forebay::job
