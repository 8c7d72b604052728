#include "redundancy/steps.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "redundancy/test_group.h"

namespace forebay::redundancy {
namespace {

constexpr uint64_t kAll = ~uint64_t{0};

std::vector<unsigned> all_members(const Geometry& geometry) {
  std::vector<unsigned> all(geometry.members());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TestGroup random_group(std::mt19937_64& random, unsigned most_members) {
  const unsigned n = 2 + below(random, most_members - 1), m = 1 + below(random, std::min(4u, n - 1));
  const uint64_t scale = random() % 4 == 0 ? 3 * kPieceBytes : 1 + random() % 300;
  std::vector<uint64_t> sizes(n);
  for (uint64_t& size : sizes)
    size = random() % 4 == 0 ? random() % 2 : random() % 3 == 0 ? scale : random() % (scale + 1);
  TestGroup group(*Geometry::make(sizes, m), random);
  group.encode();
  return group;
}

// Each piece of a row is bad at some members, no more than the group survives: all that a lost member had, and pieces
// of others.
std::vector<Bad> random_bad(const TestGroup& group, std::mt19937_64& random) {
  const Geometry& geometry = group.geometry();
  std::vector<unsigned> members = all_members(geometry);
  std::ranges::shuffle(members, random);
  const unsigned lost = below(random, geometry.losses() + 1);
  std::vector<Bad> bad;
  for (unsigned i = 0; i < lost; ++i)
    for (unsigned row = 0; row < geometry.members(); ++row) bad.push_back({members[i], row, 0, kAll});
  for (unsigned row = 0; row < geometry.members(); ++row) {
    // In this row, these others have bad pieces, which may overlap.
    std::vector<unsigned> others(members.begin() + lost, members.end());
    std::ranges::shuffle(others, random);
    for (unsigned i = 0; i < geometry.losses() - lost; ++i)
      for (unsigned runs = below(random, 3); runs > 0; --runs)
        bad.push_back({others[i], row, random() % (geometry.pieces() + 1), 1 + random() % 3});
  }
  return bad;
}

TEST(EncodeSteps, SendEachByteOfDataOnceAndTheOtherParities) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i) {
    TestGroup group = random_group(random, 9);
    const Geometry& geometry = group.geometry();
    uint64_t parts = 0;
    for (unsigned member = 0; member < geometry.members(); ++member) parts += geometry.size(member);
    EXPECT_EQ(group.sent(), parts + geometry.members() * (geometry.losses() - 1) * geometry.chunk());
  }
  // (n-1)/(n-m) for a byte of data where all parts fill their chunks.
  TestGroup group(*Geometry::make(std::vector<uint64_t>(8, 6000), 2), random);
  group.encode();
  EXPECT_EQ(group.sent(), uint64_t{8} * 6000 * 7 / 6);
}

TEST(EncodeSteps, ReadAndWriteEveryByteOnce) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 60; ++i) {
    const TestGroup group = random_group(random, 9);
    const Geometry& geometry = group.geometry();
    std::map<std::tuple<unsigned, bool, uint64_t>, uint64_t> read, written;
    for (unsigned leader = 0; leader < geometry.members(); ++leader)
      for (uint64_t piece = 0; piece < geometry.pieces(); ++piece) {
        const Step step = EncodeSteps(geometry, leader).at(piece);
        EXPECT_EQ(step.row, leader);
        EXPECT_EQ(step.in.size(), geometry.data_chunks());
        EXPECT_EQ(step.out.size(), geometry.losses());
        EXPECT_EQ(step.out[0].member, leader);
        for (const auto* ends : {&step.in, &step.out})
          for (const StepEnd& end : *ends) {
            if (end.range.length == 0) continue;
            EXPECT_TRUE((ends == &step.in ? read : written)
                            .emplace(std::tuple(end.member, end.range.is_parity, end.range.offset), end.range.length)
                            .second);
          }
      }
    uint64_t bytes_read = 0, bytes_written = 0, parts = 0;
    for (const auto& [key, length] : read) bytes_read += length;
    for (const auto& [key, length] : written) bytes_written += length;
    for (unsigned member = 0; member < geometry.members(); ++member) parts += geometry.size(member);
    EXPECT_EQ(bytes_read, parts);
    EXPECT_EQ(bytes_written, geometry.members() * geometry.parity_bytes());
  }
}

