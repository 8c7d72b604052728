// The lock table of one file: who holds and who waits for which bytes. Pure: no clock, no thread, no I/O.
//
// A request waits for every earlier request that conflicts with it, held or queued, and is granted whole. Two requests
// conflict if their regions overlap (overlap.h) and one of them at least is exclusive. Since it waits only for earlier
// ones there is no deadlock; since no later one can overtake it there is no starvation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "lock/region.h"

namespace forebay::lock {

enum class Access : uint8_t { shared, exclusive };

// Names a request in its table; grows in the order of arrival and is never used again.
using Ticket = uint64_t;

// An operation compares regions for so many steps at most, of about 10 ns; what it did not get to counts as overlapping
// until it has gone. Only many long lists or hostile ones take so long.
inline constexpr uint64_t kTableEffort = 1u << 25;

// Not thread-safe.
class Table {
 public:
  explicit Table(uint64_t effort = kTableEffort);
  ~Table();
  Table(Table&&) noexcept;
  Table& operator=(Table&&) noexcept;

  struct Added {
    Ticket ticket = 0;
    bool granted = false;  // else it is queued
  };
  Added add(Region region, Access access);

  // Adds the request only if it can be granted at once.
  std::optional<Ticket> try_add(Region region, Access access);

  // Ends a request, held or queued, and returns those that are granted thereby, in order of arrival. A ticket that is
  // not there is ignored.
  std::vector<Ticket> remove(Ticket ticket);

  // Tickets that the one of roomy() leaves free after itself.
  static constexpr Ticket kRoom = 1u << 16;

  // As add(), for a request that replace() can be called for.
  Added add_roomy(Region region, Access access);

  // Puts `parts` in the place of a request that add_roomy() has granted: before all that came later, in this order.
  // Those that are held are granted whatever they say; the bytes of all must be some of that request's. At most kRoom
  // of them.
  struct Part {
    Region region;
    Access access = Access::shared;
    bool held = false;
  };
  struct Replaced {
    std::vector<Ticket> parts;    // in their order
    std::vector<Ticket> granted;  // in order of arrival: parts that were not held, and later requests
  };
  Replaced replace(Ticket ticket, std::vector<Part> parts);

  struct Entry {
    Ticket ticket = 0;
    Access access = Access::shared;
    bool granted = false;
    const Region* region = nullptr;  // valid until the table changes
    Ticket waits_for = 0;            // an earlier request that stands in its way; 0 if granted
  };
  // Every request in order of arrival.
  void for_each(const std::function<void(const Entry&)>& visit) const;

  size_t size() const;
  bool empty() const { return size() == 0; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace forebay::lock
