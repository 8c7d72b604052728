#include "container/unfolding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "container/column.h"
#include "container/index_codec.h"
#include "container/testing.h"

namespace forebay::container::testing {
namespace {

constexpr uint64_t kNoBudget = UINT64_MAX;

// A catalogue of nothing but a column that claims `count` variables, in no bytes.
Bytes claim(uint64_t count) {
  ColumnWriter out;
  const auto paths = fb::CreateColumn(out.builder(), count);
  fb::CatalogueBuilder table(out.builder());
  table.add_variable_paths(paths);
  return *out.finish(table.Finish());
}

// So many empty files of which next to nothing differs.
Catalogue alike(size_t count) {
  Catalogue catalogue;
  for (size_t i = 0; i < count; ++i)
    catalogue.files.push_back({.name = fmt::format("rank{:07}", i), .link_target = {}, .format = "opaque"});
  return catalogue;
}

TEST(Unfolding, AnIndexCannotClaimMoreThanItsBytesHold) {
  for (const uint64_t count : {uint64_t{1} << 20, uint64_t{1} << 26, uint64_t{UINT32_MAX}}) {
    const Bytes claimed = claim(count);
    ASSERT_LT(claimed.size(), 200u);
    const auto decoded = decode_head(claimed, kNoBudget);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().kind, ErrorKind::corrupt) << decoded.error().message();
    EXPECT_EQ(decode_head(claimed, 1 << 20).error().kind, ErrorKind::limit)
        << "more memory might help, as far as known";
  }
}

TEST(Unfolding, WhatReallyHasSoMuchIsPaddedUntilItMay) {
  const Catalogue catalogue = alike(200'000);
  Bytes padded = *encode_catalogue(catalogue, {});
  const auto decoded = decode_head(padded, kNoBudget);
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(decoded->catalogue.files.back().name, "rank0199999");
  // The zeros are at the end, and without them it would be refused.
  padded.resize(padded.size() / 128 * 8);
  EXPECT_NE(decode_head(padded, kNoBudget).error().what.find("would unfold"), std::string::npos);
}

TEST(Unfolding, SmallOnesAreNotPadded) {
  const Bytes plain = *encode_catalogue(alike(1000), {});
  EXPECT_LT(plain.size(), 4000u);
}

TEST(Unfolding, TheEstimateIsNeverTooSmall) {
  std::vector<Sample> samples = {small_sample(), large_sample(2, 500)};
  for (uint32_t seed = 0; seed < 20; ++seed) samples.push_back(random_sample(seed));
  for (const Sample& sample : samples) {
    const Index index = (*open_bytes(sample_bytes(sample)))->index();
    const Bytes head = *encode_catalogue(index.catalogue, index.plan);
    const auto contents = *encode_contents(index, facts_of(index.catalogue));
    Bytes payload = head;
    payload.insert(payload.end(), contents.begin(), contents.end());
    const uint64_t own = payload.size(), most = unfolded_bytes(index.catalogue);
    EXPECT_TRUE(decode_head(head, head.size() + most));
    EXPECT_TRUE(decode_index({head.size(), contents.size()}, payload, own + most + unfolded_contents_bytes(index)));
  }
}

}  // namespace
}  // namespace forebay::container::testing
