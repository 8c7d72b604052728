#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include "bp/place.h"

namespace forebay::bp {
namespace {

// Files that the original library wrote.
Bytes file_of(const std::string& name) {
  std::ifstream file(std::string(FOREBAY_SOURCE_DIR "/tests/fuzz/bp_fuzz/") + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return {as_bytes(text).begin(), as_bytes(text).end()};
}

Result<Index> index_of(std::span<const std::byte> bytes) { return read_index(MemorySource(bytes), 1 << 20); }

const Variable& named(const std::vector<Variable>& variables, const std::string& name) {
  for (const Variable& variable : variables)
    if (variable.name == name) return variable;
  ADD_FAILURE() << name << " is not there";
  return variables.front();
}

TEST(Bp, HasBlocksOfAGlobalArray) {
  const Bytes bytes = file_of("global");
  const auto index = index_of(bytes);
  ASSERT_TRUE(index) << index.error().message();
  ASSERT_FALSE(index->groups.empty());
  const uint64_t ranks = index->groups.size();
  const Variable& temperature = named(index->variables, "temperature");
  EXPECT_EQ(temperature.type, 6);
  ASSERT_EQ(temperature.entries.size(), ranks);
  for (uint64_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(index->groups[rank].rank, rank);
    const Place place = place_of(temperature.entries[rank].dimensions, false, false);
    ASSERT_EQ(place.shape.size(), 2u);
    EXPECT_EQ(place.global, (Shape{ranks, place.shape[1]}));
    EXPECT_EQ(place.offsets, (Shape{rank, 0}));
    double first = -1;
    std::memcpy(&first, bytes.data() + temperature.entries[rank].payload, sizeof first);
    EXPECT_EQ(first, static_cast<double>(rank * place.shape[1]));
  }
  const Variable& size = named(index->variables, "size");
  ASSERT_TRUE(size.entries[0].value);
  EXPECT_EQ(load_le<int32_t>(size.entries[0].value->data()), static_cast<int32_t>(ranks));
}

TEST(Bp, KnowsSubfilesAndTransforms) {
  const auto index = index_of(file_of("subfiles"));
  ASSERT_TRUE(index) << index.error().message();
  EXPECT_TRUE(index->footer.has_subfiles);
  EXPECT_EQ(named(index->variables, "temperature").entries[1].file, 1u);
  EXPECT_EQ(subfile_path("/a/run.bp", 12), "/a/run.bp.dir/run.bp.12");
  const auto transforms = index_of(file_of("transforms"));
  ASSERT_TRUE(transforms) << transforms.error().message();
  const Variable& temperature = named(transforms->variables, "temperature");
  EXPECT_EQ(temperature.type, 6);
  EXPECT_FALSE(temperature.entries[0].transform.empty());
  EXPECT_EQ(temperature.entries[0].dimensions.size(), 2u);
}

TEST(Bp, TakesTimeOutAndTurnsFortranRound) {
  // iter,1,NX in size,NX from rank,0
  const Place c = place_of({{1, 4, 2}, {1, 10, 0}, {10, 0, 0}}, false, true);
  EXPECT_EQ(c.shape, (Shape{1, 10}));
  EXPECT_EQ(c.global, (Shape{4, 10}));
  EXPECT_EQ(c.offsets, (Shape{2, 0}));
  const Place fortran = place_of({{10, 10, 0}, {1, 4, 2}, {1, 0, 0}}, true, true);
  EXPECT_EQ(fortran.shape, c.shape);
  EXPECT_EQ(fortran.global, c.global);
  EXPECT_EQ(fortran.offsets, c.offsets);
  const Place local = place_of({{1, 0, 0}, {10, 0, 0}}, false, false);
  EXPECT_EQ(local.shape, (Shape{1, 10}));
  EXPECT_TRUE(local.global.empty());
}

TEST(Bp, RefusesWhatIsCutOffAnywhere) {
  for (const char* name : {"global", "attributes", "subfiles", "transforms", "fortran", "scalars"}) {
    const Bytes bytes = file_of(name);
    for (size_t length = 0; length < bytes.size(); ++length)
      ASSERT_FALSE(index_of(std::span(bytes).first(length))) << name << ' ' << length;
  }
}

TEST(Bp, SurvivesFlippedBits) {
  std::mt19937 random(7);
  for (const char* name : {"global", "attributes", "subfiles", "transforms", "fortran", "scalars"}) {
    const Bytes bytes = file_of(name);
    const uint64_t begin = index_of(bytes)->footer.groups;
    for (size_t at = begin; at < bytes.size(); ++at) {
      Bytes flipped = bytes;
      flipped[at] ^= std::byte{static_cast<uint8_t>(1u << random() % 8)};
      const auto index = index_of(flipped);
      EXPECT_TRUE(index || !index.error().what.empty());
    }
  }
}

TEST(Bp, NamesThePlaceOfDamageAndKeepsToItsMemory) {
  Bytes bytes = file_of("global");
  const uint64_t groups = index_of(bytes)->footer.groups;
  const auto limited = read_index(MemorySource(bytes, "f.bp"), 100);
  EXPECT_EQ(limited.error().kind, ErrorKind::limit);
  EXPECT_EQ(limited.error().offset, groups);
  store_le<uint64_t>(bytes.data() + groups, UINT64_MAX);  // so many process groups
  const auto index = read_index(MemorySource(bytes, "f.bp"), 1 << 20);
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(index.error().path, "f.bp");
  EXPECT_GT(index.error().offset, groups);
}

TEST(Bp, RefusesLaterVersionsAndTakesNothingElseForBp) {
  Bytes bytes = file_of("global");
  bytes.back() = std::byte{4};
  EXPECT_EQ(index_of(bytes).error().kind, ErrorKind::unsupported);
  EXPECT_EQ(index_of(Bytes(1000)).error().kind, ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace forebay::bp
