#include "container/column.h"

#include <random>

#include <gtest/gtest.h>

namespace forebay::container {
namespace {

// A buffer of one table of strings, whose three columns can be anything.
Bytes pack_texts(std::span<const uint64_t> shared, std::span<const uint64_t> lengths, std::string_view rests) {
  ColumnWriter out;
  const auto s = out.put(shared), l = out.put(lengths), r = out.put_bytes(as_bytes(rests));
  return *out.finish(fb::CreateTexts(out.builder(), s, l, r));
}

Bytes pack_column(uint64_t count, std::vector<uint32_t> sizes, std::vector<uint8_t> planes) {
  ColumnWriter out;
  auto& builder = out.builder();
  const auto s = builder.CreateVector(sizes);
  const auto p = builder.CreateVector(planes);
  return *out.finish(fb::CreateColumn(builder, count, s, p));
}

Result<Values> read_column(const Bytes& bytes, uint64_t count, uint64_t budget_bytes = 1 << 20) {
  MemoryBudget budget(budget_bytes);
  const auto root = verified_root<fb::Column>(bytes);
  if (!root) return std::unexpected(root.error());
  ColumnReader in(budget);
  FOREBAY_TRY(auto decoded, in.get(*root, count));
  return std::move(decoded.values);
}

Result<std::vector<std::string>> read_texts(const Bytes& bytes, uint64_t budget_bytes = 1 << 20) {
  MemoryBudget budget(budget_bytes);
  const auto root = verified_root<fb::Texts>(bytes);
  if (!root) return std::unexpected(root.error());
  ColumnReader in(budget);
  FOREBAY_TRY(auto decoded, in.get(*root));
  return std::move(decoded.values);
}

TEST(Column, IntegersComeBack) {
  std::mt19937_64 random(1);
  for (const size_t count : {1, 2, 100, 5000}) {
    for (const int bits : {0, 1, 7, 8, 9, 31, 64}) {
      Values values(count);
      for (uint64_t& value : values) value = bits == 0 ? 0 : random() >> (64 - bits);
      ColumnWriter out;
      const Bytes bytes = *out.finish(out.put(values));
      EXPECT_EQ(read_column(bytes, count).value(), values) << count << " of " << bits;
      Values deltas = values;
      delta_encode(deltas);
      delta_decode(deltas);
      EXPECT_EQ(deltas, values);
    }
  }
}

TEST(Column, ConstantsAndProgressionsAreSmall) {
  Values values(100'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1'000'000'000 + 9300 * i;
  ColumnWriter out;
  EXPECT_LT(out.finish(out.put_deltas(values))->size(), 200u);
}

TEST(Column, StringsComeBack) {
  const std::vector<std::string> texts = {
      "", "a", "ab", "ab", std::string("\0\xff", 2), "abc", "", std::string(5000, 'z')};
  ColumnWriter out;
  EXPECT_EQ(read_texts(*out.finish(out.put(texts))).value(), texts);
}

TEST(Column, RefusesImpossibleColumns) {
  EXPECT_TRUE(read_column(pack_column(2, {2}, {1, 2}), 2));
  EXPECT_EQ(read_column(pack_column(2, {2}, {1, 2}), 3).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(read_column(pack_column(2, {3}, {1, 2}), 2).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(read_column(pack_column(3, {2}, {1, 2}), 3).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(read_column(pack_column(1, std::vector<uint32_t>(9, 1), std::vector<uint8_t>(9, 1)), 1).error().kind,
            ErrorKind::corrupt);
  EXPECT_EQ(read_column(pack_column(uint64_t{1} << 60, {}, {}), uint64_t{1} << 60).error().kind, ErrorKind::limit);
  EXPECT_EQ(read_column(pack_column(uint64_t{1} << 61, {}, {}), uint64_t{1} << 61).error().kind, ErrorKind::limit);
}

TEST(Column, RefusesImpossibleStrings) {
  EXPECT_EQ(read_texts(pack_texts(Values{0, 2}, Values{3, 1}, "abcd"))->at(1), "abd");
  EXPECT_EQ(read_texts(pack_texts(Values{1}, Values{1}, "a")).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(read_texts(pack_texts(Values{0}, Values{2}, "a")).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(read_texts(pack_texts(Values{0}, Values{0}, "a")).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(read_texts(pack_texts(Values{0}, Values{1, 1}, "aa")).error().kind, ErrorKind::corrupt);
}

TEST(Column, SharedPrefixesCannotBlowUp) {
  Values shared(10'000, 1000), lengths(10'000, 0);
  shared[0] = 0;
  lengths[0] = 1000;
  const Bytes bytes = pack_texts(shared, lengths, std::string(1000, 'a'));
  EXPECT_LT(bytes.size(), 1000u);
  EXPECT_EQ(read_texts(bytes, 1 << 20).error().kind, ErrorKind::limit);
}

TEST(Column, RefusesMalformedBuffers) {
  const Bytes bytes = pack_column(2, {2}, {1, 2});
  for (size_t size = 0; size < bytes.size(); size += 8)
    EXPECT_FALSE(read_column(Bytes(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)), 2)) << size;
}

}  // namespace
}  // namespace forebay::container
