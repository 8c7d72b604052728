#include "mpiio/pattern.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "mpiio/pattern_model.h"

namespace forebay::lock::mpiio {
namespace {

size_t segments(const Pattern& pattern, uint64_t begin, uint64_t end) {
  Cursor cursor(pattern, 0, begin, end);
  size_t count = 0;
  for (Segment segment; cursor.next(segment);) ++count;
  return count;
}

Pattern vector(uint64_t count, uint64_t length, int64_t stride) {
  return *Pattern::loop(count, stride, Pattern::bytes(length), 0, static_cast<int64_t>(count) * stride);
}

TEST(Pattern, HasTheSizeAndBoundsOfItsBytes) {
  PatternMaker maker(1);
  for (int i = 0; i < 3000; ++i) {
    Modelled made = maker.make(static_cast<int>(maker.number(0, 4)), maker.number(0, 1));
    ASSERT_EQ(made.pattern.size(), made.bytes.size());
    if (made.bytes.empty()) continue;
    ASSERT_EQ(made.pattern.first(), *std::ranges::min_element(made.bytes));
    ASSERT_EQ(made.pattern.end(), *std::ranges::max_element(made.bytes) + 1);
    ASSERT_EQ(made.pattern.segment_count(), segments(made.pattern, 0, made.pattern.size()));
    uint64_t at = static_cast<uint64_t>(maker.number(0, static_cast<int64_t>(made.bytes.size()) - 1));
    ASSERT_EQ(offset_of(made.pattern, at), made.bytes[at]);
  }
}

TEST(Pattern, WithoutBytesKeepsItsExtent) {
  Pattern none = *Pattern::loop(0, 8, Pattern::bytes(4), -3, 17);
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.lower_bound(), -3);
  EXPECT_EQ(none.extent(), 17);
  EXPECT_EQ(Pattern::bytes(0).segment_count(), 0u);
  Segment segment;
  EXPECT_FALSE(Cursor(none, 0, 0, 100).next(segment));
}

TEST(Pattern, KnowsWhetherItsRepetitionsAreOneSegment) {
  EXPECT_TRUE(Pattern::bytes(8).dense());
  EXPECT_FALSE(Pattern::bytes(8).resized(0, 12).dense());
  EXPECT_TRUE(Pattern::bytes(8).resized(0, 12).contiguous());
  EXPECT_TRUE(vector(10, 8, 8).dense());
  EXPECT_FALSE(vector(10, 8, 9).contiguous());
}

TEST(Pattern, OffsetsBeyond63BitsAreAnError) {
  Pattern large = Pattern::bytes(INT64_MAX);
  EXPECT_EQ(Pattern::loop(2, INT64_MAX, large, 0, 0).error().kind, ErrorKind::limit);
  EXPECT_EQ(Pattern::loop(UINT64_MAX, 0, Pattern::bytes(1), 0, 0).error().kind, ErrorKind::limit);
  EXPECT_EQ(Pattern::loop(1u << 31, int64_t{1} << 40, Pattern::bytes(1), 0, 0).error().kind, ErrorKind::limit);
  Part parts[] = {{0, large}, {INT64_MIN, large}};
  EXPECT_EQ(Pattern::sequence(parts, 0, 0).error().kind, ErrorKind::limit);
  Part far[] = {{INT64_MAX, Pattern::bytes(2)}};
  EXPECT_EQ(Pattern::sequence(far, 0, 0).error().kind, ErrorKind::limit);
}

TEST(Pattern, NestedTooDeeplyIsAnError) {
  Result<Pattern> deep = Pattern::bytes(1);
  for (int i = 0; i < 2000 && deep; ++i) {
    Part parts[] = {{1, *deep}, {0, Pattern::bytes(1)}};
    deep = Pattern::sequence(parts, 0, 0);
  }
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().kind, ErrorKind::limit);
}

TEST(Sequence, JoinsWhatAdjoins) {
  Part parts[] = {{0, Pattern::bytes(4)}, {4, Pattern::bytes(8)}, {12, Pattern::bytes(0)}, {12, Pattern::bytes(1)}};
  Pattern pattern = *Pattern::sequence(parts, 0, 13);
  EXPECT_EQ(pattern.segment_count(), 1u);
  EXPECT_TRUE(pattern.dense());
}

