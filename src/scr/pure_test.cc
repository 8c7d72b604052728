// What the library decides: phases, descriptors, whether a checkpoint is due.
#include <map>
#include <vector>

#include <gmock/gmock.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "scr/aggregator_nodes.h"
#include "scr/descriptors.h"
#include "scr/need.h"
#include "scr/phases.h"
#include "scr/pieces.h"

namespace forebay::scr {
namespace {

using job::wire::Scheme;
using testing::HasSubstr;

std::vector<uint64_t> nodes_with_aggregators(uint64_t nodes, uint64_t ranks_of_node) {
  std::vector<uint64_t> node_of_rank, with;
  for (uint64_t rank = 0; rank < nodes * ranks_of_node; ++rank) node_of_rank.push_back(1000 - rank / ranks_of_node);
  for (uint64_t node = 0; node < nodes; ++node)
    if (has_aggregator(node_of_rank, 1000 - node)) with.push_back(node);
  return with;
}

TEST(ScrAggregators, AreOneForEach32NodesAndTwoAtLeast) {
  EXPECT_THAT(nodes_with_aggregators(1, 4), testing::ElementsAre(0));
  EXPECT_THAT(nodes_with_aggregators(2, 4), testing::ElementsAre(0, 1));
  EXPECT_THAT(nodes_with_aggregators(3, 1), testing::ElementsAre(0, 1));
  EXPECT_THAT(nodes_with_aggregators(64, 1), testing::ElementsAre(0, 32));
  EXPECT_THAT(nodes_with_aggregators(65, 1), testing::ElementsAre(0, 21, 43));
  for (uint64_t nodes = 1; nodes <= 300; ++nodes)
    EXPECT_EQ(nodes_with_aggregators(nodes, 1).size(), aggregators_of(nodes));
  EXPECT_EQ(nodes_with_aggregators(1000, 1).size(), 32u);
}

TEST(ScrPhases, CallsHaveAnOrder) {
  Phases phases;
  EXPECT_THAT(phases.fault(Call::start_output).value(), HasSubstr("call SCR_Init before"));
  EXPECT_FALSE(phases.fault(Call::config_set));
  EXPECT_FALSE(phases.fault(Call::init));
  phases.done(Call::init);
  EXPECT_TRUE(phases.fault(Call::init));
  EXPECT_TRUE(phases.fault(Call::config_set));
  EXPECT_TRUE(phases.fault(Call::complete_output));
  EXPECT_TRUE(phases.fault(Call::complete_restart));
  EXPECT_FALSE(phases.fault(Call::have_restart));
  phases.done(Call::start_output);
  for (const Call call : {Call::start_output, Call::have_restart, Call::start_restart, Call::current, Call::drop,
                          Call::remove, Call::finalize})
    EXPECT_THAT(phases.fault(call).value_or(""), HasSubstr("SCR_Complete_output before"));
  EXPECT_TRUE(phases.fault(Call::complete_restart));
  EXPECT_FALSE(phases.fault(Call::route_file));
  EXPECT_FALSE(phases.fault(Call::need_checkpoint));
  EXPECT_FALSE(phases.fault(Call::complete_output));
  phases.done(Call::complete_output);
  phases.done(Call::start_restart);
  EXPECT_THAT(phases.fault(Call::start_output).value_or(""), HasSubstr("SCR_Complete_restart before"));
  phases.done(Call::complete_restart);
  EXPECT_FALSE(phases.fault(Call::finalize));
  phases.done(Call::finalize);
  EXPECT_TRUE(phases.fault(Call::finalize));
  EXPECT_TRUE(phases.fault(Call::should_exit));
}

Config config_with(std::initializer_list<const char*> calls) {
  Config config([](const char*) -> const char* { return nullptr; });
  for (const char* call : calls) EXPECT_TRUE(config.call(call));
  return config;
}

TEST(ScrDescriptors, WithoutLinesTheKeysSay) {
  const auto plain = descriptors_of(config_with({})).value();
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_TRUE(plain[0].is_bypass);
  EXPECT_EQ(plain[0].scheme, Scheme::xor_);
  EXPECT_EQ(plain[0].level, "");
  const auto set =
      descriptors_of(config_with({"SCR_COPY_TYPE=rs", "SCR_SET_FAILURES=3", "SCR_CACHE_BYPASS=0"})).value();
  EXPECT_FALSE(set[0].is_bypass);
  EXPECT_EQ(set[0].scheme, Scheme::rs);
  EXPECT_EQ(set[0].losses, 3u);
}

TEST(ScrDescriptors, TheLargestIntervalThatFitsServes) {
  const auto all =
      descriptors_of(
          config_with({"CKPT=0 INTERVAL=1 TYPE=SINGLE BYPASS=0", "CKPT=1 INTERVAL=4 TYPE=XOR STORE=/ssd GROUP=SWITCH",
                       "CKPT=2 INTERVAL=8 TYPE=RS SET_FAILURES=3", "CKPT=3 INTERVAL=1000 OUTPUT=1 TYPE=PARTNER"}))
          .value();
  EXPECT_EQ(choose(all, 3, false)->id, "0");
  EXPECT_EQ(choose(all, 4, false)->id, "1");
  EXPECT_EQ(choose(all, 4, false)->level, "/ssd");
  EXPECT_EQ(choose(all, 4, false)->failure_group, "SWITCH");
  EXPECT_EQ(choose(all, 16, false)->id, "2");
  EXPECT_EQ(choose(all, 16, true)->id, "3");
  EXPECT_FALSE(choose(descriptors_of(config_with({"CKPT=0 INTERVAL=2"})).value(), 3, false));
}

TEST(ScrDescriptors, FaultsNameLineAndItem) {
  const auto what = [](const char* call) { return descriptors_of(config_with({call})).error().message(); };
  EXPECT_THAT(what("CKPT=5 TYPE=XORR"), HasSubstr("CKPT=5 TYPE=XORR"));
  EXPECT_THAT(what("CKPT=5 INTERVAL=0"), HasSubstr("INTERVAL=0"));
  EXPECT_THAT(what("CKPT=5 SETSIZE=8"), HasSubstr("SETSIZE"));
}

TEST(ScrNeed, ByCallsSecondsOrOverhead) {
  EXPECT_TRUE(need_checkpoint({}, {.calls = 1})) << "no rule: always";
  EXPECT_FALSE(need_checkpoint({.interval = 3}, {.calls = 2}));
  EXPECT_TRUE(need_checkpoint({.interval = 3}, {.calls = 6}));
  EXPECT_FALSE(need_checkpoint({.seconds = 10}, {.since_last = 9}));
  EXPECT_TRUE(need_checkpoint({.seconds = 10}, {.since_last = 10}));
  EXPECT_TRUE(need_checkpoint({.overhead = 10}, {}));
  EXPECT_FALSE(need_checkpoint({.overhead = 10}, {.running = 100, .checkpoints = 10, .count = 2}));
  EXPECT_TRUE(need_checkpoint({.overhead = 10}, {.running = 145, .checkpoints = 10, .count = 2}));
}

// A file of one rank, one of three, and one of all five, which is empty.
std::vector<PrefixFile> files_of_five_ranks(uint64_t size) {
  std::vector<PrefixFile> files;
  for (uint32_t rank = 0; rank < 5; ++rank) {
    files.push_back({.name = "own." + std::to_string(rank), .size = size, .rank = rank});
    if (rank % 2 == 0) files.push_back({.name = "shared", .size = size, .rank = rank});
    files.push_back({.name = "empty", .size = 0, .rank = rank});
  }
  return files;
}

TEST(ScrPieces, EachByteIsOneRanks) {
  for (const uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 20, (uint64_t{7} << 20) + 3})
    for (const uint32_t ranks : {1u, 2u, 5u, 9u}) {
      std::map<std::string, uint64_t> next;  // the pieces of a file follow upon each other
      std::map<std::pair<std::string, uint64_t>, uint64_t> pieces;
      for (uint32_t rank = 0; rank < ranks; ++rank)
        for (const Piece& piece : pieces_of(files_of_five_ranks(size), rank, ranks)) {
          EXPECT_EQ(piece.file.rank % ranks, rank);
          EXPECT_EQ(piece.is_shared, !piece.file.name.starts_with("own"));
          if (piece.bytes > 0) pieces[{piece.file.name, piece.offset}] = piece.bytes;
        }
      for (const auto& [at, bytes] : pieces) {
        EXPECT_EQ(next[at.first], at.second) << at.first;
        next[at.first] += bytes;
      }
      for (const PrefixFile& file : files_of_five_ranks(size)) EXPECT_EQ(next[file.name], file.size) << file.name;
    }
}

TEST(ScrPieces, ALargeFileIsSharedAmongAllThatWroteIt) {
  for (const uint32_t rank : {0u, 2u, 4u})
    for (const Piece& piece : pieces_of(files_of_five_ranks(uint64_t{30} << 20), rank, 5))
      EXPECT_TRUE(piece.file.name != "shared" || piece.bytes == uint64_t{10} << 20) << piece.bytes;
}

TEST(ScrPieces, ChecksumsOfPiecesAreJoined) {
  const Bytes bytes(uint64_t{5} << 20, std::byte{7});
  std::vector<PrefixFile> files;
  for (uint32_t rank = 0; rank < 5; ++rank)
    for (const Piece& piece : pieces_of(files_of_five_ranks(bytes.size()), rank, 5)) {
      FileCrc crc(piece.file.size);
      crc.add(piece.offset, std::span(bytes).subspan(piece.offset, piece.bytes));
      files.push_back(piece.file);
      files.back().crc64 = crc.value();
    }
  for (const PrefixFile& file : joined(files))
    EXPECT_EQ(file.crc64, file.size == 0 ? crc64({}) : crc64(bytes)) << file.name;
}

TEST(ScrPieces, SharedFilesHaveTheSizeThatTheLastWriterSaw) {
  const auto shared = shared_of({{"a", 1, 0, 0}, {"b", 2, 0, 0}, {"b", 4, 0, 1}, {"b", 3, 0, 2}});
  EXPECT_EQ(shared, (std::vector<PrefixFile>{{"b", 4, 0, 0}, {"b", 4, 0, 1}, {"b", 4, 0, 2}}));
}

}  // namespace
}  // namespace forebay::scr
