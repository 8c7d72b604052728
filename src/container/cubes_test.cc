#include "container/cubes.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "container/cubes_codec.h"
#include "container/cubes_kernel.h"
#include "container/format.h"
#include "container/testing.h"

namespace forebay::container {
namespace {

using namespace testing;

constexpr float kInfinite = std::numeric_limits<float>::infinity();

// One element after another.
std::vector<Cube> naive_cubes(const Shape& shape, const std::vector<double>& values) {
  const CubeGrid grid = cube_grid(shape);
  std::vector<Cube> cubes(grid.cubes());
  for (uint64_t i = 0; i < values.size(); ++i) {
    uint64_t number = 0, rest = i;
    Shape at(shape.size());
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) at[d] = rest % shape[d];
    for (size_t d = 0; d < shape.size(); ++d) number = number * grid.counts[d] + at[d] / grid.sides[d];
    auto low = static_cast<float>(values[i]), high = low;
    if (low > values[i]) low = std::nextafter(low, -kInfinite);
    if (high < values[i]) high = std::nextafter(high, kInfinite);
    if (std::isnan(values[i]))
      cubes[number].has_nan = true;
    else
      cubes[number].merge({low, high});
  }
  return cubes;
}

std::vector<double> random_values(uint64_t count, std::mt19937_64& random) {
  std::vector<double> values(count);
  for (double& value : values)
    value = random() % 5000 == 0   ? std::nan("")
            : random() % 5000 == 0 ? -HUGE_VAL
                                   : std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 400) - 200);
  return values;
}

Bytes bytes_of(std::span<const double> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

const DataType kDoubles{.kind = Kind::floating, .order = ByteOrder::little, .size = 8};

TEST(CubeGrid, HasSidesOfSixteenInThreeDimensions) {
  EXPECT_EQ(cube_grid({64, 64, 64}).sides, (Shape{16, 16, 16}));
  EXPECT_EQ(cube_grid({64, 64, 65}).counts, (Shape{4, 4, 5}));
  EXPECT_EQ(cube_grid({1000, 1000}).sides, (Shape{64, 64}));
  EXPECT_EQ(cube_grid({10000}).sides, (Shape{4096}));
  EXPECT_EQ(cube_grid({9, 64, 64, 64}).sides, (Shape{1, 16, 16, 16}));
}

TEST(CubeGrid, CutsLongDimensionsMoreWhereOthersAreShort) {
  EXPECT_EQ(cube_grid({100000, 3}).sides, (Shape{1365, 3}));
  EXPECT_EQ(cube_grid({100000, 1, 1}).sides, (Shape{4096, 1, 1}));
  EXPECT_EQ(cube_grid({100, 8, 8, 8}).sides, (Shape{8, 8, 8, 8}));
  EXPECT_EQ(cube_grid({0, 5, 3}).cubes(), 0u);
}

TEST(CubeGrid, NeverHasMoreThan4096ElementsInACube) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    Shape shape(1 + random() % 6);
    for (uint64_t& size : shape) size = 1 + random() % (random() % 2 == 0 ? 5 : 300);
    const CubeGrid grid = cube_grid(shape);
    EXPECT_LE(element_count(grid.sides), 4096u);
    for (size_t d = 0; d < shape.size(); ++d) {
      EXPECT_GE(grid.sides[d] * grid.counts[d], shape[d]);
      EXPECT_LT(grid.sides[d] * (grid.counts[d] - 1), shape[d]);
    }
    if (element_count(shape) <= 4096) continue;
    EXPECT_LE(grid.cubes(), element_count(shape) / 64);
  }
}

