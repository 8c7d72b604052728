#include "job/coordinator/rank_groups.h"

#include <gmock/gmock.h>

#include "job/coordinator/test_coordinator.h"

namespace forebay::job {
namespace {

using testing::ElementsAre;

Part part_of(wire::OfferT offer, const std::string& node) {
  Part part = value(make_part(offer));
  part.session = 1;
  part.node = part.host = node;
  return part;
}

wire::OfferT named(std::vector<std::string> names, std::vector<int> ranks = {}) {
  wire::OfferT offer;
  offer.set = "s";
  for (size_t i = 0; i < names.size(); ++i)
    offer.files.push_back(offered_file(names[i], i < ranks.size() ? ranks[i] : -1));
  return offer;
}

std::vector<std::string> names_of(const RankGroup& group) {
  std::vector<std::string> names;
  for (const GroupFile& one : group.files) names.push_back(one.part->files[one.file].file->name);
  return names;
}

// In steps of so few files that it is left off everywhere.
Result<Groups> cut_groups(Parts& parts, uint64_t group_size) {
  GroupCutter cutter(parts, group_size);
  for (;;) {
    FOREBAY_TRY(const bool done, cutter.work(1));
    if (done) return cutter.take();
  }
}

TEST(GroupSize, GivesEachStreamAContainerOfALargeSet) {
  constexpr uint64_t kGigabyte = 1'000'000'000;
  EXPECT_EQ(group_size_for_streams(64, 64, kGigabyte, 4), 8u);
  EXPECT_EQ(group_size_for_streams(64, 10, kGigabyte, 4), 2u);
  EXPECT_EQ(group_size_for_streams(64, 2, kGigabyte, 4), 1u);
  EXPECT_EQ(group_size_for_streams(64, 100'000, 1000 * kGigabyte, 4000), 64u) << "there are enough containers";
  EXPECT_EQ(group_size_for_streams(2, 64, kGigabyte, 4), 2u);
}

TEST(GroupSize, StaysWhereMoreContainersWouldNotPay) {
  EXPECT_EQ(group_size_for_streams(64, 64, 1'000'000, 4), 64u) << "a small set";
  EXPECT_EQ(group_size_for_streams(64, 64, 50'000'000, 4), 32u) << "two containers are large enough";
  EXPECT_EQ(group_size_for_streams(64, 64, 1'000'000'000, 1), 64u) << "one stream";
  EXPECT_EQ(group_size_for_streams(64, 0, 1'000'000'000, 4), 64u) << "ranks that are not known";
}

TEST(CutGroups, AreInRankOrderOverAllNodes) {
  Parts parts;
  parts.emplace("a", part_of(offer_of("s", {4, 0, 2}, 5, 1), "a"));
  parts.emplace("b", part_of(offer_of("s", {3, 1}, 5, 2), "b"));
  const Groups cut = value(cut_groups(parts, 2));
  EXPECT_EQ(cut.ranks, 5u);
  EXPECT_EQ(cut.files, 5u);
  ASSERT_EQ(cut.groups.size(), 3u);
  EXPECT_THAT(names_of(cut.groups[0]), ElementsAre("rank0", "rank1"));
  EXPECT_THAT(names_of(cut.groups[1]), ElementsAre("rank2", "rank3"));
  EXPECT_THAT(names_of(cut.groups[2]), ElementsAre("rank4"));
  EXPECT_EQ(cut.groups[1].first_rank, 2u);
  EXPECT_EQ(cut.groups[1].home, "b");  // its file is larger by a byte
  EXPECT_EQ(cut.groups[2].home, "a");
  EXPECT_EQ(cut.bytes, 5u * 100 + 10);
}

TEST(CutGroups, TakesRanksFromNamesIfNobodyKnowsThem) {
  Parts parts;
  parts.emplace("a", part_of(named({"cpu0012", "log"}), "a"));
  parts.emplace("b", part_of(named({"cpu0003", "cpu0007"}), "b"));
  const Groups cut = value(cut_groups(parts, 1));
  ASSERT_EQ(cut.groups.size(), 3u);
  EXPECT_THAT(names_of(cut.groups[0]), ElementsAre("cpu0003", "log"));
  EXPECT_THAT(names_of(cut.groups[1]), ElementsAre("cpu0007"));
  EXPECT_THAT(names_of(cut.groups[2]), ElementsAre("cpu0012"));
}

TEST(CutGroups, AFileOfNoRankStaysOnItsNode) {
  Parts parts;
  parts.emplace("a", part_of(named({"x"}, {0}), "a"));
  parts.emplace("b", part_of(named({"shared", "y", "z"}, {-1, 2, 1}), "b"));
  const Groups cut = value(cut_groups(parts, 1));
  EXPECT_THAT(names_of(cut.groups[1]), ElementsAre("shared", "z"));
}

TEST(CutGroups, OneDirectoryOnManyNodesIsOne) {
  const auto with_directory = [](const std::string& file) {
    wire::OfferT offer = named({file, "dir"});
    offer.files[1]->kind = static_cast<uint8_t>(FileKind::directory);
    offer.files[1]->size = 0;
    return offer;
  };
  Parts parts;
  parts.emplace("a", part_of(with_directory("dir/0"), "a"));
  parts.emplace("b", part_of(with_directory("dir/1"), "b"));
  EXPECT_EQ(value(cut_groups(parts, 8)).files, 3u);
}

TEST(CutGroups, OneMarkerOnManyNodesIsOne) {
  const auto with_marker = [](const std::string& file, uint64_t marker) {
    wire::OfferT offer = named({file, "DONE"});
    offer.files[1]->marker = marker;
    return offer;
  };
  Parts parts;
  parts.emplace("a", part_of(with_marker("x", 7), "node-a"));
  parts.emplace("b", part_of(with_marker("y", 7), "node-b"));
  const Groups cut = value(cut_groups(parts, 8));
  EXPECT_EQ(cut.files, 3u);
  EXPECT_EQ(cut.ranks, 3u) << "without numbers each name is a rank of its own";
  Parts differ;
  differ.emplace("a", part_of(with_marker("x", 7), "node-a"));
  differ.emplace("b", part_of(with_marker("y", 8), "node-b"));
  const Error error_of_markers = error(cut_groups(differ, 8));
  EXPECT_EQ(error_of_markers.path, "DONE");
  EXPECT_THAT(error_of_markers.what, testing::HasSubstr("the same bytes"));
  Parts half;
  half.emplace("a", part_of(with_marker("x", 7), "node-a"));
  half.emplace("b", part_of(with_marker("y", 0), "node-b"));
  EXPECT_FALSE(cut_groups(half, 8)) << "one of them is a file";
}

TEST(CutGroups, WhatWasMadeAgainOfOneWritingIsOneFile) {
  Parts parts;
  parts.emplace("a", part_of(named({"x", "y"}, {0, 1}), "node-a"));
  parts.emplace("b", part_of(named({"y"}, {1}), "node-b"));
  for (auto& [node, part] : parts) part.write = 9;
  const Groups cut = value(cut_groups(parts, 8));
  EXPECT_EQ(cut.files, 2u);
  parts.at("b").write = 8;
  EXPECT_THAT(error(cut_groups(parts, 8)).message(), HasSubstr("both have it")) << "of two writings";
  parts.at("b").write = 9;
  parts.at("b").files[0].file->mtime_s += 1;
  EXPECT_THAT(error(cut_groups(parts, 8)).message(), HasSubstr("both have it"));
}

TEST(CutGroups, RefusesTwoFilesOfOneNameAndSetsOfNothing) {
  Parts parts;
  EXPECT_FALSE(cut_groups(parts, 8));
  parts.emplace("a", part_of(named({"x"}), "node-a"));
  parts.emplace("b", part_of(named({"x"}), "node-b"));
  const Error twice = error(cut_groups(parts, 8));
  EXPECT_EQ(twice.path, "x");
  EXPECT_THAT(twice.what, testing::AllOf(testing::HasSubstr("node-a"), testing::HasSubstr("node-b")));
  Parts differ;
  differ.emplace("a", part_of(offer_of("s", {0}, 2, 1), "a"));
  differ.emplace("b", part_of(offer_of("s", {1}, 3, 1), "b"));
  EXPECT_FALSE(cut_groups(differ, 8));
}

TEST(CutGroups, IsTheSameInStepsOfAnySize) {
  constexpr uint32_t kRanks = 3000, kNodes = 7;
  const auto cut = [](size_t step) {
    Parts parts;
    for (uint32_t node = 0; node < kNodes; ++node) {
      wire::OfferT offer = named({"dir"});
      offer.ranks = kRanks;
      offer.files[0]->kind = static_cast<uint8_t>(FileKind::directory);
      for (uint32_t rank = node; rank < kRanks; rank += kNodes)
        for (const char* name : {"b", "a"})
          offer.files.push_back(offered_file("dir/" + std::to_string(rank) + name, static_cast<int>(rank)));
      const std::string name = "node" + std::to_string(node);
      parts.emplace(name, part_of(std::move(offer), name));
    }
    GroupCutter cutter(parts, 64);
    uint32_t steps = 1;
    while (!value(cutter.work(step))) ++steps;
    std::vector<std::string> names;
    Groups groups = cutter.take();
    for (const RankGroup& group : groups.groups)
      for (std::string& name : names_of(group)) names.push_back(std::move(name));
    return std::tuple(std::move(names), groups.files, groups.bytes, groups.groups.size(), steps);
  };
  const auto at_once = cut(1'000'000), bit_by_bit = cut(100);
  EXPECT_EQ(std::get<0>(at_once), std::get<0>(bit_by_bit));
  EXPECT_EQ(std::get<0>(at_once)[0], "dir") << "once, with rank 0";
  EXPECT_EQ(std::get<1>(at_once), 2u * kRanks + 1);
  EXPECT_EQ(std::get<1>(bit_by_bit), 2u * kRanks + 1);
  EXPECT_EQ(std::get<2>(at_once), std::get<2>(bit_by_bit));
  EXPECT_EQ(std::get<3>(at_once), 47u);
  EXPECT_EQ(std::get<4>(at_once), 1u);
  EXPECT_GT(std::get<4>(bit_by_bit), 100u) << "three times over all files";
}

TEST(MakeTask, NamesFilesAsTheyWereOffered) {
  Parts parts;
  parts.emplace("a", part_of(offer_of("s", {2, 0}, 3, 77), "a"));
  parts.emplace("b", part_of(offer_of("s", {1}, 3, 88), "b"));
  const Groups cut = value(cut_groups(parts, 64));
  const wire::TaskT task = make_task(cut.groups[0]);
  ASSERT_EQ(task.peers.size(), 2u);
  ASSERT_EQ(task.files.size(), 3u);
  const auto file_of_rank_2 = std::ranges::find_if(task.files, [](const auto& f) { return f->file->rank == 2; });
  EXPECT_EQ((*file_of_rank_2)->index, 0u);
  EXPECT_EQ(task.peers[(*file_of_rank_2)->peer]->exposure, 77u);
  wire::OfferT again = offer_of("s", {0, 2}, 3, 99);
  renew(parts.at("a"), part_of(std::move(again), "a"));
  const wire::TaskT renewed = make_task(cut.groups[0]);
  const auto found = std::ranges::find_if(renewed.files, [](const auto& f) { return f->file->rank == 2; });
  EXPECT_EQ((*found)->index, 1u);
  EXPECT_EQ(renewed.peers[(*found)->peer]->exposure, 99u);
}

}  // namespace
}  // namespace forebay::job
