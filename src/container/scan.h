// Finding records in a file with damage, or with gaps between them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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

// Looks for the markers with which records begin.
class MarkerSearch {
 public:
  // What to do about bytes that cannot be read: without an error they count as zeros.
  using OnUnreadable = std::function<Result<void>(const Error& error)>;
  MarkerSearch(const ByteSource& source, OnUnreadable on_unreadable)
      : source_(source), on_unreadable_(std::move(on_unreadable)) {}

  // The first one at `begin` or behind it that ends at `end` or in front of it; nothing if there is none.
  Result<std::optional<uint64_t>> next(uint64_t begin, uint64_t end);

 private:
  Result<void> load(uint64_t offset);

  const ByteSource& source_;
  const OnUnreadable on_unreadable_;
  Bytes window_;
  uint64_t window_offset_ = 0;
};

// All records of `source` from `begin` on whose header, meta and payload pass their checksums, in order. After damage
// it goes on at the next record marker. What cannot be read is remarked upon. limit if there are more than
// `max_records`. Takes time proportional to the source's size, whatever the source claims.
Result<std::vector<FoundRecord>> scan_records(const ByteSource& source, uint64_t begin, uint64_t max_records,
                                              Remarks& remarks);

}  // namespace forebay::container
