// What one agent has of a checkpoint set, as it offers it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "fabric/hub.h"
#include "job/coordinator/coverage.h"
#include "job/wire/messages.h"

namespace forebay::job {

struct OfferedFile {
  std::unique_ptr<wire::FileT> file;
  uint32_t index = 0;  // in the offer
};

struct Part {
  fabric::ConnectionId session = 0;  // of the agent; 0: it is gone, and may come back
  std::string node, host, addresses, stage;
  uint64_t exposure = 0;
  uint32_t ranks = 0;                    // of the whole job; 0: unknown
  std::vector<OfferedFile> files;        // by name
  std::vector<uint32_t> covered;         // the ranks whose part of the set is complete here, in order
  std::pair<int64_t, uint32_t> written;  // when the newest of the files was: seconds and nanoseconds
  uint64_t ordinal = 0;                  // the set's place, as its agent was told of these files; 0: it was not
  uint64_t write = 0;                    // of this writing of the set; 0: not told
  uint64_t hash = 0;                     // of the files' names, kinds, sizes and times
  uint64_t bytes = 0;
  std::string suspicion;  // why the set may not be whole; empty: nothing speaks against it
  std::string level;      // the cache level on which its files lie; empty: they lie in the stage
  uint32_t took_ms = 0;   // from the first rank's begin to the last one's end; 0: not told
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

// Parts that nobody needs any more: those of a set of a million files take a tenth of a second to destroy.
class SpentParts {
 public:
  void add(Parts parts);
  bool empty() const { return parts_.empty(); }
  // Destroys about so many files.
  void destroy(size_t files);

 private:
  std::deque<Parts> parts_;
};

}  // namespace forebay::job
