// Sets whose frames were predicted from those of the set before.
#include <gmock/gmock.h>

#include "engine/inspect/diff.h"
#include "engine/inspect/rebase.h"
#include "engine/inspect/repair.h"
#include "engine/set/frame_parts.h"
#include "engine/set/parent_frames.h"
#include "engine/test_sets.h"

namespace forebay::engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uint64_t kRows = 300, kColumns = 400;  // more than one entry of every profile
constexpr int kRanks = 4;

class PredictedTest : public SetTest {
 protected:
  // Noise, whose last bits change with each step.
  static std::vector<double> noise(int rank, int step, uint64_t seed = 1) {
    std::vector<double> values(kRows * kColumns);
    uint64_t state = seed * 1000 + static_cast<uint64_t>(rank) + 1;
    const auto next = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
    for (double& value : values) {
      value = (static_cast<double>(next() >> 11) * 0x1p-53 - 0.5) * 8;
      value += static_cast<double>(step) * (static_cast<double>(next() >> 40) * 0x1p-24 - 0.5) * 1e-9;
    }
    return values;
  }

  void write_step(int step, uint64_t seed = 1) const {
    for (int rank = 0; rank < kRanks; ++rank)
      write(tree() + "/dump." + std::to_string(rank) + ".npy", npy_file(noise(rank, step, seed), {kRows, kColumns}));
  }

  PackReport pack_as(const std::string& name, const std::string& parent, const std::string& profile = "fast") const {
    PackOptions options = this->options("auto", profile);
    options.name = name;
    options.parent = parent;
    options.group_size = 2;
    return pack_ok(options);
  }

  void pack_steps(const std::vector<std::string>& names, const std::string& profile = "fast") const {
    std::string parent;
    for (size_t i = 0; i < names.size(); ++i) {
      write_step(static_cast<int>(i));
      pack_as(names[i], parent, profile);
      parent = names[i];
    }
  }

  size_t predicted(const std::string& set) const {
    size_t count = 0;
    for (const OpenContainer& container : open(set).containers)
      for (uint32_t number = 0; number < container.index().frames.size(); ++number)
        count += is_predicted_from_before(container, number) ? 1 : 0;
    return count;
  }

  void expect_restores(const std::string& set) const {
    const auto restored = restore_to("back-" + set, set);
    ASSERT_TRUE(restored) << restored.error().message();
    EXPECT_EQ(expect_subset("back-" + set), static_cast<size_t>(kRanks));
  }
};

TEST_F(PredictedTest, OnlyWhatDiffersIsStored) {
  for (const char* profile : {"fast", "balanced", "max"}) {
    const std::string a = std::string("a-") + profile, b = std::string("b-") + profile;
    pack_steps({a, b}, profile);
    EXPECT_GE(predicted(b), 2u);
    EXPECT_EQ(parents_of_set(b), std::vector<std::string>{a});
    EXPECT_LT(bytes_of(b) * 3, bytes_of(a) * 2) << profile;
    EXPECT_TRUE(verify_ok(b).intact());
    expect_restores(b);
  }
}

TEST_F(PredictedTest, ProfilesThatDoNotPredictStoreItAll) {
  for (const char* profile : {"gzip", "none", "shuffle,zstd:1"}) {
    const std::string a = std::string("a-") + profile[0], b = std::string("b-") + profile[0];
    pack_steps({a, b}, profile);
    EXPECT_EQ(predicted(b), 0u) << profile;
  }
}

TEST_F(PredictedTest, WhatHasNothingInCommonIsStoredAlone) {
  for (const char* profile : {"fast", "balanced", "max"}) {
    const std::string suffix = std::string("-") + profile;
    write_step(0);
    pack_as("a" + suffix, "", profile);
    write_step(0, 77);
    pack_as("alone" + suffix, "", profile);
    pack_as("b" + suffix, "a" + suffix, profile);
    EXPECT_EQ(predicted("b" + suffix), 0u);
    EXPECT_EQ(bytes_of("b" + suffix), bytes_of("alone" + suffix));
  }
}

TEST_F(PredictedTest, FramesArePredictedFromFramesThatNeedNoOtherSet) {
  pack_steps({"a", "b", "c"});
  EXPECT_EQ(parents_of_set("c"), std::vector<std::string>{"a"});
  EXPECT_GE(predicted("c"), 2u);
  fs::remove_all(set_path("b"));
  EXPECT_TRUE(verify_ok("c").intact());
  expect_restores("c");
}

TEST_F(PredictedTest, EveryPartIsThatOfTheFrame) {
  pack_steps({"a", "b"}, "balanced");
  const OpenSet set = open("b");
  size_t parts_seen = 0;
  for (const OpenContainer& container : set.containers)
    for (uint32_t number = 0; number < container.index().frames.size(); ++number) {
      const auto frame = read_frame(container, number);
      ASSERT_TRUE(frame) << frame.error().message();
      const auto parts = find_parts(container, number);
      ASSERT_TRUE(parts) << parts.error().message();
      for (size_t part = 0; part < parts->count(); ++part) {
        const auto raw = read_parts(container, number, *parts, part, 1);
        ASSERT_TRUE(raw) << raw.error().message();
        const auto expected = frame->raw.span().subspan(parts->begin_of(part), parts->bytes_of(part));
        EXPECT_TRUE(std::ranges::equal((*raw)[0].span(), expected));
        parts_seen += is_predicted_from_before(container, number) ? 1 : 0;
      }
    }
  EXPECT_GE(parts_seen, 8u);
}

