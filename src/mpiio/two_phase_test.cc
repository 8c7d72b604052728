#include "mpiio/two_phase.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace forebay::lock::mpiio {
namespace {

// `count` pieces of `length` bytes every `stride` bytes, from `begin` on.
View strided(int64_t begin, uint64_t length, int64_t stride, uint64_t count) {
  const auto extent = static_cast<int64_t>(count) * stride;
  return {.displacement = begin,
          .etype_size = 1,
          .filetype = Pattern::loop(count, stride, Pattern::bytes(length), 0, extent).value()};
}

Demand sum(const std::vector<Demand>& ranks) {
  Demand all;
  for (const Demand& one : ranks) {
    all.first = std::min(all.first, one.first);
    all.end = std::max(all.end, one.end);
    all.bytes += one.bytes;
    all.pieces += one.pieces;
    all.span += one.span;
    all.ordered &= one.ordered;
  }
  return all;
}

TEST(Rounds, CoverTheRangeOnceAndKeepToAlignedWindows) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const uint64_t first = random() % 1000, window = 1 + random() % 64;
    const Extent range{first, first + random() % 2000};
    const int aggregators = 1 + static_cast<int>(random() % 5);
    const Rounds rounds(range, aggregators, window);
    uint64_t next = range.first;
    for (uint64_t round = 0; round < rounds.count(); ++round) {
      for (int a = 0; a < aggregators; ++a) {
        const Extent part = rounds.window(a, round);
        if (part == Extent{}) continue;
        EXPECT_EQ(part.first, next);
        EXPECT_TRUE(part.first % window == 0 || part.first == range.first);
        EXPECT_LE(part.end - part.first, window);
        EXPECT_EQ(part.first / window, (part.end - 1) / window);
        next = part.end;
      }
    }
    EXPECT_EQ(next, std::max(range.end, range.first));
  }
}

TEST(Rounds, OfAnEmptyRangeAreNone) { EXPECT_EQ(Rounds({7, 7}, 3, 16).count(), 0u); }

TEST(DataWithin, WindowsShareOutTheData) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const uint64_t length = 1 + random() % 9;
    const View view = strided(static_cast<int64_t>(random() % 50), length, static_cast<int64_t>(length + random() % 9),
                              1 + random() % 20);
    const uint64_t begin = random() % 100;
    const Extent wanted{begin, begin + random() % 300};
    const Demand demand = demand_of(view, wanted.first, wanted.end);
    if (demand.pieces == 0) continue;
    const Rounds rounds({demand.first, demand.end}, 2, 16);
    uint64_t next = wanted.first;
    for (uint64_t round = 0; round < rounds.count(); ++round) {
      for (int a = 0; a < 2; ++a) {
        const Extent window = rounds.window(a, round);
        if (window == Extent{}) continue;
        const Extent data = data_within(view, wanted, window);
        EXPECT_EQ(data.first, next);
        const Demand inside = demand_of(view, data.first, data.end);
        if (inside.pieces > 0) {
          EXPECT_GE(inside.first, window.first);
          EXPECT_LE(inside.end, window.end);
        }
        next = data.end;
      }
    }
    EXPECT_EQ(next, wanted.end);
  }
}

TEST(DemandOf, CountsPiecesAndSeesDisorder) {
  const Demand demand = demand_of(strided(100, 4, 10, 5), 0, 20);
  EXPECT_EQ(demand.first, 100u);
  EXPECT_EQ(demand.end, 144u);
  EXPECT_EQ(demand.bytes, 20u);
  EXPECT_EQ(demand.pieces, 5u);
  EXPECT_EQ(demand.span, 44u);
  EXPECT_TRUE(demand.ordered);
  const Part parts[] = {{50, Pattern::bytes(4)}, {0, Pattern::bytes(4)}};
  const View backwards{.displacement = 0, .etype_size = 1, .filetype = Pattern::sequence(parts, 0, 54).value()};
  EXPECT_FALSE(demand_of(backwards, 0, 8).ordered);
}

TEST(ExchangePays, ForSmallInterleavedPieces) {
  std::vector<Demand> ranks;
  for (int64_t rank = 0; rank < 8; ++rank) ranks.push_back(demand_of(strided(rank * 200, 200, 1600, 2500), 0, 500000));
  EXPECT_TRUE(exchange_pays(sum(ranks)));
}

TEST(ExchangePays, NotForBlocksOfTheirOwn) {
  std::vector<Demand> ranks;
  for (int64_t rank = 0; rank < 8; ++rank) ranks.push_back(demand_of(strided(rank * 4000, 4000, 4000, 1), 0, 4000));
  EXPECT_FALSE(exchange_pays(sum(ranks)));
}

TEST(ExchangePays, NotForLargeOrSparsePieces) {
  std::vector<Demand> large, sparse;
  for (int64_t rank = 0; rank < 4; ++rank) {
    large.push_back(demand_of(strided(rank << 20, 1 << 20, 4 << 20, 10), 0, 10 << 20));
    sparse.push_back(demand_of(strided(rank * 8, 8, 1 << 20, 10), 0, 80));
  }
  EXPECT_FALSE(exchange_pays(sum(large)));
  EXPECT_FALSE(exchange_pays(sum(sparse)));
}

TEST(ExchangePays, NotForNothing) { EXPECT_FALSE(exchange_pays(Demand{})); }

TEST(RankOfAggregator, SpreadsThemOverAllRanks) {
  EXPECT_EQ(rank_of_aggregator(0, 4, 64), 0);
  EXPECT_EQ(rank_of_aggregator(3, 4, 64), 48);
  EXPECT_EQ(rank_of_aggregator(2, 3, 4), 2);
}

}  // namespace
}  // namespace forebay::lock::mpiio
