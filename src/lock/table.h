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
  // The first ticket is the one after `last`.
  explicit Table(uint64_t effort = kTableEffort, Ticket last = 0);
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

  // Tickets that a roomy request leaves free after itself: a quarter of that for each that takes its place and is
  // roomy, too.
  static constexpr Ticket kRoom = Ticket{1} << 32;
  static constexpr Ticket kLastRoomy = Ticket{1} << 63;  // there is no roomy one beyond
  static constexpr unsigned kMostSplits = 8;             // so often a roomy request may come from another
  static constexpr size_t kMostRoomyParts = 3;           // in one replacement
  static constexpr size_t kMostParts = 1u << 13;         // the others

  // As try_add(), for a request that replace() can be called for. Nothing beyond kLastRoomy.
  std::optional<Ticket> try_add_roomy(Region region, Access access);

  // Puts `parts` in the place of a roomy request that is granted: before all that came later, in this order, those that
  // are roomy last. Those that are held are granted whatever they say, and roomy ones are held; the bytes of all must
  // be some of that request's.
  struct Part {
    Region region;
    Access access = Access::shared;
    bool held = false;
    bool roomy = false;
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
  std::optional<Entry> find(Ticket ticket) const;
  // Every request in order of arrival.
  void for_each(const std::function<void(const Entry&)>& visit) const;

  // Whether the last operation used up its effort: then something may wait for what it does not overlap.
  bool ran_out() const;

  size_t size() const;
  bool empty() const { return size() == 0; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace forebay::lock