TEST_F(PredictedTest, ALostSetBeforeIsReported) {
  pack_steps({"a", "b"});
  fs::remove_all(set_path("a"));
  const auto report = verify_ok("b");
  ASSERT_FALSE(report.intact());
  for (const Damage& damage : report.damages) {
    EXPECT_THAT(damage.what, HasSubstr("of a/0000"));
    EXPECT_THAT(damage.what, HasSubstr("which is missing"));
    EXPECT_TRUE(damage.is_derived);
  }
  EXPECT_EQ(restore_to("back", "b").error().kind, ErrorKind::corrupt);
}

TEST_F(PredictedTest, AnotherSetOfTheNameIsNotTheOneBefore) {
  pack_steps({"a", "b"});
  fs::remove_all(set_path("a"));
  write_step(5, 3);
  pack_as("a", "");
  EXPECT_FALSE(verify_ok("b").intact());
  EXPECT_EQ(restore_to("back", "b").error().kind, ErrorKind::corrupt);
}

TEST_F(PredictedTest, DamageBeforeIsReportedForBoth) {
  pack_steps({"a", "b"});
  const auto set = open("a");
  const auto& frames = set.containers[0].index().frames;
  const auto largest = std::ranges::max_element(frames, {}, &container::FrameEntry::encoded_bytes);
  flip_bit(container_path("a", 0), largest->record_offset + 2000, 3);
  EXPECT_FALSE(verify_ok("a").intact());
  const auto report = verify_ok("b");
  ASSERT_EQ(report.damages.size(), 1u);
  EXPECT_THAT(report.damages[0].what, HasSubstr("which is damaged"));
  // The frame is stored alone from now on.
  write_step(2);
  EXPECT_THAT(pack_as("c", "b").remarks, testing::Contains(HasSubstr("a/00000-of-00002.fbc cannot be read back")));
  EXPECT_TRUE(verify_ok("c").intact());
  expect_restores("c");
}

TEST_F(PredictedTest, ARebasedSetNeedsTheOtherOneNoMore) {
  pack_steps({"a", "b"}, "balanced");
  const auto report = rebase(open_store(), "b", {"a"}, resources());
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_GE(report->frames, 2u);
  ASSERT_TRUE(open_store().remove("a"));
  EXPECT_TRUE(parents_of_set("b").empty());
  write_step(1);
  pack_as("alone", "", "balanced");
  EXPECT_LE(bytes_of("b"), bytes_of("alone") + 64) << "it is encoded as it would have been without a parent";
  EXPECT_TRUE(verify_ok("b").intact());
  expect_restores("b");
}

TEST_F(PredictedTest, ARepairedSetKeepsWhatItNeeds) {
  pack_steps({"a", "b"});
  fs::resize_file(container_path("b", 0), fs::file_size(container_path("b", 0)) - 10);  // the trailer
  flip_bit(set_path("b") + "/manifest", 60, 1);
  const auto report = repair(open_store(), "b", "fixed", resources());
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(report->lost_files.empty());
  EXPECT_EQ(parents_of_set("fixed"), std::vector<std::string>{"a"});
  EXPECT_TRUE(verify_ok("fixed").intact());
  expect_restores("fixed");
}

TEST_F(PredictedTest, ARepairDoesNotTakeWhatNeedsALostSetForWhole) {
  pack_steps({"a", "b"});
  fs::remove(container_path("a", 1));
  const auto report = repair(open_store(), "b", "fixed", resources());
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->whole_files.size(), 2u);
  ASSERT_EQ(report->lost_files.size(), 2u);
  EXPECT_THAT(report->lost_files[0], HasSubstr("of a/00001-of-00002.fbc, which is missing"));
}

TEST_F(PredictedTest, TheSmallestBudgetIsEnough) {
  write_step(0);
  PackOptions options = this->options("auto", "balanced");
  options.resources.memory_bytes = 64 << 20;
  options.group_size = 2;
  for (int step = 0; step < 2; ++step) {
    write_step(step);
    options.name = step == 0 ? "a" : "b";
    pack_ok(options);
    options.parent = options.name;
  }
  EXPECT_GE(predicted("b"), 2u);
  ASSERT_TRUE(restore({.store = store_path(),
                       .name = "b",
                       .target = path("back"),
                       .only = {},
                       .overwrite = true,
                       .resources = {.memory_bytes = 64 << 20, .threads = 2, .progress = {}}}));
  EXPECT_EQ(expect_subset("back"), static_cast<size_t>(kRanks));
}

TEST_F(PredictedTest, DiffSeesTheValues) {
  pack_steps({"a", "b"});
  EXPECT_EQ(diff(find("a"), find("b"), resources())->files.size(), static_cast<size_t>(kRanks));
  EXPECT_TRUE(diff(find("b"), find("b"), resources())->files.empty());
}

}  // namespace
}  // namespace forebay::engine
