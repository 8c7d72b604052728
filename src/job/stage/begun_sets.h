// What is begun and not complete in the directory of a code that knows nothing of Forebay, and whose sets are copied
// into the stage: a note of the process that watches it, for the agent (docs/wire.md, "Stage").
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace forebay::job {

struct BegunSet {
  std::string name, reason;
  std::string place;     // the code's directory
  bool is_lost = false;  // the code has ended, and it was probably a set; or it was one, and could not be copied
  bool operator==(const BegunSet&) const = default;
};

// In the place of what was noted; of more than 64 the first ones. The directory STAGE/.forebay/gather is there.
Result<void> note_begun_sets(const std::string& stage, const std::vector<BegunSet>& sets);

// Empty if there is no note that can be read.
std::vector<BegunSet> begun_sets(const std::string& stage);

// Another run begins.
void forget_begun_sets(const std::string& stage);

}  // namespace forebay::job
