// Regions that follow each other at equal distances: what a client will ask for next, if it goes on as it does. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "lock/region.h"
#include "lock/table.h"

namespace forebay::lock {

// `count` further regions, each `stride` bytes after the one before.
struct Ahead {
  uint64_t stride = 0;
  uint64_t count = 0;
  bool operator==(const Ahead&) const = default;
};

// Elements of a progression, from `from` to before `to`.
struct Elements {
  uint64_t from = 0;
  uint64_t to = 0;
  bool empty() const { return from >= to; }
  bool operator==(const Elements&) const = default;
};

// The bytes of these elements of the progression that begins with `first`. Errors as Region::add.
Result<Region> elements(const Region& first, uint64_t stride, Elements which);

// From the first to the last of the elements before `count` that have a byte in common with `other`, or more where
// overlap() is not exact. Some comparisons for each doubling of `count`.
Elements touched(const Region& first, uint64_t stride, uint64_t count, const Region& other);

// Whether all bytes of `inner` are bytes of `outer`. Never true if they are not; false, too, where it would take more
// than to look at the terms one by one and at the strides that are multiples of each other.
bool covers(const Region& outer, const Region& inner);

// Finds out which requests follow each other at equal distances. Not thread-safe.
class Foresight {
 public:
  static constexpr uint64_t kFirst = 8, kMost = 1024;  // elements that are asked ahead
  static constexpr size_t kMostPatterns = 16;
  static constexpr size_t kMostTerms = 64;  // of regions that are looked at

  // A request goes to the server: what is to be asked for with it.
  std::optional<Ahead> ask(std::string_view file, const Region& region, Access access);

  // The server has lent `count` elements with this request, itself among them: the next one follows these.
  void lent(std::string_view file, const Region& region, Access access, uint64_t count);

  // Somebody else wanted some of what was asked ahead: less is, and after a while only.
  void recalled(std::string_view file);

 private:
  struct Pattern {
    std::string file;
    Access access = Access::shared;
    Region last;
    uint64_t stride = 0;    // 0: not known
    uint64_t expected = 0;  // where the next request begins
    uint64_t ahead = 0;     // what was asked last
    uint64_t run = 0;       // requests in a row that were expected
    uint64_t required = 1;  // elements of a pattern before anything is asked ahead
  };
  Pattern* find(std::string_view file, const Region& region, Access access);

  std::deque<Pattern> patterns_;
};

}  // namespace forebay::lock