TEST(EncodeSteps, OfOneLossAreXor) {
  const auto geometry = *Geometry::make({100, 200, 300, 400}, 1);
  const Step step = EncodeSteps(geometry, 2).at(0);
  EXPECT_EQ(step.coefficients, std::vector<uint8_t>(3, 1));
}

TEST(EncodeSteps, OfTwoMembersMakeCopies) {
  std::mt19937_64 random(4);
  TestGroup group(*Geometry::make({5, 900}, 1), random);
  group.encode();
  EXPECT_EQ(group.parity(0), group.part(1));
  Bytes padded = group.part(0);
  padded.resize(900);
  EXPECT_EQ(group.parity(1), padded);
}

TEST(RepairSteps, BringBackWhatAGroupSurvives) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 500; ++i) {
    const TestGroup whole = random_group(random, i % 10 == 0 ? 16 : 7);
    TestGroup group = whole;
    const std::vector<Bad> bad = random_bad(group, random);
    std::set<std::tuple<unsigned, unsigned, uint64_t>> spoilt;
    for (const Bad& pieces : bad)
      for (uint64_t p = pieces.first; p < group.geometry().pieces() && p - pieces.first < pieces.count; ++p)
        if (spoilt.emplace(pieces.member, pieces.row, p).second) group.spoil({pieces.member, pieces.row, p, 1});
    std::vector<unsigned> leaders = all_members(group.geometry());
    std::ranges::shuffle(leaders, random);
    leaders.resize(1 + random() % leaders.size());
    ASSERT_TRUE(group.repair(bad, leaders)) << i;
    ASSERT_EQ(group, whole) << i;
  }
}

TEST(RepairSteps, AreTheSameForAllInWhateverOrderTheyAsk) {
  std::mt19937_64 random(8);
  const auto as_text = [](const Step& step) {
    std::vector<uint64_t> all{step.row, step.piece};
    for (const auto* ends : {&step.in, &step.out})
      for (const StepEnd& end : *ends)
        all.insert(all.end(), {end.member, end.range.is_parity, end.range.offset, end.range.length});
    all.insert(all.end(), step.coefficients.begin(), step.coefficients.end());
    return all;
  };
  for (int i = 0; i < 200; ++i) {
    const TestGroup group = random_group(random, 7);
    std::vector<Bad> bad = random_bad(group, random);
    std::vector<unsigned> leaders = all_members(group.geometry());
    const auto first = RepairSteps::make(group.geometry(), bad, leaders);
    std::ranges::shuffle(bad, random);
    std::ranges::shuffle(leaders, random);
    const auto second = RepairSteps::make(group.geometry(), bad, leaders);
    ASSERT_TRUE(first && second);
    uint64_t most = 0, least = kAll;
    for (const unsigned leader : leaders) {
      ASSERT_EQ(first->count(leader), second->count(leader));
      most = std::max(most, first->count(leader));
      least = std::min(least, first->count(leader));
      for (uint64_t at = 0; at < first->count(leader); ++at)
        ASSERT_EQ(as_text(first->at(leader, at)), as_text(second->at(leader, at)));
    }
    EXPECT_LE(most - least, 1u);  // all have as much to do
  }
}

TEST(RepairSteps, ReadFromWhoIsWholeAndWriteWhatIsBadOnly) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 200; ++i) {
    const TestGroup group = random_group(random, 7);
    const std::vector<Bad> bad = random_bad(group, random);
    const auto is_bad = [&](unsigned member, unsigned row, uint64_t piece) {
      return std::ranges::any_of(bad, [&](const Bad& pieces) {
        return pieces.member == member && pieces.row == row && piece >= pieces.first &&
               piece - pieces.first < pieces.count;
      });
    };
    const auto steps = RepairSteps::make(group.geometry(), bad, all_members(group.geometry()));
    ASSERT_TRUE(steps);
    for (const unsigned leader : all_members(group.geometry()))
      for (uint64_t at = 0; at < steps->count(leader); ++at) {
        const Step step = steps->at(leader, at);
        ASSERT_EQ(step.in.size(), group.geometry().data_chunks());
        for (const StepEnd& end : step.in)
          EXPECT_FALSE(end.range.length > 0 && is_bad(end.member, step.row, step.piece));
        for (const StepEnd& end : step.out)
          EXPECT_TRUE(end.range.length > 0 && is_bad(end.member, step.row, step.piece));
      }
  }
}