TEST(Cubes, OfStretchesAreThoseOfTheNaiveLoop) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 60; ++round) {
    Shape shape(1 + random() % 5);
    do {
      for (uint64_t& size : shape) size = 1 + random() % (shape.size() == 1 ? 30000 : shape.size() == 2 ? 200 : 40);
    } while (element_count(shape) > 200000);
    const std::vector<double> values = random_values(element_count(shape), random);
    std::vector<Cube> cubes(cube_grid(shape).cubes());
    for (uint64_t begin = 0; begin < values.size();) {
      const uint64_t count = std::min<uint64_t>(1 + random() % (values.size() / 3 + 1), values.size() - begin);
      const CubeStretch found = cubes_of(kDoubles, shape, begin, bytes_of(std::span(values).subspan(begin, count)));
      ASSERT_LE(found.first + found.cubes.size(), cubes.size());
      for (size_t i = 0; i < found.cubes.size(); ++i) cubes[found.first + i].merge(found.cubes[i]);
      begin += count;
    }
    ASSERT_EQ(cubes, naive_cubes(shape, values)) << round;
  }
}

TEST(Cubes, AreTheSameOnEveryInstructionSet) {
  if (machine_instruction_set() == InstructionSet::baseline) GTEST_SKIP() << "there is one instruction set only";
  std::mt19937_64 random(3);
  Bytes bytes(8 * 64 * 10);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (const Kind kind : {Kind::signed_int, Kind::unsigned_int, Kind::floating})
    for (const uint16_t size : std::initializer_list<uint16_t>{1, 2, 4, 8})
      for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
        for (const size_t columns : {1, 5, 8, 19, 64}) {
          if (kind == Kind::floating && size == 1) continue;
          const DataType type{.kind = kind, .order = order, .size = size};
          const auto run = [&](InstructionSet set) {
            return find_extremes(set, type)(bytes.data(), columns, 10, 64 * size);
          };
          const Extremes one = run(InstructionSet::baseline), other = run(InstructionSet::avx2);
          EXPECT_EQ(one.min, other.min);
          EXPECT_EQ(one.max, other.max);
          EXPECT_EQ(one.has_nan, other.has_nan);
        }
}

TEST(Cubes, OfLargeIntegersAreRoundedOutward) {
  const std::vector<int64_t> values{(int64_t{1} << 53) + 1, (int64_t{1} << 60) - 1};
  const auto bytes = std::as_bytes(std::span(values));
  const Cube cube = cubes_of({.kind = Kind::signed_int, .order = ByteOrder::little, .size = 8}, {2}, 0, bytes).cubes[0];
  EXPECT_LE(static_cast<long double>(cube.min), static_cast<long double>(values[0]));
  EXPECT_GE(static_cast<long double>(cube.max), static_cast<long double>(values[1]));
}

// One file of variables of these shapes, all with one key but the last.
Sample sample_of(const std::vector<Shape>& shapes) {
  Sample sample;
  Layout layout;
  std::vector<std::string> keys;
  uint64_t end = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const uint64_t bytes = element_count(shapes[i]) * 8;
    layout.variables.push_back({.path = "/v" + std::to_string(i),
                                .type = kDoubles,
                                .shape = shapes[i],
                                .block = shapes[i],
                                .extents = {{end, bytes}}});
    keys.push_back(i + 1 == shapes.size() ? "other" : "key");
    end += bytes;
  }
  sample.catalogue.add({.name = "file", .size = end}, layout, keys);
  return sample;
}

std::vector<VariableCubes> random_cubes(const Catalogue& catalogue, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<VariableCubes> all;
  for (uint32_t v = 0; v < catalogue.variables.size(); ++v) {
    if (!can_have_cubes(catalogue, catalogue.variables[v])) continue;
    const Shape& shape = catalogue.shapes[catalogue.variables[v].shape];
    all.push_back({v, naive_cubes(shape, random_values(element_count(shape), random))});
  }
  all.front().cubes[0] = {};  // nothing but NaNs
  all.front().cubes[0].has_nan = true;
  return all;
}

void expect_same(const std::vector<VariableCubes>& found, const std::vector<VariableCubes>& wanted, size_t first) {
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].variable, wanted[first + i].variable);
    EXPECT_EQ(found[i].cubes, wanted[first + i].cubes);
  }
}

