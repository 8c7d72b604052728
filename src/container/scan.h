// Finding records in a damaged file.
#pragma once

#include <string>
#include <vector>

#include "base/byte_source.h"
#include "container/record.h"

namespace forebay::container {

// What went wrong, in words, up to a bound.
class Remarks {
 public:
  void add(std::string text);
  void add(const Error& error);
  std::vector<std::string> take();

 private:
  std::vector<std::string> texts_;
  size_t dropped_ = 0;
};

// All records of `source` whose header, meta and payload pass their checksums, in order of their offsets. After damage
// it goes on at the next record marker. Never fails: what cannot be read is remarked upon. Takes time proportional to
// the source's size, whatever the source claims.
std::vector<FoundRecord> scan_records(const ByteSource& source, Remarks& remarks);

}  // namespace forebay::container