TEST(RepairSteps, OfOneLossShareTheLinkAndAreXor) {
  std::mt19937_64 random(10);
  TestGroup group(*Geometry::make(std::vector<uint64_t>(8, 7 * kPieceBytes * 4), 1), random);
  group.encode();
  const TestGroup whole = group;
  std::vector<Bad> bad;
  for (unsigned row = 0; row < 8; ++row) bad.push_back({3, row, 0, kAll});
  std::ranges::fill(group.part(3), std::byte{0});
  const std::vector<unsigned> survivors{0, 1, 2, 4, 5, 6, 7};
  const auto steps = RepairSteps::make(group.geometry(), bad, survivors);
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->at(0, 0).coefficients, std::vector<uint8_t>(7, 1));
  const uint64_t sent = group.sent();
  ASSERT_TRUE(group.repair(bad, survivors));
  EXPECT_EQ(group, whole);
  // Each lost byte of data and parity takes 6 bytes to the leader, which has the 7th itself, and 1 to its place.
  EXPECT_EQ(group.sent() - sent, uint64_t{7} * 8 * 4 * kPieceBytes);
}

TEST(RepairSteps, OfMoreThanTheGroupSurvivesAreRefused) {
  const auto geometry = *Geometry::make(std::vector<uint64_t>(5, 9 * kPieceBytes), 2);
  const std::vector<Bad> bad{{0, 4, 1, 1}, {1, 4, 0, 3}, {3, 4, 1, kAll}};
  const auto steps = RepairSteps::make(geometry, bad, {2});
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().kind, ErrorKind::corrupt);
  EXPECT_NE(steps.error().what.find("piece 1 of row 4"), std::string::npos) << steps.error().what;
  // The same pieces of other rows, or other pieces of the same row, are repaired.
  EXPECT_TRUE(RepairSteps::make(geometry, {{0, 4, 1, 1}, {1, 4, 0, 3}, {3, 3, 0, kAll}}, {2}));
  EXPECT_TRUE(RepairSteps::make(geometry, {{0, 4, 1, 1}, {1, 4, 0, 3}, {3, 4, 2, kAll}}, {2}));
}

TEST(RepairSteps, RefuseWhatIsNotInTheGroup) {
  const auto geometry = *Geometry::make({10, 10, 10}, 1);
  const auto refused = [&](std::vector<Bad> bad, std::vector<unsigned> leaders) {
    const auto steps = RepairSteps::make(geometry, std::move(bad), std::move(leaders));
    return !steps && steps.error().kind == ErrorKind::invalid_argument;
  };
  EXPECT_TRUE(refused({{3, 0, 0, 1}}, {1}));
  EXPECT_TRUE(refused({{0, 3, 0, 1}}, {1}));
  EXPECT_TRUE(refused({{0, 0, 0, 1}}, {}));
  EXPECT_TRUE(refused({{0, 0, 0, 1}}, {1, 3}));
  EXPECT_FALSE(refused({{0, 0, kAll, kAll}}, {1}));
  const auto nothing = RepairSteps::make(geometry, {{0, 0, 5, 1}}, {1});
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->count(1) + nothing->count(0), 0u);
}

TEST(IsRepairable, CountsMembersOnce) {
  EXPECT_TRUE(is_repairable(4, 2, std::vector<unsigned>{}));
  EXPECT_TRUE(is_repairable(4, 2, std::vector<unsigned>{3, 1, 3}));
  EXPECT_FALSE(is_repairable(4, 2, std::vector<unsigned>{3, 1, 0}));
  EXPECT_FALSE(is_repairable(4, 2, std::vector<unsigned>{4}));
}

}  // namespace
}  // namespace forebay::redundancy