TEST(Sequence, OfRegularDisplacementsTakesOneTerm) {
  Sequence sequence;
  for (int64_t i = 0; i < 10; ++i)
    for (int64_t j = 0; j < 20; ++j)
      for (int64_t k = 0; k < 2; ++k) ASSERT_TRUE(sequence.add(i * 10000 + j * 100 + k * 30, Pattern::bytes(8)));
  Pattern pattern = *sequence.finish(0, 100'000);
  EXPECT_EQ(pattern.segment_count(), 400u);
  EXPECT_EQ(region_of(pattern, 0, 0, pattern.size())->terms().size(), 1u);
}

TEST(Sequence, FindsLoopsOfParts) {
  Sequence sequence;
  Part parts[] = {{0, Pattern::bytes(4)}, {8, Pattern::bytes(2)}, {20, Pattern::bytes(7)}};
  Pattern part = *Pattern::sequence(parts, 0, 30);
  for (int64_t i = 0; i < 100; ++i) ASSERT_TRUE(sequence.add(1000 - i * 64, part));
  Pattern pattern = *sequence.finish(0, 0);
  EXPECT_EQ(region_of(pattern, 10000, 0, pattern.size())->terms().size(), 3u);
}

TEST(Cursor, GivesTheBytesOfAnyPartInOrder) {
  PatternMaker maker(2);
  for (int i = 0; i < 3000; ++i) {
    Modelled made = maker.make(static_cast<int>(maker.number(0, 4)), maker.number(0, 1));
    int64_t most = static_cast<int64_t>(made.bytes.size()) * 3 + 2, origin = maker.number(-100, 100);
    uint64_t begin = static_cast<uint64_t>(maker.number(0, most)), end = static_cast<uint64_t>(maker.number(0, most));
    ASSERT_EQ(cursor_bytes(made.pattern, origin, begin, end), model_bytes(made, origin, begin, end)) << i;
  }
}

TEST(Cursor, GivesRunsAndSegmentsAlike) {
  Pattern pattern = vector(100, 3, 10);
  Cursor cursor(pattern, 0, 4, 200);
  std::vector<std::pair<int64_t, uint64_t>> pieces;
  Segment segment;
  for (int i = 0; i < 5 && cursor.next(segment); ++i) pieces.emplace_back(segment.offset, segment.length);
  mpiio::Run run;
  while (cursor.next(run))
    for (uint64_t i = 0; i < run.count; ++i)
      pieces.emplace_back(run.offset + static_cast<int64_t>(i) * run.stride, run.length);
  ASSERT_EQ(pieces.size(), 66u);
  EXPECT_EQ(pieces.front(), (std::pair<int64_t, uint64_t>(11, 2)));
  EXPECT_EQ(pieces[1], (std::pair<int64_t, uint64_t>(20, 3)));
  EXPECT_EQ(pieces.back(), (std::pair<int64_t, uint64_t>(660, 2)));
}

TEST(Cursor, JoinsRepetitionsOfADensePattern) { EXPECT_EQ(segments(Pattern::bytes(8), 3, 1'000'003), 1u); }

TEST(Cursor, SeeksFarIntoRepetitions) {
  Pattern pattern = vector(1000, 8, 16);
  uint64_t far = uint64_t{1} << 50;
  Cursor cursor(pattern, 0, far, far + 8);
  Segment segment;
  ASSERT_TRUE(cursor.next(segment));
  EXPECT_EQ(segment.offset, int64_t{1} << 51);
}

TEST(CheckOffsets, RefusesWhatLeaves63Bits) {
  Pattern pattern = vector(10, 8, 16);
  EXPECT_TRUE(check_offsets(pattern, 0, 0, uint64_t{1} << 60));
  EXPECT_FALSE(check_offsets(pattern, 0, 0, uint64_t{1} << 63));
  EXPECT_FALSE(check_offsets(pattern.resized(0, INT64_MAX), 1, 0, 100000));
  EXPECT_FALSE(check_offsets(pattern.resized(0, INT64_MIN), 0, 0, 100000));
}

}  // namespace
}  // namespace forebay::lock::mpiio
