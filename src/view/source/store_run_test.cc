#include <thread>

#include <gmock/gmock.h>

#include "engine/test_sets.h"
#include "format/npy.h"
#include "view/read/selection.h"
#include "view/source/run.h"

namespace forebay::view {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Sets of four ranks, each with an array of its own.
class StoreRunTest : public engine::SetTest {
 protected:
  static constexpr size_t kRows = 600, kColumns = 500;

  void pack_set(const std::string& name, const std::string& profile = "fast") {
    write_ranks(4, kRows, kColumns);
    auto wanted = options("auto", profile);
    wanted.name = name;
    pack_ok(wanted);
  }

  std::unique_ptr<view::Run> open_ok(uint64_t memory_bytes = 128 << 20) const {
    auto run = open_run(store_path(), {.resources = {.memory_bytes = memory_bytes, .threads = 2, .progress = {}}});
    if (!run) throw std::runtime_error(run.error().message());
    return *std::move(run);
  }

  static size_t array_of(const Step& step) {
    for (size_t i = 0; i < step.arrays().size(); ++i)
      if (step.arrays()[i].form == Form::local) return i;
    throw std::runtime_error("no local array");
  }

  // A box of what a rank wrote.
  static std::pair<Outcome, std::vector<double>> read_box(const Step& step, uint64_t block, const Box& box) {
    std::vector<double> values(element_count(box.count));
    const Request request{&step, array_of(step), WrittenBlock{block, box}, std::as_writable_bytes(std::span(values))};
    return {read({&request, 1}).outcomes[0], values};
  }

