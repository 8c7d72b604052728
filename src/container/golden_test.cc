// Containers that earlier builds wrote: they can be read for ever, and the same input still gives the same bytes.
// After a deliberate change of the format, FOREBAY_WRITE_GOLDEN=1 writes new files; those of earlier versions stay.
#include <cstdlib>

#include <gtest/gtest.h>
#include <zstd.h>

#include "container/testing.h"

namespace forebay::container {
namespace {

using namespace testing;

// Compressed bytes may differ between releases of zstd, which all read each other's.
constexpr unsigned kGoldenZstd = 10504;

std::string golden_path(const std::string& name) {
  return std::string(FOREBAY_SOURCE_DIR) + "/tests/golden/" + name + ".fbc";
}

// Sample and damage of a container that lost frame 2 and its index before it was rewritten.
Bytes repaired_bytes() {
  const Sample sample = small_sample();
  Bytes bytes = sample_bytes(sample);
  const auto frames = (*open_bytes(bytes))->index().frames;
  bytes[frames[2].record_offset] = std::byte{0};
  bytes.resize(bytes.size() - 100);
  const OwnedSource source(std::move(bytes));
  const TempDir dir;
  EXPECT_TRUE(rewrite(source, *recover(source, {kIndexLimit, sizes_of(sample), lossy_of(sample)}),
                      *FileSink::create(dir.file("new"))));
  return read_file(dir.file("new"));
}

// One variable of two cubes, and the cubes.
Sample cubed_sample() {
  constexpr uint64_t kElements = 5000;
  Sample sample;
  const Layout layout{.variables = {{.path = "/v",
                                     .type = {.kind = Kind::floating, .order = ByteOrder::little, .size = 8},
                                     .shape = {kElements},
                                     .block = {kElements},
                                     .extents = {{0, 8 * kElements}}}}};
  sample.catalogue.add({.name = "file", .size = 8 * kElements}, layout, std::vector<std::string>{"key"});
  return sample;
}

std::vector<VariableCubes> golden_cubes() {
  return {{0, {{.min = -1.5F, .max = 2, .has_nan = false}, {.min = 0, .max = 1e30F, .has_nan = true}}}};
}

Bytes cubed_bytes() {
  const Sample sample = cubed_sample();
  const TempDir dir;
  auto writer = *create_file(dir.file("c"), sample.catalogue, sample.plan);
  EXPECT_TRUE(writer->append_cubes(sample.catalogue, golden_cubes()));
  EXPECT_TRUE(writer->finish({}, {}));
  return read_file(dir.file("c"));
}

// Variables with holes, and one without.
Sample meant_sample() {
  Sample sample;
  Layout layout;
  for (const char* meaning : {"fill 1e+20", "fill -1 scale 0.5 bytes 4", ""}) {
    const uint64_t number = layout.variables.size();
    layout.variables.push_back({.path = "/v" + std::to_string(number),
                                .type = {.kind = Kind::floating, .order = ByteOrder::little, .size = 4},
                                .shape = {10},
                                .block = {},
                                .extents = {{40 * number, 40}},
                                .meaning = meaning});
  }
  sample.catalogue.add({.name = "file", .size = 120}, layout, std::vector<std::string>{"a", "a", "b"});
  sample.catalogue.are_meanings_known = true;
  return sample;
}

std::vector<Characteristics> golden_holes() {
  return {{.count = 7, .min = 1, .max = 2, .sum = 9, .sum_of_squares = 12, .nans = 1, .infinities = 0, .holes = 2},
          {.holes = 10},
          {.count = 10, .min = -1, .max = 1}};
}

Bytes meant_bytes() {
  const Sample sample = meant_sample();
  const TempDir dir;
  auto writer = *create_file(dir.file("c"), sample.catalogue, sample.plan);
  EXPECT_TRUE(writer->finish({}, golden_holes()));
  return read_file(dir.file("c"));
}

void expect_bytes(const std::string& name, const Bytes& bytes) {
  const std::string path = golden_path(name);
  if (std::getenv("FOREBAY_WRITE_GOLDEN") != nullptr) write_file(path, bytes);
  if (ZSTD_versionNumber() != kGoldenZstd) GTEST_SKIP() << "written with another release of zstd";
  EXPECT_EQ(read_file(path), bytes) << path << " is no longer what is written";
}

TEST(Golden, BytesAreThoseOfVersion1) {
  expect_bytes("v1-small", sample_bytes(small_sample()));
  expect_bytes("v1-empty", sample_bytes(Sample{}));
  expect_bytes("v1-repaired", repaired_bytes());
  expect_bytes("v1-cubes", cubed_bytes());
  expect_bytes("v1-meanings", meant_bytes());
  expect_bytes("v1-places", sample_bytes(placed_sample()));
}

TEST(Golden, PlacesOfVersion1AreRead) {
  const auto reader = open_bytes(read_file(golden_path("v1-places")));
  ASSERT_TRUE(reader) << reader.error().message();
  expect_describes((*reader)->index(), placed_sample());
  const Catalogue& catalogue = (*reader)->index().catalogue;
  const GlobalPlace* place = catalogue.global_of(catalogue.files[2].first_variable);
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(catalogue.shapes[place->shape], (Shape{12, 6}));
  EXPECT_EQ(catalogue.shapes[place->offset], (Shape{8, 0}));
  EXPECT_EQ(catalogue.global_of(catalogue.files[2].first_variable + 1), nullptr);
}

TEST(Golden, SmallContainerOfVersion1IsRead) {
  const auto reader = open_bytes(read_file(golden_path("v1-small")));
  ASSERT_TRUE(reader) << reader.error().message();
  expect_describes((*reader)->index(), small_sample());
  for (uint32_t number = 0; number < small_sample().frames.size(); ++number)
    EXPECT_EQ(as_text((*reader)->read(number).value().payload), small_sample().frames[number].payload);
}

TEST(Golden, CubesOfVersion1AreRead) {
  const auto reader = open_bytes(read_file(golden_path("v1-cubes")));
  ASSERT_TRUE(reader) << reader.error().message();
  const auto cubes = (*reader)->read_cubes(0, kIndexLimit);
  ASSERT_TRUE(cubes) << cubes.error().message();
  ASSERT_EQ(cubes->size(), 1u);
  EXPECT_EQ((*cubes)[0].cubes, golden_cubes()[0].cubes);
}

TEST(Golden, MeaningsOfVersion1AreRead) {
  const auto reader = open_bytes(read_file(golden_path("v1-meanings")));
  ASSERT_TRUE(reader) << reader.error().message();
  const Index& index = (*reader)->index();
  EXPECT_TRUE(index.catalogue.are_meanings_known);
  EXPECT_EQ(index.catalogue.meaning_of(1), "fill -1 scale 0.5 bytes 4");
  EXPECT_EQ(index.catalogue.meaning_of(2), "");
  EXPECT_EQ(index.characteristics, golden_holes());
  const auto before = open_bytes(read_file(golden_path("v1-small")));
  EXPECT_FALSE((*before)->index().catalogue.are_meanings_known) << "nobody was asked";
}

TEST(Golden, EveryContainerOfVersion1Verifies) {
  for (const char* name : {"v1-small", "v1-empty", "v1-places", "v1-cubes", "v1-meanings"}) {
    const auto verified = verify(std::make_unique<OwnedSource>(read_file(golden_path(name))));
    EXPECT_TRUE(verified) << name << ": " << verified.error().message();
  }
}

TEST(Golden, RepairedContainerOfVersion1IsRead) {
  const auto reader = open_bytes(read_file(golden_path("v1-repaired")));
  ASSERT_TRUE(reader) << reader.error().message();
  EXPECT_TRUE((*reader)->verify_structure());
  EXPECT_TRUE((*reader)->index().frames[2].is_lost());
  EXPECT_TRUE((*reader)->index().file_crcs.empty());
  EXPECT_TRUE((*reader)->read(3));
}

}  // namespace
}  // namespace forebay::container
