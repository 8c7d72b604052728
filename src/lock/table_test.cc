#include "lock/table.h"

#include <algorithm>
#include <deque>

#include <gmock/gmock.h>

#include "lock/region_samples.h"

namespace forebay::lock {
namespace {

using samples::pick;
using samples::Random;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Region span_of(uint64_t first, uint64_t end) {
  Region region;
  region.add(first, end - first).value();
  return region;
}

Region every(uint64_t start, uint64_t length, uint64_t count, uint64_t stride) {
  Region region;
  const Level level{count, stride};
  region.add(start, length, std::span(&level, 1)).value();
  return region;
}

std::vector<Ticket> granted_of(const Table& table) {
  std::vector<Ticket> granted;
  table.for_each([&](const Table::Entry& entry) {
    if (entry.granted) granted.push_back(entry.ticket);
  });
  return granted;
}

TEST(Table, GrantsWhatDoesNotTouch) {
  Table table;
  EXPECT_TRUE(table.empty());
  EXPECT_TRUE(table.add(span_of(0, 10), Access::exclusive).granted);
  EXPECT_TRUE(table.add(span_of(10, 20), Access::exclusive).granted);
  EXPECT_TRUE(table.add(every(20, 4, 10, 8), Access::exclusive).granted);
  EXPECT_TRUE(table.add(every(24, 4, 10, 8), Access::exclusive).granted);
  EXPECT_FALSE(table.add(span_of(30, 31), Access::exclusive).granted);
  EXPECT_EQ(table.size(), 5u);
}

TEST(Table, PutsOthersInThePlaceOfOne) {
  Table table;
  const Ticket whole = table.try_add_roomy(Region::whole_file(), Access::exclusive).value();
  const Ticket apart = table.add(span_of(100, 110), Access::exclusive).ticket;
  const Ticket behind = table.add(span_of(5, 20), Access::shared).ticket;
  const Table::Replaced replaced = table.replace(whole, {{span_of(0, 10), Access::exclusive, true},
                                                         {span_of(5, 8), Access::exclusive, false},
                                                         {span_of(30, 40), Access::shared, false},
                                                         {span_of(12, 13), Access::exclusive, true}});
  ASSERT_EQ(replaced.parts.size(), 4u);
  EXPECT_THAT(replaced.granted, ElementsAre(replaced.parts[2], apart));
  EXPECT_LT(replaced.parts[3], apart);
  EXPECT_THAT(table.remove(replaced.parts[3]), IsEmpty());
  EXPECT_THAT(table.remove(replaced.parts[0]), ElementsAre(replaced.parts[1]));
  EXPECT_THAT(table.remove(replaced.parts[1]), ElementsAre(behind));
  EXPECT_EQ(table.replace(whole, {}).parts.size(), 0u) << "it is gone";
}

TEST(Table, SharesAmongReaders) {
  Table table;
  const Ticket reader = table.add(Region::whole_file(), Access::shared).ticket;
  const Ticket other = table.add(span_of(5, 6), Access::shared).ticket;
  EXPECT_THAT(granted_of(table), ElementsAre(reader, other));
  const auto writer = table.add(span_of(5, 6), Access::exclusive);
  EXPECT_FALSE(writer.granted);
  EXPECT_THAT(table.remove(other), IsEmpty());
  EXPECT_THAT(table.remove(reader), ElementsAre(writer.ticket));
}

TEST(Table, LetsNobodyOvertake) {
  Table table;
  const Ticket reader = table.add(span_of(0, 10), Access::shared).ticket;
  const auto writer = table.add(span_of(0, 10), Access::exclusive);
  const auto late = table.add(span_of(5, 6), Access::shared);
  EXPECT_FALSE(late.granted);
  EXPECT_THAT(table.remove(reader), ElementsAre(writer.ticket));
  EXPECT_THAT(table.remove(writer.ticket), ElementsAre(late.ticket));
}

TEST(Table, WakesWhoWaitedForOneThatGaveUp) {
  Table table;
  table.add(span_of(0, 10), Access::shared);
  const auto writer = table.add(span_of(0, 10), Access::exclusive);
  const auto first = table.add(span_of(0, 2), Access::shared);
  const auto second = table.add(span_of(4, 6), Access::shared);
  EXPECT_THAT(table.remove(writer.ticket), ElementsAre(first.ticket, second.ticket));
}

TEST(Table, GrantsAWholeRequestOnly) {
  Table table;
  const Ticket left = table.add(span_of(0, 1), Access::exclusive).ticket;
  const Ticket right = table.add(span_of(9, 10), Access::exclusive).ticket;
  const auto both = table.add(span_of(0, 10), Access::exclusive);
  EXPECT_THAT(table.remove(right), IsEmpty());
  EXPECT_THAT(granted_of(table), ElementsAre(left));
  EXPECT_THAT(table.remove(left), ElementsAre(both.ticket));
}

TEST(Table, TriesWithoutQueueing) {
  Table table;
  const auto holder = table.try_add(span_of(0, 10), Access::exclusive);
  ASSERT_TRUE(holder);
  EXPECT_FALSE(table.try_add(span_of(9, 11), Access::shared));
  EXPECT_EQ(table.size(), 1u);
  EXPECT_THAT(table.remove(*holder), IsEmpty());
  EXPECT_TRUE(table.try_add(span_of(9, 11), Access::shared));
}

TEST(Table, IgnoresUnknownTicketsAndNeverUsesOneAgain) {
  Table table;
  EXPECT_THAT(table.remove(1), IsEmpty());
  const Ticket first = table.add(span_of(0, 1), Access::exclusive).ticket;
  EXPECT_GT(first, 0u);
  table.remove(first);
  EXPECT_THAT(table.remove(first), IsEmpty());
  EXPECT_GT(table.add(span_of(0, 1), Access::exclusive).ticket, first);
}

TEST(Table, GrantsEmptyRequests) {
  Table table;
  table.add(Region::whole_file(), Access::exclusive);
  EXPECT_TRUE(table.add(Region(), Access::exclusive).granted);
}

TEST(Table, TellsWhoWaitsForWhom) {
  Table table;
  const Ticket first = table.add(span_of(0, 10), Access::exclusive).ticket;
  const Ticket second = table.add(span_of(2, 3), Access::shared).ticket;
  std::vector<Table::Entry> entries;
  table.for_each([&](const Table::Entry& entry) { entries.push_back(entry); });
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].waits_for, 0u);
  EXPECT_EQ(entries[0].access, Access::exclusive);
  EXPECT_EQ(entries[1].ticket, second);
  EXPECT_EQ(entries[1].waits_for, first);
  EXPECT_FALSE(entries[1].granted);
  EXPECT_EQ(entries[1].region->bounds(), (Extent{2, 3}));
}

