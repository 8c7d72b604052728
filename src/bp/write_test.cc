#include "bp/write.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "bp/encoder.h"
#include "bp/observer.h"
#include "bp/types.h"

namespace forebay::bp {
namespace {

Bytes bytes_of(const auto& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

Bytes text(std::string_view text) { return {as_bytes(text).begin(), as_bytes(text).end()}; }

TEST(BpWrite, SplitsNamesAsTheyArePutTogether) {
  using Pair = std::pair<std::string_view, std::string_view>;
  EXPECT_EQ(split_name("NX"), (Pair{"", "NX"}));
  EXPECT_EQ(split_name("/NX"), (Pair{"/", "NX"}));
  EXPECT_EQ(split_name("/a/b"), (Pair{"/a", "b"}));
  EXPECT_EQ(split_name("a/b/c"), (Pair{"a/b", "c"}));
  EXPECT_EQ(split_name("a/"), (Pair{"a", ""}));
}

TEST(BpWrite, IndicesAreReadBack) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    IndexWriter writer;
    const auto ranks = static_cast<uint32_t>(1 + random() % 5), steps = static_cast<uint32_t>(1 + random() % 3);
    std::vector<ProcessGroup> groups;
    const std::vector<VariableHead> heads{
        {1, "g", "/a/b", 6}, {2, "g", "n", 2}, {3, "g", "s", kString}, {4, "g", "c", kComplex}};
    std::vector<std::vector<Written>> places(heads.size());
    std::vector<Dimension> dimensions(random() % 4 + 1);
    for (uint32_t step = 1; step <= steps; ++step)
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        groups.push_back({.group = "g",
                          .fortran_order = round % 2 == 1,
                          .rank = rank,
                          .time_name = {},
                          .time = step,
                          .offset = random() >> 1});
        writer.add_group(groups.back());
        for (Dimension& each : dimensions) each = {random() % 99, random() % 99, random() % 99};
        for (size_t i = 0; i < heads.size(); ++i) {
          places[i].push_back({.offset = random() >> 1, .payload = random() >> 1, .time = step});
          Encoder statistics;
          Observer(heads[i].type, round % 3 == 0   ? Depth::full
                                  : round % 3 == 1 ? Depth::minmax
                                                   : Depth::none)
              .encode(statistics);
          if (i == 1)
            writer.add_value(heads[i], places[i].back(), bytes_of(std::vector<int32_t>{static_cast<int32_t>(rank)}));
          else if (i == 2)
            writer.add_value(heads[i], places[i].back(), text("hello"));
          else
            writer.add_array(heads[i], places[i].back(), dimensions, statistics.bytes());
        }
      }
    writer.add_attribute({5, "g", "/a/b/unit", kString}, {}, 1, text("K"), {});
    writer.add_attribute({6, "g", "list", kStrings}, {}, 2, text(std::string_view("x\0yy\0", 5)), {});
    writer.add_attribute({7, "g", "five", 2}, {}, 5, bytes_of(std::vector<int32_t>{1, 2, 3, 4, 5}), {});
    writer.add_attribute({8, "g", "of", kNoType}, {}, 1, {}, 2);

    Bytes file(100 + random() % 50);
    const Bytes end = writer.finish(file.size());
    file.insert(file.end(), end.begin(), end.end());
    const auto index = read_index(MemorySource(file), 1 << 20);
    ASSERT_TRUE(index) << index.error().message();
    ASSERT_EQ(index->groups.size(), groups.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      EXPECT_EQ(index->groups[i].offset, groups[i].offset);
      EXPECT_EQ(index->groups[i].rank, groups[i].rank);
      EXPECT_EQ(index->groups[i].fortran_order, groups[i].fortran_order);
    }
    ASSERT_EQ(index->variables.size(), heads.size());
    for (size_t i = 0; i < heads.size(); ++i) {
      EXPECT_EQ(index->variables[i].name, heads[i].name);
      EXPECT_EQ(index->variables[i].id, heads[i].id);
      ASSERT_EQ(index->variables[i].entries.size(), places[i].size());
      for (size_t j = 0; j < places[i].size(); ++j) {
        EXPECT_EQ(index->variables[i].entries[j].offset, places[i][j].offset);
        EXPECT_EQ(index->variables[i].entries[j].payload, places[i][j].payload);
        EXPECT_EQ(index->variables[i].entries[j].time, places[i][j].time);
      }
    }
    EXPECT_EQ(index->variables[0].entries.back().dimensions, dimensions);
    EXPECT_EQ(index->variables[2].entries[0].value, text("hello"));
    ASSERT_EQ(index->attributes.size(), 4u);
    EXPECT_EQ(index->attributes[0].entries[0].value, text("K"));
    EXPECT_EQ(index->attributes[1].entries[0].value, text(std::string_view("x\0yy\0", 5)));
    EXPECT_EQ(index->attributes[2].entries[0].count, 5u);
    EXPECT_EQ(index->attributes[3].entries[0].reference, 2u);
  }
}

