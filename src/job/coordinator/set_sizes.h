// Whether a set has far fewer files or bytes than those before it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace forebay::job {

// For sets that are known to be complete by their files alone: a writer that was killed leaves fewer.
class SetSizes {
 public:
  struct Size {
    size_t files = 0;
    uint64_t bytes = 0;
  };

  // To be called once for each set of a series, in the order of completion. Why the set is suspect: it has less than
  // half of the files, or of the bytes, of the last one that was not. A second one in a row of its size is not: the
  // application writes other sets now. Empty: it is not.
  std::string judge(const Size& set);

 private:
  Size whole_;  // of the last one that was not suspect; no bytes: there was none
  Size small_;  // of a suspect one after it
};

}  // namespace forebay::job
