#include "mount/read_ahead.h"

#include <gtest/gtest.h>

namespace forebay::mount {
namespace {

constexpr uint64_t kRead = 128 << 10, kLong = uint64_t{1} << 30;

TEST(Sequence, ReadsInARowAreReadAhead) {
  Sequence sequence;
  uint64_t ahead = 0, reads = 0;
  for (uint64_t at = 0; at < kLong / 16; at += kRead, ++reads) {
    const auto stretch = sequence.note(at, kRead, kLong);
    if (!stretch) continue;
    EXPECT_GE(stretch->begin, std::max(ahead, at + kRead)) << "nothing is named twice, or when it is asked for already";
    if (ahead > 0) {
      EXPECT_EQ(stretch->begin, ahead) << "nothing is left out";
    }
    ahead = stretch->end;
  }
  EXPECT_GT(ahead, kLong / 16);
  EXPECT_LT(ahead, kLong / 16 + (4 << 20)) << "not far ahead";
}

TEST(Sequence, TheEndOfTheFileIsTheEnd) {
  Sequence sequence;
  constexpr uint64_t kBytes = 1'000'000;
  uint64_t ahead = 0;
  for (uint64_t at = 0; at < kBytes; at += kRead)
    if (const auto stretch = sequence.note(at, kRead, kBytes)) ahead = stretch->end;
  EXPECT_EQ(ahead, kBytes);
}

TEST(Sequence, ReadsNotQuiteInOrderAreARowToo) {
  Sequence sequence;
  bool is_ahead = false;
  for (const uint64_t number : {0, 2, 1, 3, 5, 4}) is_ahead |= sequence.note(number * kRead, kRead, kLong).has_value();
  EXPECT_TRUE(is_ahead);
}

TEST(Sequence, ReadsHereAndThereAreNot) {
  Sequence sequence;
  for (uint64_t i = 1; i < 100; ++i) EXPECT_FALSE(sequence.note(i * 37 % 101 * (5 << 20), 4096, kLong));
  EXPECT_FALSE(sequence.note(UINT64_MAX - 10, 4096, kLong));
}

}  // namespace
}  // namespace forebay::mount
