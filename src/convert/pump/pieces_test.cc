#include "convert/pump/pieces.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "convert/plan/chunks.h"
#include "convert/plan/paths.h"

namespace forebay::convert {
namespace {

// How often each element of a dataset is written.
std::vector<int> written(const Plan& plan, uint64_t most_bytes) {
  std::vector<std::vector<int>> counts;
  for (const Dataset& dataset : plan.datasets) counts.emplace_back(element_count(dataset.shape));
  Pieces pieces(plan, most_bytes);
  uint64_t step = 0;
  while (const auto piece = pieces.next()) {
    const Dataset& dataset = plan.datasets[piece->dataset];
    EXPECT_GE(piece->source.step, step) << "step by step";
    step = piece->source.step;
    EXPECT_TRUE(dataset.chunk.empty() || piece->box.count.size() == dataset.chunk.size());
    for (size_t d = 0; d < dataset.chunk.size(); ++d) {
      EXPECT_EQ(piece->box.begin[d] % dataset.chunk[d], 0u);
      EXPECT_EQ(piece->box.count[d], std::min(dataset.chunk[d], dataset.shape[d] - piece->box.begin[d]));
    }
    EXPECT_TRUE(!dataset.chunk.empty() || element_count(piece->box.count) * dataset.type.bytes() <= most_bytes);
    Shape at = piece->box.begin;
    for (uint64_t i = 0; i < element_count(piece->box.count); ++i) {
      uint64_t place = 0;
      for (size_t d = 0; d < at.size(); ++d) place = place * dataset.shape[d] + at[d];
      ++counts[piece->dataset][place];
      for (size_t d = at.size(); d-- > 0 && ++at[d] == piece->box.begin[d] + piece->box.count[d];)
        at[d] = piece->box.begin[d];
    }
  }
  std::vector<int> all;
  for (const auto& count : counts) all.insert(all.end(), count.begin(), count.end());
  return all;
}

TEST(Pieces, ALongTextComesInPieces) {
  Plan plan;
  plan.steps.resize(1);
  plan.datasets.push_back(
      {.path = "text", .type = view::element_type(io::ValueType::string), .form = view::Form::scalar});
  plan.datasets[0].shape = {1000};
  plan.datasets[0].block = 0;
  plan.datasets[0].sources = {{0, 0}};
  Pieces pieces(plan, 300);
  uint64_t bytes = 0;
  while (const auto piece = pieces.next()) {
    const auto& block = std::get<view::WrittenBlock>(piece->selection);
    ASSERT_TRUE(block.box) << "of all of it there would be more bytes than the piece has";
    EXPECT_EQ(block.box->begin, (Shape{bytes}));
    bytes += block.box->count[0];
  }
  EXPECT_EQ(bytes, 1000u);
}

TEST(Pieces, CoverEveryElementOnce) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    Plan plan;
    plan.steps.resize(1 + random() % 3);
    for (unsigned i = 0; i < 3; ++i) {
      Dataset dataset{.path = std::to_string(i), .type = view::element_type(io::ValueType::float64)};
      dataset.form = random() % 2 == 0 ? view::Form::global : view::Form::local;
      for (unsigned d = random() % 4; d > 0; --d) dataset.shape.push_back(random() % 12);
      if (dataset.form == view::Form::local && random() % 2 == 0) {
        dataset.has_blocks = true;
        dataset.shape.insert(dataset.shape.begin(), 1 + random() % 4);
      }
      if (random() % 2 == 0) {
        dataset.has_steps = true;
        dataset.shape.insert(dataset.shape.begin(), plan.steps.size());
        for (uint64_t step = 0; step < plan.steps.size(); ++step) dataset.sources.push_back({step, i});
      } else {
        dataset.sources = {{random() % plan.steps.size(), i}};
      }
      if (random() % 2 == 0) dataset.chunk = chunk_of(dataset, Shape{1 + random() % 5, 1 + random() % 5});
      plan.datasets.push_back(std::move(dataset));
    }
    for (const int count : written(plan, 8 * (1 + random() % 40))) ASSERT_EQ(count, 1);
  }
}

TEST(Chunks, AreOfOneStepAndAboutAMebibyte) {
  Dataset dataset{.type = view::element_type(io::ValueType::float64), .shape = {7, 300, 400, 500}};
  dataset.has_steps = true;
  const Shape chunk = chunk_of(dataset, {});
  EXPECT_EQ(chunk[0], 1u);
  EXPECT_LE(element_count(chunk) * 8, 1u << 20);
  EXPECT_GE(element_count(chunk) * 8, 1u << 19);
  EXPECT_EQ(chunk_of(dataset, {10, 1000, 0}), (Shape{1, 10, 400, 1}));
}

TEST(Paths, LeadNowhereElseAndDoNotCollide) {
  EXPECT_EQ(path_of("//a//b/"), "a/b");
  EXPECT_EQ(path_of("../../etc/./passwd"), "__/__/etc/_/passwd");
  EXPECT_EQ(path_of("a\nb"), "a_b");
  EXPECT_EQ(path_of("/"), "_");
  Paths paths;
  EXPECT_EQ(paths.take("a/b"), "a/b");
  EXPECT_EQ(paths.take("a"), "a_");
  EXPECT_EQ(paths.take("a/b"), "a/b_");
  EXPECT_EQ(paths.take("a/b/c"), "a/b__/c");
}

}  // namespace
}  // namespace forebay::convert