TEST(Table, EmptiesALongQueueInOrder) {
  constexpr size_t kRequests = 2000;
  Table table;
  std::deque<Ticket> queue;
  for (size_t i = 0; i < kRequests; ++i) queue.push_back(table.add(Region::whole_file(), Access::exclusive).ticket);
  while (queue.size() > 1) {
    const Ticket first = queue.front();
    queue.pop_front();
    ASSERT_THAT(table.remove(first), ElementsAre(queue.front()));
  }
}

TEST(Table, GrantsLaterWhatItCannotCompareInTime) {
  Table table(100'000);
  const Ticket holder = table.add(every(1'200'000, 500'000, 600'000, 10'000'000), Access::exclusive).ticket;
  // Each of these terms is apart from the holder's, which takes 60,000 steps to find out.
  const auto add = [&](uint64_t terms) {
    Region region;
    const Level levels[] = {{60'000, 10'000'001}, {2, 2'000'000}};
    for (uint64_t i = 0; i < terms; ++i) region.add(i, 1, levels).value();
    return table.add(std::move(region), Access::shared);
  };
  EXPECT_TRUE(add(1).granted);
  const auto added = add(2);
  EXPECT_FALSE(added.granted);
  EXPECT_THAT(table.remove(holder), ElementsAre(added.ticket));
}

// What the table promises, said in sets of bytes and in as many comparisons as it takes.
class PlainTable {
 public:
  struct Request {
    Ticket ticket;
    Access access;
    std::set<uint64_t> bytes;
    bool granted = false;
  };

  static bool conflict(const Request& a, const Request& b) {
    if (a.access == Access::shared && b.access == Access::shared) return false;
    return std::ranges::any_of(a.bytes, [&](uint64_t byte) { return b.bytes.contains(byte); });
  }

  bool would_wait(const Request& request) const {
    return std::ranges::any_of(
        requests_, [&](const Request& other) { return other.ticket < request.ticket && conflict(other, request); });
  }

  bool add(Request request) {
    request.granted = !would_wait(request);
    requests_.push_back(std::move(request));
    return requests_.back().granted;
  }

  std::vector<Ticket> remove(Ticket ticket) {
    std::erase_if(requests_, [&](const Request& request) { return request.ticket == ticket; });
    std::vector<Ticket> granted;
    for (Request& request : requests_)
      if (!request.granted && !would_wait(request)) {
        request.granted = true;
        granted.push_back(request.ticket);
      }
    return granted;
  }

  const std::vector<Request>& requests() const { return requests_; }

 private:
  std::vector<Request> requests_;
};

Region random_region(Random& random) {
  constexpr uint64_t kSpan = 300;
  switch (pick(random, 0, 9)) {
    case 0:
      return span_of(0, 4 * kSpan);  // as good as the whole file, but its bytes can be counted
    case 1:
    case 2: {
      const uint64_t first = 10 * pick(random, 0, kSpan / 10);
      return span_of(first, first + 10 * pick(random, 1, 3));
    }
    case 3:
    case 4:
      return samples::region_of({samples::random_raw(random, kSpan, 2, 20), samples::random_raw(random, kSpan, 1, 9)});
    default:
      return samples::region_of({samples::random_nested(random, kSpan, 3)});
  }
}

void check_entries(const Table& table, const PlainTable& model) {
  size_t i = 0;
  ASSERT_EQ(table.size(), model.requests().size());
  table.for_each([&](const Table::Entry& entry) {
    const PlainTable::Request& request = model.requests()[i++];
    ASSERT_EQ(entry.ticket, request.ticket);
    ASSERT_EQ(entry.granted, request.granted);
    if (entry.granted) return;
    // Who is waited for is there, came before, and is in the way.
    const auto other = std::ranges::find(model.requests(), entry.waits_for, &PlainTable::Request::ticket);
    ASSERT_NE(other, model.requests().end());
    ASSERT_LT(other->ticket, request.ticket);
    ASSERT_TRUE(PlainTable::conflict(*other, request));
  });
}

void play(uint64_t seed) {
  Random random(seed);
  Table table;
  PlainTable model;
  const uint64_t readers = pick(random, 0, 3);
  const size_t crowd = pick(random, 2, 30);
  Ticket next = 1;
  for (int step = 0; step < 150; ++step) {
    if (model.requests().size() < crowd && pick(random, 0, 2) > 0) {
      Region region = random_region(random);
      const Access access = pick(random, 0, 3) < readers ? Access::shared : Access::exclusive;
      PlainTable::Request request{next, access, samples::bytes_of(region)};
      if (pick(random, 0, 4) == 0) {
        const bool waits = model.would_wait(request);
        const auto ticket = table.try_add(std::move(region), access);
        ASSERT_EQ(ticket.has_value(), !waits);
        if (waits) continue;
        model.add(std::move(request));
      } else {
        const auto added = table.add(std::move(region), access);
        ASSERT_EQ(added.ticket, next);
        ASSERT_EQ(added.granted, model.add(std::move(request)));
      }
      ++next;
    } else if (!model.requests().empty()) {
      const Ticket ticket = model.requests()[pick(random, 0, model.requests().size() - 1)].ticket;
      ASSERT_EQ(table.remove(ticket), model.remove(ticket));
    }
    check_entries(table, model);
  }
}

TEST(Table, ComparesWithABoundedNumberOfRequests) {
  Table table(100);
  const auto add = [&table](size_t count) {
    Region around;
    ASSERT_TRUE(around.add(0, 1));
    ASSERT_TRUE(around.add(5000, 1));
    for (size_t i = 0; i < count; ++i) ASSERT_TRUE(table.add(around, Access::shared).granted);
  };
  Region inside;
  ASSERT_TRUE(inside.add(1000, 1));
  add(50);
  const auto ticket = table.try_add(inside, Access::exclusive);
  ASSERT_TRUE(ticket);
  table.remove(*ticket);
  add(100);
  EXPECT_FALSE(table.try_add(inside, Access::exclusive)) << "who could not be compared counts as in the way";
}

TEST(Table, DoesWhatANaiveOneDoes) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    play(seed);
    if (HasFatalFailure()) return;
  }
}

TEST(Table, LeavesNoRoomWhereTicketsComeToAnEnd) {
  Table table(kTableEffort, Table::kLastRoomy - 1);
  Region first, second;
  ASSERT_TRUE(first.add(0, 10));
  ASSERT_TRUE(second.add(10, 10));
  EXPECT_THAT(table.try_add_roomy(first, Access::exclusive), testing::Optional(Table::kLastRoomy));
  EXPECT_EQ(table.try_add_roomy(second, Access::exclusive), std::nullopt);
  EXPECT_TRUE(table.add(second, Access::exclusive).granted);
}

}  // namespace
}  // namespace forebay::lock
