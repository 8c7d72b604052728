// The index by strides against a search through all requests.
#include "lock/term_index.h"

#include <algorithm>
#include <list>

#include <gmock/gmock.h>

#include "lock/overlap.h"
#include "lock/region_samples.h"

namespace forebay::lock {
namespace {

using samples::pick;
using samples::Random;

struct Request : TermIndex::Node {
  Region region;
};

Request* latest(const TermIndex& index, uint64_t before, const Region& region, bool exclusive,
                size_t* asked = nullptr) {
  return static_cast<Request*>(index.latest_before(before, region, exclusive, [&](const TermIndex::Node& other) {
    if (asked) ++*asked;
    return overlap(static_cast<const Request&>(other).region, region);
  }));
}

Request* latest(std::list<Request>& requests, uint64_t before, const Region& region, bool exclusive) {
  Request* found = nullptr;
  for (Request& other : requests)
    if (other.ticket < before && (found == nullptr || other.ticket > found->ticket) && (exclusive || other.exclusive) &&
        overlap(other.region, region))
      found = &other;
  return found;
}

// Of a few strides that many share, as accesses have, and of any; some of several terms.
Region random_terms(Random& random) {
  constexpr uint64_t kSpan = 600;
  switch (pick(random, 0, 5)) {
    case 0:
      return samples::region_of({samples::random_raw(random, kSpan, 3, 50)});
    case 1:
      return samples::region_of({samples::random_raw(random, kSpan, 2, 20), samples::random_nested(random, kSpan, 2)});
    case 2: {
      const uint64_t column = pick(random, 0, 39);
      return samples::region_of({{column, pick(random, 1, 3), {{pick(random, 2, 9), 40}}}, {400 + column, 2, {}}});
    }
    case 3:
      return samples::region_of({samples::random_nested(random, kSpan, 3)});
    default: {
      const uint64_t row = pick(random, 0, 9), column = pick(random, 0, 39);
      return samples::region_of(
          {{400 * pick(random, 0, 1) + 40 * row + column, pick(random, 1, 5), {{3, 400}, {2, 40}}}});
    }
  }
}

void play_index(uint64_t seed) {
  Random random(seed);
  TermIndex index;
  std::list<Request> requests;
  const size_t crowd = pick(random, 1, 60);
  for (uint64_t ticket = 1; ticket < 400; ++ticket) {
    const Region region = random_terms(random);
    const bool exclusive = pick(random, 0, 1) == 1;
    const uint64_t before = pick(random, 0, 3) == 0 ? pick(random, 0, ticket) : ticket;
    ASSERT_EQ(latest(index, before, region, exclusive), latest(requests, before, region, exclusive)) << ticket;
    Request& added = requests.emplace_back();
    added.ticket = ticket;
    added.exclusive = exclusive;
    added.region = region;
    index.insert(added, added.region);
    while (requests.size() > crowd || (!requests.empty() && pick(random, 0, 3) == 0)) {
      const auto gone = std::next(requests.begin(), static_cast<ptrdiff_t>(pick(random, 0, requests.size() - 1)));
      index.erase(*gone);
      requests.erase(gone);
    }
  }
}

TEST(TermIndex, FindsWhatASearchThroughAllFinds) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    play_index(seed);
    if (HasFatalFailure()) return;
  }
}

TEST(TermIndex, KeepsWhatComesWithMoreStridesThanItHasTreesFor) {
  TermIndex index;
  std::list<Request> requests;
  for (uint64_t i = 1; i <= 50; ++i) {
    Request& added = requests.emplace_back();
    added.ticket = i;
    added.exclusive = true;
    added.region = samples::region_of({{1000 * i, 1, {{5, 10 + i}}}});
    index.insert(added, added.region);
  }
  for (Request& request : requests) EXPECT_EQ(latest(index, 51, request.region, false), &request);
  for (Request& request : requests) index.erase(request);
  EXPECT_EQ(latest(index, 51, Region::whole_file(), true), nullptr);
}