TEST(BpWrite, LengthsSayWhatIsThere) {
  const VariableHead head{1, "g", "/a/b", 6};
  const std::vector<Dimension> dimensions{{2, 4, 0}, {3, 3, 0}};
  const Bytes block = encode_block_head(head, dimensions, 0, {}, 48);
  EXPECT_EQ(load_le<uint64_t>(block.data()), block.size() + 48);
  const auto attribute = encode_attribute({2, "g", "u", kString}, 1, text("abc"), {});
  EXPECT_EQ(load_le<uint32_t>(attribute.bytes.data()) + 4, attribute.bytes.size());
  EXPECT_EQ(as_text(std::span(attribute.bytes).subspan(attribute.value_at)), "abc");
  EXPECT_EQ(encode_group_head({.group = "g", .time_name = {}}, 1, 2, 3).size(),
            encode_group_head({.group = "g", .time_name = {}}, UINT64_MAX, 2, UINT64_MAX - 99).size());
}

// The statistics of a block as the index has them: bounds, and what else there is.
Bytes statistics_of(uint8_t type, Depth depth, std::span<const std::byte> values, size_t cut) {
  Observer observer(type, depth);
  observer.add(values.first(cut));
  observer.add(values.subspan(cut));
  Encoder to;
  observer.encode(to);
  return to.take();
}

template <class T>
T number_at(const Bytes& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

TEST(BpObserver, BoundsAreTheTypesOwn) {
  constexpr size_t kBegin = 6;  // behind the bitmap
  const std::vector<uint64_t> large{UINT64_MAX - 1, UINT64_MAX, 5};
  for (size_t cut = 0; cut <= large.size(); ++cut) {
    const Bytes found = statistics_of(54, Depth::minmax, bytes_of(large), cut * 8);
    EXPECT_EQ(number_at<uint64_t>(found, kBegin), 5u);
    EXPECT_EQ(number_at<uint64_t>(found, kBegin + 8), UINT64_MAX);
    EXPECT_EQ(found.back(), std::byte{1});
  }
  const std::vector<int8_t> small{-128, 127};
  EXPECT_EQ(number_at<int8_t>(statistics_of(0, Depth::minmax, bytes_of(small), 1), kBegin), -128);
}

TEST(BpObserver, NansNeverCountAndInfinitiesOnlyAsBounds) {
  constexpr size_t kBegin = 6;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values{NAN, -kInfinity, 2, 3, NAN};
  const Bytes bounds = statistics_of(6, Depth::minmax, bytes_of(values), 16);
  EXPECT_EQ(number_at<double>(bounds, kBegin), -kInfinity);
  EXPECT_EQ(number_at<double>(bounds, kBegin + 8), 3);
  const Bytes full = statistics_of(6, Depth::full, bytes_of(values), 16);
  EXPECT_EQ(number_at<double>(full, kBegin), 2);
  EXPECT_EQ(number_at<uint32_t>(full, kBegin + 16), 2u);
  EXPECT_EQ(number_at<double>(full, kBegin + 20), 5);
  EXPECT_EQ(number_at<double>(full, kBegin + 28), 13);
  const Bytes none = statistics_of(6, Depth::minmax, bytes_of(std::vector<double>{NAN}), 0);
  EXPECT_EQ(none.back(), std::byte{0});
  EXPECT_EQ(none.size(), bounds.size());
  EXPECT_EQ(statistics_of(6, Depth::none, bytes_of(values), 0).size(), kBegin);
}

TEST(BpObserver, ComplexNumbersHaveThreeLists) {
  constexpr size_t kBegin = 6, kList = 8 + 8 + 1;
  const Bytes found = statistics_of(kComplex, Depth::minmax, bytes_of(std::vector<float>{3, 4, -6, -8}), 8);
  ASSERT_EQ(found.size(), kBegin + 3 * kList);
  EXPECT_EQ(number_at<double>(found, kBegin), 5);
  EXPECT_EQ(number_at<double>(found, kBegin + 8), 10);
  EXPECT_EQ(number_at<double>(found, kBegin + kList), -6);
  EXPECT_EQ(number_at<double>(found, kBegin + 2 * kList + 8), 4);
}

}  // namespace
}  // namespace forebay::bp
