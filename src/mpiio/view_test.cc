#include "mpiio/view.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "mpiio/pattern_model.h"

namespace forebay::lock::mpiio {
namespace {

TEST(View, FileOffsetsAreThoseOfTheModel) {
  PatternMaker maker(4);
  for (int i = 0; i < 2000; ++i) {
    Modelled made = maker.make(static_cast<int>(maker.number(1, 4)), true);
    if (made.bytes.empty()) continue;
    View view{.displacement = maker.number(1000, 2000), .etype_size = 1, .filetype = made.pattern};
    uint64_t data = static_cast<uint64_t>(maker.number(0, 3 * static_cast<int64_t>(made.bytes.size())));
    ASSERT_EQ(static_cast<int64_t>(*file_offset(view, data)), model_bytes(made, view.displacement, data, data + 1)[0]);
  }
}

TEST(View, DataBeforeTheEndOfTheFileIsCounted) {
  PatternMaker maker(5);
  for (int i = 0; i < 2000; ++i) {
    Modelled made = maker.make(static_cast<int>(maker.number(1, 4)), true);
    if (made.bytes.empty()) continue;
    View view{.displacement = maker.number(100, 200), .etype_size = 1, .filetype = made.pattern};
    uint64_t file_size = static_cast<uint64_t>(maker.number(0, 200 + 2 * made.pattern.extent()));
    std::vector<int64_t> bytes = model_bytes(made, view.displacement, 0, 5 * made.bytes.size());
    auto before = std::ranges::count_if(bytes, [&](int64_t byte) { return byte < static_cast<int64_t>(file_size); });
    if (static_cast<size_t>(before) == bytes.size()) continue;
    ASSERT_EQ(data_bytes_before(view, file_size), static_cast<uint64_t>(before)) << i;
  }
}

TEST(View, OfNoBytesHasNoOffsets) {
  View view{.displacement = 0, .etype_size = 1, .filetype = Pattern()};
  EXPECT_EQ(file_offset(view, 0).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(data_bytes_before(view, 1000), 0u);
  EXPECT_TRUE(region_of(view, 0, 10)->empty());
}

TEST(View, OffsetsOutsideOfTheFileAreErrors) {
  View view{.displacement = -4, .etype_size = 1, .filetype = Pattern::bytes(8)};
  EXPECT_EQ(file_offset(view, 3).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(*file_offset(view, 4), 0u);
  EXPECT_EQ(file_offset(view, UINT64_MAX).error().kind, ErrorKind::limit);
}

TEST(View, WithoutExtentEndsWithItsFirstRepetition) {
  View view{.displacement = 10, .etype_size = 1, .filetype = Pattern::bytes(8).resized(0, 0)};
  EXPECT_EQ(data_bytes_before(view, 14), 4u);
  EXPECT_EQ(data_bytes_before(view, 1000), 8u);
}

}  // namespace
}  // namespace forebay::lock::mpiio