// With how many of `holders` an exclusive request like theirs is compared at most, of a sample of them.
size_t most_compared(uint64_t holders, Region (*region_of)(uint64_t)) {
  TermIndex index;
  std::list<Request> requests;
  for (uint64_t rank = 0; rank < holders; ++rank) {
    Request& added = requests.emplace_back();
    added.ticket = rank + 1;
    added.exclusive = true;
    added.region = region_of(rank);
    index.insert(added, added.region);
  }
  size_t most = 0;
  for (uint64_t rank = 0; rank < holders; rank += 97) {
    size_t asked = 0;
    EXPECT_EQ(latest(index, holders + 1, region_of(rank), true, &asked)->ticket, rank + 1);
    most = std::max(most, asked);
  }
  return most;
}

TEST(TermIndex, ComparesInterleavedColumnsWithTheirOwn) {
  EXPECT_EQ(
      most_compared(10'000, [](uint64_t rank) { return samples::region_of({{rank * 8, 8, {{1000, 20'000 * 8}}}}); }),
      1u);
}

TEST(TermIndex, ComparesBlocksOfAnArrayWithTheirOwn) {
  EXPECT_EQ(most_compared(1000,
                          [](uint64_t rank) {
                            constexpr uint64_t kRow = 10 * 64, kPlane = 10 * 8 * kRow;
                            const uint64_t x = rank % 10, y = rank / 10 % 10, z = rank / 100;
                            return samples::region_of(
                                {{(z * 8 * kPlane) + y * 8 * kRow + x * 64, 64, {{8, kPlane}, {8, kRow}}}});
                          }),
            1u);
}

// A list that begins in the midst of a repetition has terms of its own for what is cut.
TEST(TermIndex, ComparesCutColumnsWithTheirOwn) {
  EXPECT_EQ(
      most_compared(1000,
                    [](uint64_t rank) {
                      return samples::region_of(
                          {{rank * 8 + 4, 4, {}}, {rank * 8 + 8000, 8, {{100, 8000}}}, {rank * 8 + 808'000, 2, {}}});
                    }),
      1u);
}

TEST(Footprint, HoldsEveryByte) {
  Random random(7);
  for (int i = 0; i < 20'000; ++i) {
    const Region region = random_terms(random);
    Strides strides;
    if (pick(random, 0, 1) == 0)
      strides = strides_of(random_terms(random));
    else
      for (uint64_t& stride : strides.at) stride = pick(random, 2, 90), ++strides.count;
    const Footprint print = footprint(region, strides);
    for (const uint64_t byte : samples::bytes_of(region)) {
      const Footprint one{{{{byte, byte + 1}}}};
      Footprint point = one;
      for (size_t k = 0; k < strides.count; ++k) point.sides[k + 1] = {byte % strides.at[k], byte % strides.at[k] + 1};
      ASSERT_TRUE(may_meet(print, point, strides)) << i << ' ' << byte;
    }
  }
}

TEST(Footprint, TellsInterleavedColumnsApart) {
  const auto column = [](uint64_t first, uint64_t length) {
    return samples::region_of({{first, length, {{50, 100}}}});
  };
  const Strides strides = strides_of(column(10, 5));
  ASSERT_EQ(strides.count, 1u);
  const auto meet = [&](const Region& a, const Region& b) {
    return may_meet(footprint(a, strides), footprint(b, strides), strides);
  };
  EXPECT_FALSE(meet(column(10, 5), column(15, 5)));
  EXPECT_FALSE(meet(column(10, 5), column(2005, 5)));
  EXPECT_TRUE(meet(column(10, 5), column(2014, 5)));
  // Columns around the end of a stride.
  EXPECT_TRUE(meet(column(98, 5), column(2, 1)));
  EXPECT_TRUE(meet(column(101, 1), column(98, 5)));
  EXPECT_FALSE(meet(column(98, 5), column(3, 95)));
  // A term whose stride is a little more, or less, moves on, or back.
  EXPECT_FALSE(meet(column(10, 5), samples::region_of({{20, 5, {{10, 101}}}})));
  EXPECT_TRUE(meet(column(30, 5), samples::region_of({{20, 5, {{10, 101}}}})));
  EXPECT_FALSE(meet(column(30, 5), samples::region_of({{20, 5, {{10, 99}}}})));
  EXPECT_TRUE(meet(column(10, 5), samples::region_of({{20, 5, {{10, 99}}}})));
}

}  // namespace
}  // namespace forebay::lock
