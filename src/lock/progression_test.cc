#include "lock/progression.h"

#include <random>
#include <set>

#include <gmock/gmock.h>

#include "lock/overlap.h"

namespace forebay::lock {
namespace {

using testing::Optional;

Region piece(uint64_t start, uint64_t length, std::vector<Level> levels = {}) {
  Region region;
  EXPECT_TRUE(region.add(start, length, levels));
  return region;
}

std::set<uint64_t> bytes_of(const Region& region) {
  std::set<uint64_t> bytes;
  const auto single = expanded(region, 1u << 16);
  EXPECT_TRUE(single);
  for (const Term& term : single->terms())
    for (uint64_t i = 0; i < term.length; ++i) bytes.insert(term.start + i);
  return bytes;
}

Region random_piece(std::mt19937& random) {
  const auto draw = [&](uint32_t below) { return static_cast<uint64_t>(random() % below); };
  Region region;
  for (uint64_t terms = 1 + draw(2); terms > 0; --terms) {
    std::vector<Level> levels;
    for (uint64_t i = draw(3); i > 0; --i) levels.push_back({1 + draw(4), 1 + draw(8) * (1 + draw(6))});
    EXPECT_TRUE(region.add(draw(40), 1 + draw(6), levels));
  }
  return region;
}

TEST(Progression, HasTheBytesOfItsElements) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const Region first = random_piece(random), other = random_piece(random);
    const uint64_t stride = 1 + random() % 50, count = 1 + random() % 6;
    std::set<uint64_t> wanted;
    Elements meeting{count, 0};
    const auto others = bytes_of(other);
    for (uint64_t element = 0; element < count; ++element)
      for (const uint64_t byte : bytes_of(first)) {
        wanted.insert(byte + element * stride);
        if (!others.contains(byte + element * stride)) continue;
        meeting = {std::min(meeting.from, element), std::max(meeting.to, element + 1)};
      }
    const auto all = elements(first, stride, {0, count});
    ASSERT_TRUE(all);
    ASSERT_EQ(bytes_of(*all), wanted);
    const Elements found = touched(first, stride, count, other);
    if (meeting.empty())
      ASSERT_TRUE(found.empty());
    else
      ASSERT_EQ(found, meeting);
    for (uint64_t element = 0; element < count; ++element) {
      const auto one = elements(first, stride, {element, element + 1});
      ASSERT_TRUE(one);
      if (first.terms().size() == 1 && first.terms()[0].level_count == 0) {
        ASSERT_TRUE(covers(*all, *one));
      }
    }
  }
}

TEST(Progression, IsCoveredOnlyByWhatHasAllItsBytes) {
  std::mt19937 random(2);
  int covered = 0;
  for (int i = 0; i < 40000; ++i) {
    const Region a = random_piece(random), b = random_piece(random);
    if (!covers(a, b)) continue;
    ++covered;
    const auto wide = bytes_of(a);
    for (const uint64_t byte : bytes_of(b)) ASSERT_TRUE(wide.contains(byte));
  }
  EXPECT_GT(covered, 1000);
}

TEST(Progression, CoversWhatProgramsWalkAlong) {
  const Region columns = piece(64, 8, {{100, 4096}});
  EXPECT_TRUE(covers(*elements(columns, 8, {0, 50}), piece(64 + 49 * 8, 8, {{100, 4096}})));
  EXPECT_FALSE(covers(*elements(columns, 8, {0, 50}), piece(64 + 50 * 8, 8, {{100, 4096}})));
  const Region slabs = piece(0, 64, {{8, 512}});
  EXPECT_TRUE(covers(*elements(slabs, 1 << 20, {0, 9}), piece(7 << 20, 64, {{8, 512}})));
  EXPECT_TRUE(covers(*elements(slabs, 4096, {0, 9}), piece(3 * 4096, 64, {{8, 512}}))) << "which becomes one level";
  EXPECT_TRUE(covers(*elements(piece(0, 65536), 4 * 65536, {0, 9}), piece(8 * 65536 + 1000, 1024)));
  EXPECT_TRUE(covers(Region::whole_file(), columns));
  EXPECT_FALSE(elements(piece(kFileEnd - 10, 5), 1u << 20, {0, 2}));
  EXPECT_FALSE(elements(piece(0, 5), uint64_t{1} << 62, {4, 5}));
}

TEST(Foresight, AsksAheadForWhatRepeatsAndMoreEachTime) {
  Foresight foresight;
  EXPECT_EQ(foresight.ask("f", piece(0, 10), Access::exclusive), std::nullopt);
  EXPECT_EQ(foresight.ask("f", piece(40, 10), Access::exclusive), std::nullopt);
  EXPECT_EQ(foresight.ask("g", piece(80, 10), Access::exclusive), std::nullopt) << "another file";
  EXPECT_EQ(foresight.ask("f", piece(80, 10), Access::shared), std::nullopt) << "another access";
  EXPECT_THAT(foresight.ask("f", piece(80, 10), Access::exclusive), Optional(Ahead{40, 8}));
  foresight.lent("f", piece(80, 10), Access::exclusive, 9);
  EXPECT_THAT(foresight.ask("f", piece(80 + 9 * 40, 10), Access::exclusive), Optional(Ahead{40, 16}));
  foresight.recalled("f");
  EXPECT_EQ(foresight.ask("f", piece(80 + 10 * 40, 10), Access::exclusive), std::nullopt);
  EXPECT_THAT(foresight.ask("f", piece(80 + 11 * 40, 10), Access::exclusive), Optional(Ahead{40, 8}));
  EXPECT_EQ(foresight.ask("f", piece(0, 10), Access::exclusive), std::nullopt) << "somewhere else";
}

}  // namespace
}  // namespace forebay::lock