class CubesInContainer : public ::testing::Test {
 protected:
  Bytes write() const {
    const TempDir dir;
    auto writer = *create_file(dir.file("c"), sample_.catalogue, sample_.plan);
    EXPECT_TRUE(writer->append_cubes(sample_.catalogue, cubes_));
    EXPECT_TRUE(writer->finish({}, {}));
    return read_file(dir.file("c"));
  }

  const Sample sample_ = sample_of({{20, 20, 20}, {3}, {5000}, {100, 70}});
  const std::vector<VariableCubes> cubes_ = random_cubes(sample_.catalogue, 1);
};

TEST_F(CubesInContainer, ComeBackByKey) {
  ASSERT_EQ(cubes_.size(), 3u);
  const Bytes bytes = write();
  const auto reader = open_bytes(bytes);
  ASSERT_TRUE(reader) << reader.error().message();
  EXPECT_TRUE(verify(std::make_unique<OwnedSource>(bytes)));
  const auto of_key = (*reader)->read_cubes(0, kIndexLimit), of_other = (*reader)->read_cubes(1, kIndexLimit);
  ASSERT_TRUE(of_key) << of_key.error().message();
  ASSERT_TRUE(of_other) << of_other.error().message();
  ASSERT_EQ(of_key->size(), 2u);
  ASSERT_EQ(of_other->size(), 1u);
  expect_same(*of_key, cubes_, 0);
  expect_same(*of_other, cubes_, 2);
}

TEST_F(CubesInContainer, AreRefusedWhereTheyAreNotThoseOfTheVariables) {
  const auto kind_of = [&](const std::vector<VariableCubes>& cubes) {
    const TempDir dir;
    auto writer = *create_file(dir.file("c"), sample_.catalogue, sample_.plan);
    const auto appended = writer->append_cubes(sample_.catalogue, cubes);
    return appended ? std::optional<ErrorKind>() : appended.error().kind;
  };
  EXPECT_EQ(kind_of({cubes_[0]}), ErrorKind::invalid_argument) << "not all of a key";
  EXPECT_EQ(kind_of({{1, {Cube()}}}), ErrorKind::invalid_argument) << "of too small a variable";
  EXPECT_EQ(kind_of({{3, {Cube()}}}), ErrorKind::invalid_argument) << "too few";
  EXPECT_EQ(kind_of({cubes_[2]}), std::nullopt);
}

TEST_F(CubesInContainer, AreNotReadInLittleMemory) {
  const auto reader = open_bytes(write());
  EXPECT_EQ((*reader)->read_cubes(0, 100).error().kind, ErrorKind::limit);
}

TEST_F(CubesInContainer, EveryFlippedBitIsReported) {
  const Bytes whole = write();
  const RecordPlace place = (*open_bytes(whole))->index().cubes.value();
  for (uint64_t bit = 8 * place.offset; bit < 8 * (place.offset + place.bytes); bit += 3) {
    Bytes bytes = whole;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto reader = open_bytes(bytes);
    ASSERT_TRUE(reader) << reader.error().message();
    EXPECT_EQ((*reader)->read_cubes(0, kIndexLimit).error().kind, ErrorKind::corrupt) << bit;
    EXPECT_FALSE(verify(std::make_unique<OwnedSource>(std::move(bytes))));
  }
}

TEST_F(CubesInContainer, OfOtherCataloguesAreCorrupt) {
  const auto bytes = encode_cubes(sample_.catalogue, cubes_);
  ASSERT_TRUE(bytes);
  for (const auto& shapes : {std::vector<Shape>{{20, 20, 20}, {3}, {9000}, {100, 70}},
                             {{20, 20, 20}, {3}, {30}, {100, 70}},
                             {{20, 20, 20}, {8000}, {5000}, {100, 70}}}) {
    const auto cubes = decode_cubes(*bytes, sample_of(shapes).catalogue, 0, kIndexLimit);
    ASSERT_FALSE(cubes);
    EXPECT_EQ(cubes.error().kind, ErrorKind::corrupt) << cubes.error().message();
  }
}

}  // namespace
}  // namespace forebay::container
