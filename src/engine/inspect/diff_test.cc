#include "engine/inspect/diff.h"

#include <cmath>
#include <limits>

#include "engine/inspect/compare_elements.h"
#include "engine/inspect/repair.h"
#include "engine/test_sets.h"

namespace forebay::engine {
namespace {

template <class T>
ElementDifference compare(Kind kind, std::vector<T> a, std::vector<T> b) {
  return compare_elements({kind, ByteOrder::little, sizeof(T)}, std::as_bytes(std::span(a)),
                          std::as_bytes(std::span(b)));
}

TEST(CompareElements, CountsAndMeasures) {
  EXPECT_EQ(compare<double>(Kind::floating, {1, 2, 3}, {1, 2, 3}).elements, 0u);
  const auto doubles = compare<double>(Kind::floating, {1, 2, NAN, INFINITY}, {1, 4.5, 0, 0});
  EXPECT_EQ(doubles.elements, 3u);
  EXPECT_EQ(doubles.max_absolute, 2.5) << "of finite values only";
  EXPECT_EQ(compare<float>(Kind::floating, {0.0f}, {-0.0f}).elements, 1u);
  EXPECT_EQ(compare<int8_t>(Kind::signed_int, {-100}, {100}).max_absolute, 200);
  EXPECT_EQ(compare<uint64_t>(Kind::unsigned_int, {UINT64_MAX}, {0}).max_absolute, 0x1p64);
  EXPECT_EQ(compare<int64_t>(Kind::signed_int, {INT64_MIN}, {INT64_MAX}).max_absolute, 0x1p64);
  EXPECT_EQ(compare<uint16_t>(Kind::floating, {0x3c00}, {0x4000}).max_absolute, 1) << "half precision: 1 and 2";
  EXPECT_EQ(compare<uint16_t>(Kind::floating, {0x0001}, {0x0000}).max_absolute, 0x1p-24);
  const std::string a = "abcdef", b = "abXdef";
  EXPECT_EQ(compare_elements({Kind::opaque, ByteOrder::little, 3}, as_bytes(a), as_bytes(b)).elements, 1u);
  const Bytes big_a = {std::byte{1}, std::byte{0}}, big_b = {std::byte{0}, std::byte{0}};
  EXPECT_EQ(compare_elements({Kind::unsigned_int, ByteOrder::big, 2}, big_a, big_b).max_absolute, 256);
}

TEST(CompareElements, CountsApartWhatCannotBeMeasured) {
  const auto doubles = compare<double>(Kind::floating, {1, 2, NAN, INFINITY, 5, 0.0}, {1, NAN, 0, -INFINITY, 7, -0.0});
  EXPECT_EQ(doubles.elements, 5u);
  EXPECT_EQ(doubles.nans, 2u);
  EXPECT_EQ(doubles.infinities, 1u);
  EXPECT_EQ(doubles.measured, 2u);
  EXPECT_EQ(doubles.max_absolute, 2);
  EXPECT_EQ(compare<double>(Kind::floating, {NAN}, {1}).measured, 0u);
  EXPECT_EQ(compare<double>(Kind::floating, {1.7e308}, {-1.7e308}).max_absolute, std::numeric_limits<double>::max());
  const std::string a = "abcdef", b = "abXdef";
  EXPECT_EQ(compare_elements({Kind::opaque, ByteOrder::little, 3}, as_bytes(a), as_bytes(b)).measured, 0u);
  ElementDifference sum = doubles;
  sum.merge(compare<float>(Kind::floating, {NAN, INFINITY, 1}, {1, 1, 2}));
  EXPECT_EQ(sum.nans, 3u);
  EXPECT_EQ(sum.infinities, 2u);
  EXPECT_EQ(sum.measured, 3u);
}

class DiffTest : public SetTest {
 protected:
  void pack_as(const std::string& name, const std::string& scheme = "auto") const {
    PackOptions pack_options = options(scheme);
    pack_options.name = name;
    pack_ok(pack_options);
  }
  std::vector<FileDifference> diff_ok(const std::string& a, const std::string& b) {
    auto differences = diff(find(a), find(b), {.memory_bytes = 64 << 20, .threads = 2, .progress = {}});
    if (!differences) throw std::runtime_error(differences.error().message());
    differences_ = *std::move(differences);
    return differences_.files;
  }

