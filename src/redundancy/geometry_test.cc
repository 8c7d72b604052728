#include "redundancy/geometry.h"

#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "redundancy/test_group.h"

namespace forebay::redundancy {
namespace {

TEST(Geometry, GivesEachMemberOneChunkOfEachRowAndEachChunkOneRow) {
  for (unsigned n = 2; n <= 20; ++n)
    for (unsigned m = 1; m < n; ++m) {
      const auto geometry = *Geometry::make(std::vector<uint64_t>(n, 1000), m);
      std::set<std::pair<unsigned, unsigned>> data, parities;  // member and index
      for (unsigned row = 0; row < n; ++row) {
        std::set<unsigned> columns, of_row;
        for (unsigned member = 0; member < n; ++member) {
          const ChunkPlace at = geometry.place(row, member);
          if (at.is_parity) {
            EXPECT_EQ(geometry.parity_holder(row, at.index), member);
            EXPECT_EQ(member, (row + at.index) % n);
            of_row.insert(at.index);
            parities.emplace(member, at.index);
          } else {
            EXPECT_EQ(row, (member + 1 + at.index) % n);
            columns.insert(geometry.column(row, member));
            data.emplace(member, at.index);
          }
        }
        EXPECT_EQ(of_row.size(), m);
        EXPECT_EQ(columns.size(), n - m);
        EXPECT_EQ(*columns.rbegin(), n - m - 1);
      }
      EXPECT_EQ(data.size(), size_t{n} * (n - m));
      EXPECT_EQ(parities.size(), size_t{n} * m);
    }
}

// Every byte of every part and parity file is in the range of exactly one row and piece.
TEST(Geometry, CoversEveryByteOnce) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i) {
    const unsigned n = 2 + below(random, 9), m = 1 + below(random, n - 1);
    std::vector<uint64_t> sizes(n);
    for (uint64_t& size : sizes) size = random() % 3 == 0 ? random() % 5 : random() % (5 * kPieceBytes);
    const auto geometry = *Geometry::make(sizes, m);
    for (unsigned member = 0; member < n; ++member) {
      std::set<std::pair<uint64_t, uint64_t>> data, parity;
      for (unsigned row = 0; row < n; ++row) {
        uint64_t there = 0;
        for (uint64_t piece = 0; piece < geometry.pieces() + 1; ++piece) {
          const auto range = geometry.range(row, member, piece);
          EXPECT_LE(range.length, geometry.piece_bytes(piece));
          EXPECT_LE(range.offset + range.length, range.is_parity ? geometry.parity_bytes() : sizes[member]);
          if (range.length == 0) continue;
          EXPECT_EQ(there++, piece);  // the first pieces of the chunk
          EXPECT_TRUE((range.is_parity ? parity : data).emplace(range.offset, range.length).second);
        }
        EXPECT_EQ(geometry.pieces_of(row, member), there);
      }
      for (const auto* ranges : {&data, &parity}) {
        uint64_t at = 0;
        for (const auto& [offset, length] : *ranges) {
          EXPECT_EQ(offset, at);
          at += length;
        }
        EXPECT_EQ(at, ranges == &data ? sizes[member] : geometry.parity_bytes());
      }
      EXPECT_EQ(geometry.data_pieces(member), data.size());
      EXPECT_EQ(geometry.parity_pieces(), parity.size());
    }
  }
}

TEST(Geometry, HasNothingToProtectWhereAllPartsAreEmpty) {
  const auto geometry = *Geometry::make({0, 0, 0}, 1);
  EXPECT_EQ(geometry.chunk(), 0u);
  EXPECT_EQ(geometry.pieces(), 0u);
  EXPECT_EQ(geometry.data_pieces(0) + geometry.parity_pieces(), 0u);
  EXPECT_EQ(geometry.range(1, 2, 0).length, 0u);
}

TEST(Geometry, RefusesImpossibleGroups) {
  const auto kind = [](std::vector<uint64_t> sizes, unsigned losses) {
    const auto made = Geometry::make(std::move(sizes), losses);
    return made ? std::optional<ErrorKind>() : made.error().kind;
  };
  EXPECT_EQ(kind({}, 0), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({1}, 0), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({1}, 1), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({1, 1}, 0), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({1, 1}, 2), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(std::vector<uint64_t>(256, 1), 2), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(std::vector<uint64_t>(255, 1), 254), std::nullopt);
  EXPECT_EQ(kind({std::numeric_limits<uint64_t>::max(), 1}, 1), ErrorKind::limit);
  EXPECT_EQ(kind({std::numeric_limits<int64_t>::max(), 1, 1}, 2), ErrorKind::limit);
  EXPECT_EQ(kind({1ull << 61, 1, 1}, 2), std::nullopt);
}

TEST(Geometry, OfARecordIsCheckedAgainstItsSizes) {
  EXPECT_TRUE(Geometry::check({10, 20, 21}, 1, 11));
  for (const uint64_t chunk : {0ull, 10ull, 12ull, ~0ull}) {
    const auto checked = Geometry::check({10, 20, 21}, 1, chunk);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().kind, ErrorKind::corrupt);
  }
  EXPECT_EQ(Geometry::check({10}, 1, 10).error().kind, ErrorKind::corrupt);
}

}  // namespace
}  // namespace forebay::redundancy