  static std::vector<double> expected(int rank, const Box& box) {
    const std::vector<double> all = field(rank, kRows * kColumns);
    std::vector<double> values;
    for (uint64_t row = 0; row < box.count[0]; ++row)
      for (uint64_t column = 0; column < box.count[1]; ++column)
        values.push_back(all[(box.begin[0] + row) * kColumns + box.begin[1] + column]);
    return values;
  }
};

TEST_F(StoreRunTest, ArraysOfRanksAreLocalAndReadByBlock) {
  for (const std::string profile : {"fast", "max"}) pack_set(profile, profile);
  const auto run = open_ok();
  ASSERT_EQ(run->steps().size(), 2u);
  for (uint64_t number = 0; number < 2; ++number) {
    const auto step = *run->step(number);
    const Array& array = step->arrays()[array_of(*step)];
    EXPECT_EQ(array.blocks, 4u);
    EXPECT_EQ(to_string(array.type), "float64");
    ASSERT_TRUE(array.characteristics);
    EXPECT_EQ(array.characteristics->min, 0);
    for (const Box& box : {Box{{0, 0}, {kRows, kColumns}}, Box{{17, 499}, {580, 1}}, Box{{599, 3}, {1, 2}}})
      for (int rank = 0; rank < 4; ++rank) {
        const auto [outcome, values] = read_box(*step, static_cast<uint64_t>(rank), box);
        ASSERT_FALSE(outcome.error) << outcome.error->message();
        EXPECT_EQ(values, expected(rank, box));
      }
  }
}

TEST_F(StoreRunTest, AnArrayInFortranOrderIsWhatNumPySees) {
  const Shape shape{3, 4, 5};
  std::vector<double> values(60);
  const auto value_at = [](uint64_t i, uint64_t j, uint64_t k) { return static_cast<double>(100 * i + 10 * j + k); };
  for (uint64_t i = 0; i < 3; ++i)
    for (uint64_t j = 0; j < 4; ++j)
      for (uint64_t k = 0; k < 5; ++k) values[i + 3 * (j + 4 * k)] = value_at(i, j, k);
  write(tree() + "/field.npy", format::npy_header("<f8", shape, true) + engine::to_text(values));
  pack_ok(options());
  const auto run = open_ok();
  const auto step = *run->step(0);
  ASSERT_EQ(step->arrays().size(), 1u);
  EXPECT_EQ(step->arrays()[0].shape, shape);
  for (const Box& box : {Box{{0, 0, 0}, shape}, Box{{1, 0, 2}, {2, 3, 1}}, Box{{2, 3, 0}, {1, 1, 5}}}) {
    std::vector<double> read_values(element_count(box.count)), wanted;
    for (uint64_t i = 0; i < box.count[0]; ++i)
      for (uint64_t j = 0; j < box.count[1]; ++j)
        for (uint64_t k = 0; k < box.count[2]; ++k)
          wanted.push_back(value_at(box.begin[0] + i, box.begin[1] + j, box.begin[2] + k));
    const Request request{step.get(), 0, Strided{box, {}}, std::as_writable_bytes(std::span(read_values))};
    EXPECT_FALSE(read({&request, 1}).outcomes[0].error);
    EXPECT_EQ(read_values, wanted);
  }
}

TEST_F(StoreRunTest, ManyThreadsReadAtOnceInLittleMemory) {
  pack_set("set");
  const auto run = open_ok(66 << 20);
  const auto step = *run->step(0);
  std::vector<std::jthread> readers;
  for (int rank = 0; rank < 4; ++rank)
    readers.emplace_back([&, rank] {
      for (uint64_t row = 0; row < kRows; row += 50) {
        const Box box{{row, 0}, {50, kColumns}};
        const auto [outcome, values] = read_box(*step, static_cast<uint64_t>(rank), box);
        ASSERT_FALSE(outcome.error) << outcome.error->message();
        EXPECT_EQ(values, expected(rank, box));
      }
    });
}

TEST_F(StoreRunTest, ADamagedFrameFailsWhatNeedsItAndNamesIt) {
  pack_set("set");
  const auto bytes = std::filesystem::file_size(container_path("set", 0));
  flip_bit(container_path("set", 0), bytes / 2, 3);
  const auto run = open_ok();
  const auto step = *run->step(0);
  int failed = 0;
  for (int rank = 0; rank < 4; ++rank)
    for (uint64_t row = 0; row < kRows; row += 20) {
      const Box box{{row, 0}, {20, kColumns}};
      const auto [outcome, values] = read_box(*step, static_cast<uint64_t>(rank), box);
      if (!outcome.error) {
        EXPECT_EQ(values, expected(rank, box));
        continue;
      }
      ++failed;
      EXPECT_EQ(outcome.error->kind, ErrorKind::corrupt);
      EXPECT_THAT(outcome.error->message(), HasSubstr("step 0: '"));
      EXPECT_THAT(outcome.error->message(), HasSubstr("of rank " + std::to_string(rank)));
      EXPECT_THAT(outcome.error->message(), HasSubstr("frame"));
    }
  EXPECT_GT(failed, 0);
  EXPECT_LT(failed, 120);
}

TEST_F(StoreRunTest, NewSetsAreNewStepsAndRemovedOnesAreSaidToBe) {
  pack_set("one");
  const auto run = open_ok();
  pack_set("two");
  EXPECT_EQ(run->steps().size(), 1u);
  EXPECT_EQ(*run->refresh(), 1u);
  EXPECT_EQ(*run->refresh(), 0u);
  ASSERT_EQ(run->steps().size(), 2u);
  EXPECT_EQ(run->steps()[1].set, "two");

  const auto open = *run->step(1);
  ASSERT_TRUE(open_store().remove("two"));
  const Box box{{0, 0}, {2, 2}};
  EXPECT_EQ(read_box(*open, 0, box).second, expected(0, box));  // what is open stays readable
  ASSERT_TRUE(open_store().remove("one"));
  const auto gone = run->step(0);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind, ErrorKind::changed);
  EXPECT_THAT(gone.error().message(), HasSubstr("its set one was removed"));
  EXPECT_FALSE(run->step(2));
}

}  // namespace
}  // namespace forebay::view