  Differences differences_;  // of the last diff_ok()
};

TEST_F(DiffTest, FindsNothingBetweenEqualSets) {
  write_ranks(3, 40, 40);
  for (const char* scheme : kSchemes) {
    pack_as(scheme, scheme);
    EXPECT_TRUE(diff_ok("auto", scheme).empty()) << scheme;
  }
}

TEST_F(DiffTest, TellsWhatChanged) {
  write_ranks(3, 40, 40);
  write(tree() + "/old.txt", "x");
  write(tree() + "/touched.txt", "x");
  pack_as("a", "aware");
  std::vector<double> values = field(1, 1600);
  values[7] += 2;
  values[1500] -= 0.5;
  write(tree() + "/dump.1.npy", npy_file(values, {40, 40}));
  write(tree() + "/dump.2.npy", npy_file(field(2, 1600), {20, 80}));
  write(tree() + "/notes.txt", "another text\n");
  std::filesystem::rename(tree() + "/old.txt", tree() + "/new.txt");
  std::filesystem::permissions(tree() + "/touched.txt", std::filesystem::perms::owner_read);
  pack_as("b", "agnostic-block");

  const auto differences = diff_ok("a", "b");
  ASSERT_EQ(differences.size(), 6u);
  EXPECT_EQ(differences[0].name, "dump.1.npy");
  EXPECT_EQ(differences[0].change, Change::bytes);
  ASSERT_EQ(differences[0].variables.size(), 1u);
  EXPECT_EQ(differences[0].variables[0].path, "/data");
  EXPECT_EQ(differences[0].variables[0].difference.elements, 2u);
  EXPECT_EQ(differences[0].variables[0].difference.max_absolute, 2);
  ASSERT_EQ(differences[1].variables.size(), 1u);
  EXPECT_EQ(differences[1].variables[0].difference.elements, UINT64_MAX) << "another shape";
  EXPECT_EQ(differences[2].name, "new.txt");
  EXPECT_EQ(differences[2].change, Change::added);
  EXPECT_EQ(differences[3].name, "notes.txt");
  EXPECT_EQ(differences[3].change, Change::bytes);
  EXPECT_EQ(differences[4].change, Change::removed);
  EXPECT_EQ(differences[5].name, "touched.txt");
  EXPECT_EQ(differences[5].change, Change::metadata);
}

TEST_F(DiffTest, ReadsTheBytesWhereChecksumsAreLost) {
  write_ranks(2, 40, 40);
  pack_as("a", "aware");
  pack_as("b", "aware-block");
  const std::string file = container_path("b", 0);
  const OpenSet b = open("b");
  const uint64_t last = b.containers[0].index().frames.back().record_offset;
  std::filesystem::resize_file(file, last + 56 + 400);  // cut into the index, or a little before
  const auto repaired = repair(open_store(), "b", "c", resources());
  ASSERT_TRUE(repaired.has_value()) << repaired.error().message();
  if (repaired->frames_lost != 0) GTEST_SKIP() << "the cut hit a frame";
  ASSERT_TRUE(open("c").containers[0].index().file_crcs.empty());
  EXPECT_TRUE(diff_ok("a", "c").empty());
  write(tree() + "/notes.txt", "not an Array\n");
  pack_as("d", "agnostic");
  const auto differences = diff_ok("c", "d");
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].name, "notes.txt");
  EXPECT_EQ(differences[0].change, Change::bytes);
}

}  // namespace
}  // namespace forebay::engine
