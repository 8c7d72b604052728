#include "codec/relation/relation_search.h"

#include <cmath>

#include <gtest/gtest.h>

#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

constexpr DataType kDouble{Kind::floating, ByteOrder::little, 8};
constexpr DataType kSingle{Kind::floating, ByteOrder::little, 4};
constexpr size_t kCells = 512;

// A smooth line with noise: each cell's neighbour is the cell before it.
struct Line {
  std::vector<double> values;

  FieldSample sample() const {
    FieldSample sample;
    for (size_t i = 1; i < values.size(); ++i) {
      const double v = values[i], before = values[i - 1];
      sample.columns[0][0].push_back(v);
      sample.columns[0][1].push_back(v * v);
      sample.columns[1][0].push_back(v - before);
      sample.columns[1][1].push_back(v * v - before * before);
    }
    return sample;
  }
};

Line noise(double offset, double amplitude, uint64_t seed) {
  testing::Random random(seed);
  Line line;
  for (size_t i = 0; i <= kCells; ++i)
    line.values.push_back(offset + amplitude * static_cast<double>(random.next() % 100003) / 100003);
  return line;
}

// Each value near the one before.
Line walk(uint64_t seed) {
  Line line = noise(-0.01, 0.02, seed);
  double sum = 1;
  for (double& value : line.values) value = sum += value;
  return line;
}

template <class Function>
Line made_of(const Line& a, const Line& b, Function function) {
  Line line;
  for (size_t i = 0; i < a.values.size(); ++i) line.values.push_back(function(a.values[i], b.values[i]));
  return line;
}

TEST(RelationSearch, FindsALinearRelation) {
  const Line density = noise(1, 2, 1), other = noise(3, 1, 2);
  const Line hydrogen = made_of(density, other, [](double d, double) { return 0.76 * d; });
  const std::vector<FieldSample> fields{density.sample(), other.sample(), hydrogen.sample()};
  const auto found = find_relations(fields, kDouble);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_FALSE(found[1]);
  ASSERT_NE(found[0].has_value(), found[2].has_value()) << "one of the two must refer to the other";
  const FieldRelation& relation = found[0] ? *found[0] : *found[2];
  ASSERT_EQ(relation.relation.terms.size(), 1u);
  EXPECT_NEAR(relation.relation.terms[0].coefficient, found[0] ? 1 / 0.76 : 0.76, 1e-12);
  EXPECT_LT(relation.bits, 4);
  EXPECT_GT(relation.own_bits, 40);
}

TEST(RelationSearch, FindsSquaresOfSeveralReferences) {
  const Line vx = noise(-1, 2, 3), vy = noise(-1, 2, 4), internal = noise(5, 1, 5);
  Line total = made_of(vx, vy, [](double x, double y) { return 0.5 * x * x + 0.5 * y * y; });
  total = made_of(total, internal, [](double kinetic, double e) { return kinetic + e; });
  const std::vector<FieldSample> fields{vx.sample(), vy.sample(), internal.sample(), total.sample()};
  const auto found = find_relations(fields, kDouble);
  ASSERT_TRUE(found[3] || found[2]);
  EXPECT_FALSE(found[0] || found[1]);
  EXPECT_EQ((found[3] ? *found[3] : *found[2]).relation.terms.size(), 3u);
}

TEST(RelationSearch, FindsRelationsOfChangesWhereValuesHaveNone) {
  // The two differ by a slow wave: their values are unrelated to the last digits, their changes are not.
  const Line a = noise(10, 1, 6);
  Line b = a;
  for (size_t i = 0; i < b.values.size(); ++i) b.values[i] += 100 * std::sin(static_cast<double>(i) / 3000);
  const auto found = find_relations(std::vector<FieldSample>{a.sample(), b.sample()}, kSingle);
  ASSERT_TRUE(found[0] || found[1]);
  EXPECT_EQ((found[0] ? *found[0] : *found[1]).relation.kind, RelationKind::change);
}

TEST(RelationSearch, LeavesUnrelatedFieldsAlone) {
  std::vector<FieldSample> fields;
  for (uint64_t seed = 0; seed < 6; ++seed) fields.push_back(walk(100 + seed).sample());
  for (const auto& relation : find_relations(fields, kDouble)) EXPECT_FALSE(relation);
  EXPECT_FALSE(find_relations(std::span(fields).first(1), kDouble)[0]);
  EXPECT_TRUE(find_relations({}, kDouble).empty());
}

TEST(RelationSearch, NeverRefersToWhatRefersToOthers) {
  const Line base = noise(1, 1, 7), more = noise(2, 1, 8);
  std::vector<FieldSample> fields{base.sample(), more.sample()};
  for (int i = 1; i < 8; ++i)
    fields.push_back(made_of(base, more, [&](double b, double m) { return i * b + m / i; }).sample());
  const auto found = find_relations(fields, kDouble);
  size_t referring = 0;
  for (const auto& relation : found) {
    if (!relation) continue;
    ++referring;
    for (const RelationTerm& term : relation->relation.terms) EXPECT_FALSE(found[term.reference]);
  }
  EXPECT_EQ(referring, fields.size() - 2);
}

TEST(RelationSearch, BearsZerosAndConstants) {
  const Line zero{std::vector<double>(kCells + 1, 0.0)}, constant{std::vector<double>(kCells + 1, 7.5)};
  const std::vector<FieldSample> fields{zero.sample(), constant.sample(), noise(1, 1, 9).sample(), zero.sample()};
  for (const auto& relation : find_relations(fields, kSingle)) EXPECT_FALSE(relation);
}

TEST(RelationParameters, ComeBack) {
  const Relation relation{RelationKind::change, {{2, true, -0.25}, {0, false, 1e300}}};
  EXPECT_EQ(*decode_relation(encode_relation(relation)), relation);
  Bytes bad = encode_relation(relation);
  for (const size_t at : {size_t{0}, size_t{1}, size_t{2}, size_t{3}}) {
    Bytes damaged = bad;
    damaged[at] = std::byte{0xee};
    EXPECT_FALSE(decode_relation(damaged)) << at;
  }
  bad.pop_back();
  EXPECT_FALSE(decode_relation(bad));
}

}  // namespace
}  // namespace forebay::codec
