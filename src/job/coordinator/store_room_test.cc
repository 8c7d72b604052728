#include "job/coordinator/store_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::job {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kMiB = 1 << 20;

StoreRoomWatch after(std::initializer_list<uint64_t> free_mib, uint64_t set_mib = 10) {
  StoreRoomWatch watch;
  for (const uint64_t free : free_mib) watch.stored({free * kMiB, 1000 * kMiB}, set_mib * kMiB);
  return watch;
}

TEST(StoreRoomWatch, CountsSetsFromWhatIsUsedBetweenThem) {
  EXPECT_FALSE(StoreRoomWatch().room());
  EXPECT_FALSE(after({900, 890}).sets_left()) << "one set may be an exception";
  EXPECT_EQ(after({900, 890, 880}).sets_left(), 88u);
  EXPECT_EQ(after({900, 860, 820}).sets_left(), 20u) << "others write, too";
  EXPECT_EQ(after({900, 100, 99, 98, 97, 96, 95, 94, 93, 92, 91}).sets_left(), 91u) << "the last ones count";
}

TEST(StoreRoomWatch, SaysNothingWhereNothingIsUsedUp) {
  const StoreRoomWatch pruned = after({30, 30, 30, 30});
  EXPECT_FALSE(pruned.sets_left());
  EXPECT_THAT(pruned.warning(), IsEmpty());
  EXPECT_THAT(after({30, 40, 60}).warning(), IsEmpty());
}

TEST(StoreRoomWatch, WarnsLongBeforeTheEndAndUntilThereIsRoomAgain) {
  EXPECT_THAT(after({140, 130, 120}).warning(), IsEmpty());
  StoreRoomWatch watch = after({110, 100, 90});
  EXPECT_THAT(watch.warning(),
              HasSubstr("90.0 MiB are free, and each set uses 10.0 MiB, which is enough for 9 more sets"));
  watch.stored({89 * kMiB, 1000 * kMiB}, 10 * kMiB);
  EXPECT_EQ(watch.sets_left(), 12u);
  EXPECT_THAT(watch.warning(), HasSubstr("12 more sets")) << "there were fewer than ten";
  watch.stored({500 * kMiB, 1000 * kMiB}, 10 * kMiB);
  EXPECT_THAT(watch.warning(), IsEmpty());
}

TEST(StoreRoomWatch, WarnsWhereOneMoreSetMayNotFit) {
  EXPECT_THAT(after({9}, 10).warning(), HasSubstr("nearly full: 9.0 MiB are free, and the last set took 10.0 MiB"));
  EXPECT_THAT(after({11}, 10).warning(), IsEmpty());
}

}  // namespace
}  // namespace forebay::job
