// What is new in a text file that names sets: of one that grows, what was appended; of one that is written anew, all.
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::launch::rules {

class TextSeen {
 public:
  // `text` is what the file has from `offset` on, to its end. The lines that were not seen, into `text`; of a file that
  // is open, without a last line that lacks its line feed. A file of one line that is written again names its set
  // again.
  std::vector<std::string_view> new_lines(std::string_view text, uint64_t offset, bool is_open);

 private:
  // Where in `text` the new part begins.
  size_t new_part(std::string_view text, uint64_t offset) const;

  bool is_known_ = false;
  uint64_t end_ = 0;  // how far whole lines were seen
  std::string tail_;  // the bytes before it
};

}  // namespace forebay::launch::rules
