// The relation transform against the arithmetic of docs/codecs.md, "relation", element by element.
#include <gtest/gtest.h>

#include "base/checksum.h"
#include "codec/codec.h"
#include "codec/codec_ids.h"
#include "codec/elements.h"
#include "codec/relation/relation_kernels.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

using testing::Frame;

constexpr DataType kRelationF4{Kind::floating, ByteOrder::little, 4}, kRelationF8{Kind::floating, ByteOrder::little, 8};
const Relation kValue{RelationKind::value, {{1, true, -0.25}, {0, false, 0.75}}};
const Relation kChange{RelationKind::change, {{0, false, 1.5}, {1, false, -2.0}, {0, true, 1e-3}}};

template <class F>
F element(const Bytes& bytes, size_t index) {
  F value;
  std::memcpy(&value, bytes.data() + index * sizeof(F), sizeof(F));
  return value;
}

// The integers of elements in the order of their values.
template <class F>
auto ordered(F value) {
  using U = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
  return Elements<U, true, false>::map(std::bit_cast<U>(value));
}

// Residuals of one array by the definition.
template <class F>
Bytes by_definition(const Relation& relation, const Block& block, const Bytes& raw,
                    const std::vector<Bytes>& references) {
  using U = decltype(ordered(F{}));
  const LorenzoArray array = lorenzo_array(block, 3);
  const size_t columns = array.dims[3], rows = array.dims[2], count = array.count();
  std::vector<double> combined(count), left_over(count);
  for (size_t i = 0; i < count; ++i) {
    for (const RelationTerm& term : relation.terms) {
      const double v = element<F>(references[term.reference], i);
      combined[i] += term.coefficient * (term.squared ? v * v : v);
    }
    left_over[i] = static_cast<double>(element<F>(raw, i)) - combined[i];
  }
  const auto outer = [&](size_t i) {
    const size_t y = i / columns % rows, z = i / columns / rows;
    const size_t up = columns, back = columns * rows;
    if (y > 0 && z > 0) return (left_over[i - up] + left_over[i - back]) - left_over[i - up - back];
    return y > 0 ? left_over[i - up] : z > 0 ? left_over[i - back] : 0.0;
  };
  Bytes out(raw.size());
  for (size_t i = 0; i < count; ++i) {
    double prediction = combined[i];
    if (relation.kind == RelationKind::change)
      prediction += outer(i) + (i % columns == 0 ? 0.0 : left_over[i - 1] - outer(i - 1));
    const auto rounded = static_cast<F>(prediction);
    const U integer = rounded == rounded ? ordered(rounded) : U{0};
    store_le(out.data() + i * sizeof(F),
             Elements<U, true, false>::zigzag(static_cast<U>(ordered(element<F>(raw, i)) - integer)));
  }
  return out;
}

// A frame of one block with two references.
struct Case {
  FrameShape shape;
  Bytes raw;
  std::vector<Bytes> references;

  std::vector<std::span<const std::byte>> spans() const { return {references.begin(), references.end()}; }
};

std::vector<Case> cases(const DataType& type) {
  std::vector<Case> all;
  for (const auto& dims : {Block{{1, 1, 1, 777}}, Block{{1, 1, 31, 17}}, Block{{1, 5, 7, 300}}, Block{{2, 3, 4, 9}},
                           Block{{1, 1, 1, 1}}, Block{{1, 9, 1, 8}}}) {
    const FrameShape shape{type, {dims}};
    all.push_back(
        {shape, testing::smooth_bytes(shape, 1), {testing::smooth_bytes(shape, 2), testing::smooth_bytes(shape, 3)}});
    all.push_back(
        {shape, testing::special_bytes(shape), {testing::smooth_bytes(shape, 2), testing::special_bytes(shape)}});
    const size_t bytes = testing::byte_count(shape);
    all.push_back(
        {shape, testing::random_bytes(bytes, 4), {testing::random_bytes(bytes, 5), testing::small_bytes(shape)}});
  }
  return all;
}

TEST(RelationTransform, DoesTheArithmeticOfTheDocument) {
  for (const DataType& type : {kRelationF4, kRelationF8})
    for (const Case& test : cases(type))
      for (const Relation& relation : {kValue, kChange}) {
        const Bytes parameters = encode_relation(relation);
        const auto references = test.spans();
        Bytes out(test.raw.size());
        ASSERT_EQ(find_codec(kRelationId)->encode({test.shape, 0, parameters, references}, test.raw, out), out.size());
        const Block& block = test.shape.blocks[0];
        ASSERT_EQ(out, type.size == 4 ? by_definition<float>(relation, block, test.raw, test.references)
                                      : by_definition<double>(relation, block, test.raw, test.references));
      }
}

TEST(RelationTransform, IsTheSameWithAndWithoutVectors) {
  for (const DataType& type : {kRelationF4, kRelationF8})
    for (const Case& test : cases(type))
      for (const Relation& relation : {kValue, kChange}) {
        const LorenzoArray array = lorenzo_array(test.shape.blocks[0], 3);
        std::vector<BoundTerm> terms;
        for (const RelationTerm& term : relation.terms)
          terms.push_back({test.references[term.reference].data(), term.coefficient, term.squared});
        std::vector<double> scratch(relation_scratch(relation.kind, array));
        for (const bool avx2 : {false, has_avx2()}) {
          Bytes residuals(test.raw.size()), back(test.raw.size());
          relation_forward(type, relation.kind, terms, array, test.raw.data(), residuals.data(), scratch.data(), avx2);
          relation_inverse(type, relation.kind, terms, array, residuals.data(), back.data(), scratch.data(),
                           !avx2 && has_avx2());
          ASSERT_EQ(back, test.raw);
        }
      }
}

TEST(RelationTransform, NeedsItsReferences) {
  const Case test = cases(kRelationF8).front();
  const Bytes parameters = encode_relation(kValue);
  Bytes out(test.raw.size());
  const Codec& codec = *find_codec(kRelationId);
  const auto decode = [&](std::vector<std::span<const std::byte>> references) {
    return codec.decode({test.shape, 0, parameters, references}, test.raw, out);
  };
  auto references = test.spans();
  EXPECT_TRUE(decode(references));
  references.pop_back();
  EXPECT_EQ(decode(references).error().kind, ErrorKind::corrupt);
  references.push_back(std::span(test.references[1]).first(8));
  EXPECT_EQ(decode(references).error().kind, ErrorKind::corrupt);
}

TEST(RelationTransform, NeverChanges) {
  const std::pair<const Relation*, uint64_t> goldens[] = {{&kValue, 0x94b197a022fe58d5},
                                                          {&kChange, 0xfc4e31b6df075f47}};
  for (const auto& [relation, hash] : goldens) {
    Bytes all;
    for (const DataType& type : {kRelationF4, kRelationF8}) {
      const Case test = cases(type)[6];
      const auto references = test.spans();
      Bytes out(test.raw.size());
      const Bytes parameters = encode_relation(*relation);
      find_codec(kRelationId)->encode({test.shape, 0, parameters, references}, test.raw, out);
      all.insert(all.end(), out.begin(), out.end());
    }
    EXPECT_EQ(hash64(all), hash);
  }
}

}  // namespace
}  // namespace forebay::codec
