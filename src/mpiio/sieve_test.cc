#include "mpiio/sieve.h"

#include <cstdio>
#include <map>
#include <random>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/bytes.h"
#include "lock/overlap.h"
#include "mpiio/transfer.h"

namespace forebay::lock::mpiio {
namespace {

View every(uint64_t length, int64_t extent) {
  return {.displacement = 0, .etype_size = 1, .filetype = Pattern::bytes(length).resized(0, extent)};
}

View random_view(std::mt19937_64& random) {
  const auto pick = [&](uint64_t below) { return random() % below; };
  const uint64_t length = 1 + pick(30), inner = 1 + pick(20), gap = pick(3) ? pick(100) : pick(9000);
  const auto stride = static_cast<int64_t>(length + gap), row = stride * static_cast<int64_t>(inner);
  const Pattern rows =
      Pattern::loop(inner, stride, Pattern::bytes(length), 0, row + static_cast<int64_t>(pick(9000))).value();
  const Part parts[] = {{0, rows}, {rows.extent() + static_cast<int64_t>(pick(50)), Pattern::bytes(1 + pick(20000))}};
  const int64_t extent = parts[1].displacement + static_cast<int64_t>(parts[1].pattern.size() + pick(6000));
  return {.displacement = static_cast<int64_t>(pick(100)),
          .etype_size = 1,
          .filetype = Pattern::sequence(parts, 0, extent).value()};
}

bool has(const Region& region, uint64_t offset) {
  Region byte;
  EXPECT_TRUE(byte.add(offset, 1));
  return overlap(region, byte);
}

// While a write sieves, somebody else changes bytes outside of what it has locked: none of these changes may be lost.
TEST(SievedRegion, HoldsAllThatASievingWriteTouches) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 60; ++trial) {
    const View view = random_view(random);
    const uint64_t begin = random() % 500, size = 1 + random() % 60000;
    const Region region = sieved_region(view, begin, begin + size).value();
    std::FILE* file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    std::map<uint64_t, std::byte> foreign;
    const BeforeCall meddle = [&]() -> Result<void> {
      for (int i = 0; i < 20; ++i) {
        const uint64_t offset = random() % (region.bounds().end + 100);
        if (has(region, offset)) continue;
        const auto value = static_cast<std::byte>(random());
        EXPECT_EQ(::pwrite(fileno(file), &value, 1, static_cast<off_t>(offset)), 1);
        foreign[offset] = value;
      }
      return {};
    };
    Bytes own(size, std::byte{7});
    const Memory memory{own.data(), Pattern::bytes(size), 1};
    ASSERT_TRUE(write(fileno(file), view, begin, memory, Sieve::holes, meddle));
    for (const auto& [offset, value] : foreign) {
      std::byte found{};
      ASSERT_EQ(::pread(fileno(file), &found, 1, static_cast<off_t>(offset)), 1);
      ASSERT_EQ(found, value) << "offset " << offset << ", trial " << trial;
    }
    std::fclose(file);
  }
}

TEST(SievedRegion, JoinsNearPiecesAndKeepsFarOnesApart) {
  const Region near = sieved_region(every(8, 24), 0, 80).value();
  EXPECT_EQ(near.segment_count(), 1u);
  EXPECT_EQ(near.bounds(), (Extent{0, 224}));
  const Region far = sieved_region(every(8, 10000), 0, 80).value();
  EXPECT_EQ(far.segment_count(), 10u);
  EXPECT_EQ(far.terms().size(), 1u);
}

TEST(SievingPays, LocallyWhereABlockReplacesManyPieces) {
  EXPECT_TRUE(sieving_pays(every(200, 1600), 0, 500'000, true));
  EXPECT_FALSE(sieving_pays(every(200, 1600), 0, 1'000, true));     // few pieces
  EXPECT_FALSE(sieving_pays(every(200, 8000), 0, 500'000, true));   // far from each other
  EXPECT_FALSE(sieving_pays(every(4096, 8192), 0, 500'000, true));  // large
  EXPECT_FALSE(sieving_pays(every(8, 8), 0, 500'000, true));        // without holes
}

TEST(SievingPays, ElsewhereOnlyWhereHolesAreSmallBesideThePieces) {
  EXPECT_TRUE(sieving_pays(every(8, 10), 0, 8000, false));
  EXPECT_FALSE(sieving_pays(every(200, 1600), 0, 500'000, false));
  EXPECT_FALSE(sieving_pays({.displacement = 0, .etype_size = 1, .filetype = Pattern()}, 0, 100, false));
}

}  // namespace
}  // namespace forebay::lock::mpiio
