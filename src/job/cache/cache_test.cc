// Encoding, losses and repairs among caches of several agents, over loopback.
#include "job/cache/cache.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <optional>

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "base/checksum.h"
#include "job/cache/test_cache_node.h"
#include "job/test_job.h"

namespace forebay::job {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kPiece = redundancy::kPieceBytes;

class CacheTest : public TempTest {
 protected:
  // Nodes whose parts have these sizes, in one to three files each.
  void make(const std::vector<uint64_t>& sizes, unsigned losses, std::chrono::milliseconds patience = 5s) {
    group_ = {.id = 0xabcdef0000000001, .losses = losses, .nodes = {}, .sizes = sizes};
    for (uint32_t i = 0; i < sizes.size(); ++i) {
      nodes_.push_back(std::make_unique<CacheNode>("node" + std::to_string(i), stage(i), patience));
      const uint64_t some = sizes[i] / 3;
      nodes_[i]->write_set(i,
                           sizes[i] == 0 ? std::vector<uint64_t>{} : std::vector<uint64_t>{some, 0, sizes[i] - some});
      group_.nodes.push_back(nodes_[i].get());
    }
  }
  std::string stage(uint32_t i) const { return path("stage" + std::to_string(i)); }

  std::vector<wire::ProtectedT> protect() {
    std::vector<std::future<wire::ProtectedT>> answers;
    for (uint32_t i = 0; i < nodes_.size(); ++i) answers.push_back(nodes_[i]->protect(group_.protect(i)));
    std::vector<wire::ProtectedT> all;
    for (auto& answer : answers) all.push_back(answer.get());
    return all;
  }
  void protect_and_seal() {
    for (const auto& answer : protect()) ASSERT_FALSE(answer.failed) << answer.error;
    for (const auto& node : nodes_) ASSERT_FALSE(node->seal(group_.id).get().failed);
  }
  // Each node's file of the group's member, as text: data, markers, parity.
  std::map<std::string, std::string> content(const CacheNode& node, uint32_t position) const {
    std::map<std::string, std::string> all;
    const std::string set = node.stage() + "/" + kSet;
    const std::string directory = set + "/d" + std::to_string(position);
    if (fs::exists(directory))
      for (const auto& entry : fs::directory_iterator(directory)) {
        struct stat info{};
        EXPECT_EQ(::stat(entry.path().c_str(), &info), 0);
        all[entry.path().filename()] = read_text(entry.path()) + "|" + std::to_string(info.st_mode) + "|" +
                                       std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec);
      }
    all["marker"] = read_text(marker_path(node.stage(), kSet, position));
    const StoredEncodings stored(node.stage());
    all["parity"] = read_text(stored.parity_path({group_.id, 0, position}));
    EXPECT_FALSE(all["marker"].empty());
    return all;
  }
  // The node is gone, with all that it had; another one is in its place.
  void lose(uint32_t i) {
    nodes_[i].reset();
    fs::remove_all(stage(i));
    nodes_[i] = std::make_unique<CacheNode>("other" + std::to_string(i), stage(i));
    group_.nodes[i] = nodes_[i].get();
  }
  void restart(uint32_t i) {
    nodes_[i].reset();
    nodes_[i] = std::make_unique<CacheNode>("node" + std::to_string(i), stage(i));
    group_.nodes[i] = nodes_[i].get();
  }
  std::vector<wire::RepairedT> repair(const std::vector<uint32_t>& lost,
                                      const std::vector<wire::BadPiecesT>& bad = {}) {
    std::vector<CacheNode*> holders;
    for (const auto& node : nodes_) holders.push_back(node.get());
    return repair(holders, lost, bad);
  }
  std::vector<wire::RepairedT> repair(const std::vector<CacheNode*>& holders, const std::vector<uint32_t>& lost,
                                      const std::vector<wire::BadPiecesT>& bad) {
    std::vector<std::future<wire::RepairedT>> answers;
    std::set<CacheNode*> agents(holders.begin(), holders.end());
    std::vector<std::pair<CacheNode*, wire::RepairT>> orders;
    for (CacheNode* agent : agents) orders.emplace_back(agent, group_.repair(holders, agent, lost, bad));
    for (auto& [agent, order] : orders) answers.push_back(agent->repair(std::move(order)));
    // As the coordinator does: where one has failed, the others are told a little later that nobody waits for them.
    std::vector<std::optional<wire::RepairedT>> all(answers.size());
    std::optional<std::chrono::steady_clock::time_point> failed_at;
    while (std::ranges::any_of(all, [](const auto& one) { return !one; })) {
      for (size_t i = 0; i < all.size(); ++i) {
        if (all[i] || answers[i].wait_for(2ms) != std::future_status::ready) continue;
        all[i] = answers[i].get();
        if (all[i]->failed && !failed_at) failed_at = std::chrono::steady_clock::now();
      }
      if (failed_at && std::chrono::steady_clock::now() > *failed_at + 200ms)
        for (CacheNode* agent : agents) agent->cancel_repair(group_.id + 1);
    }
    std::vector<wire::RepairedT> told;
    for (auto& one : all) told.push_back(std::move(*one));
    return told;
  }
  void expect_clean() {
    for (const auto& node : nodes_) {
      const auto checked = node->check_cached(group_.id);
      EXPECT_FALSE(checked.failed) << checked.error;
      EXPECT_THAT(checked.bad, IsEmpty()) << node->name();
    }
  }
  // Another byte, without a trace in the times of the file.
  static void flip(const std::string& file, uint64_t offset) {
    struct stat info{};
    ASSERT_EQ(::stat(file.c_str(), &info), 0) << file;
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(stream.get() ^ 1);
    stream.seekp(static_cast<std::streamoff>(offset));
    stream.put(byte);
    stream.close();
    const timespec times[2] = {info.st_atim, info.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }

  std::vector<std::unique_ptr<CacheNode>> nodes_;
  TestGroup group_;
};

struct Shape {
  std::vector<uint64_t> sizes;
  unsigned losses;
};

class CacheShapes : public CacheTest, public testing::WithParamInterface<Shape> {};

INSTANTIATE_TEST_SUITE_P(Groups, CacheShapes,
                         testing::Values(Shape{{3 * kPiece + 5, 2 * kPiece}, 1},                // partner
                                         Shape{{4 * kPiece, 5 * kPiece + 17, 1}, 1},            // xor
                                         Shape{{9 * kPiece, 0, 3 * kPiece + 1, 7, 40'000}, 2},  // rs
                                         Shape{{100, 100, 100, 100}, 3}, Shape{{40 * kPiece, 40 * kPiece}, 1}));

TEST_P(CacheShapes, AnyLossIsRepaired) {
  make(GetParam().sizes, GetParam().losses);
  protect_and_seal();
  expect_clean();
  std::vector<std::map<std::string, std::string>> before;
  for (uint32_t i = 0; i < nodes_.size(); ++i) before.push_back(content(*nodes_[i], i));
  // Each run of as many neighbours as may be lost.
  const auto n = static_cast<uint32_t>(nodes_.size());
  for (uint32_t first = 0; first < n; ++first) {
    std::vector<uint32_t> lost;
    for (uint32_t i = 0; i < GetParam().losses; ++i) lost.push_back((first + i) % n);
    for (const uint32_t i : lost) lose(i);
    for (const auto& answer : repair(lost)) ASSERT_FALSE(answer.failed) << answer.error;
    for (uint32_t i = 0; i < n; ++i) EXPECT_TRUE(content(*nodes_[i], i) == before[i]) << i << " of " << first;
    expect_clean();
    for (const uint32_t i : lost) {
      const auto offered = nodes_[i]->offer();
      ASSERT_EQ(offered.size(), 1u);
      EXPECT_TRUE(offered[0]->is_encoded);
      EXPECT_FALSE(offered[0]->is_sealed);
      EXPECT_NE(offered[0]->members[i]->data, 0u);
      EXPECT_NE(offered[0]->members[i]->parity, 0u);
    }
  }
}

TEST_F(CacheTest, ASurvivorTakesALostMembersPlace) {
  make({3 * kPiece, 2 * kPiece + 9, 4 * kPiece}, 1);
  protect_and_seal();
  const auto before = content(*nodes_[1], 1);
  nodes_[1].reset();
  group_.nodes[1] = nullptr;
  const std::vector<CacheNode*> holders{nodes_[0].get(), nodes_[2].get(), nodes_[2].get()};
  for (const auto& answer : repair(holders, {1}, {})) ASSERT_FALSE(answer.failed) << answer.error;
  EXPECT_TRUE(content(*nodes_[2], 1) == before);
  EXPECT_EQ(nodes_[2]->offer().size(), 2u);
  EXPECT_THAT(nodes_[2]->check_cached(group_.id).bad, IsEmpty());
  // And the agent that is started again has both.
  restart(2);
  EXPECT_EQ(nodes_[2]->offer().size(), 2u);
}

TEST_F(CacheTest, FlippedBytesAreFoundNamedAndRepaired) {
  make({5 * kPiece + 3, 4 * kPiece, 2 * kPiece, 6 * kPiece}, 2);
  protect_and_seal();
  std::vector<std::map<std::string, std::string>> before;
  for (uint32_t i = 0; i < nodes_.size(); ++i) before.push_back(content(*nodes_[i], i));
  flip(nodes_[0]->path("d0/file2"), 3 * kPiece);
  flip(StoredEncodings(stage(3)).parity_path({group_.id, 0, 3}), kPiece + 1);
  std::vector<wire::BadPiecesT> bad;
  for (const auto& node : nodes_)
    for (const auto& pieces : node->check_cached(group_.id).bad) bad.push_back(*pieces);
  ASSERT_EQ(bad.size(), 2u);
  EXPECT_EQ(bad[0].position, 0u);
  EXPECT_EQ(bad[1].position, 3u);
  for (const auto& answer : repair({}, bad)) ASSERT_FALSE(answer.failed) << answer.error;
  for (uint32_t i = 0; i < nodes_.size(); ++i) EXPECT_TRUE(content(*nodes_[i], i) == before[i]) << i;
  expect_clean();
  EXPECT_EQ(nodes_[0]->offer().size(), 1u) << "it is the same file as before";
}

TEST_F(CacheTest, AFlippedByteIsRepairedWhileAnotherMemberIsLost) {
  make({5 * kPiece, 4 * kPiece, 3 * kPiece, 6 * kPiece}, 2);
  protect_and_seal();
  const auto before = content(*nodes_[2], 2), other = content(*nodes_[0], 0);
  lose(2);
  flip(nodes_[0]->path("d0/file2"), 77);
  std::vector<wire::BadPiecesT> bad;
  for (const auto& pieces : nodes_[0]->check_cached(group_.id).bad) bad.push_back(*pieces);
  for (const auto& answer : repair({2}, bad)) ASSERT_FALSE(answer.failed) << answer.error;
  EXPECT_TRUE(content(*nodes_[2], 2) == before);
  EXPECT_TRUE(content(*nodes_[0], 0) == other);
  expect_clean();
}

TEST_F(CacheTest, WhatWasNotFoundBeforeIsFoundByTheRepair) {
  make({5 * kPiece, 4 * kPiece, 3 * kPiece}, 1);
  protect_and_seal();
  lose(2);
  flip(nodes_[0]->path("d0/file0"), 77);
  bool is_named = false;
  const auto answers = repair({2});
  EXPECT_GE(std::ranges::count_if(answers, &wire::RepairedT::failed), 2)
      << "who reads it, and who waits for it; another leader may have done its share before";
  for (const auto& answer : answers)
    is_named |= answer.failed && answer.fault == 0 && answer.error.find("not as it was recorded") != std::string::npos;
  EXPECT_TRUE(is_named);
  EXPECT_THAT(nodes_[2]->left(), IsEmpty());
  EXPECT_FALSE(fs::exists(nodes_[2]->path("d2/file0"))) << "nothing of it has got its name";
}

// Its own part was lost since somebody has removed a file of it; the marker of that rank is of no use any more.
TEST_F(CacheTest, AMarkerWhoseFilesAreGoneGoesWhenAnotherPartIsMadeHere) {
  make({5 * kPiece, 4 * kPiece, 3 * kPiece}, 1);
  protect_and_seal();
  lose(2);
  check(note_begin(stage(2), kSet, 7));
  Marker own{.rank = 9, .ranks = 64, .pid = 1, .step = 7, .files = {{"d9/file0", 100, 1, 0}}};
  const std::string notes = notes_path(stage(2), kSet);
  check(store::write_text(notes, "rank-00000009", encode_marker(own)));
  own.rank = 8;
  own.files.clear();
  check(store::write_text(notes, "rank-00000008", encode_marker(own)));
  check(store::write_text(notes, "rank-00000007", "no marker"));
  for (const auto& answer : repair({2})) ASSERT_FALSE(answer.failed) << answer.error;
  EXPECT_THAT(value(marked_ranks(stage(2), kSet)), testing::ElementsAre(2u, 8u));
}

TEST_F(CacheTest, ADamagedRecordIsNoProtection) {
  make({kPiece, kPiece, kPiece}, 1);
  protect_and_seal();
  const StoredEncodings stored(stage(1));
  flip(stored.directory({group_.id, 0, 1}) + "/record", 200);
  EXPECT_TRUE(nodes_[1]->check_cached(group_.id).failed);
  restart(1);
  EXPECT_THAT(nodes_[1]->offer(), IsEmpty());
  for (const auto& answer : repair({1})) EXPECT_FALSE(answer.failed) << answer.error;
  expect_clean();
}

TEST_F(CacheTest, AFileThatChangesFailsTheEncodingAndIsNamed) {
  make({2 * kPiece, 2 * kPiece, 2 * kPiece}, 1);
  write_text(nodes_[1]->path("d1/file2"), std::string(2 * kPiece - 2 * kPiece / 3, 'x'));
  const auto answers = protect();
  EXPECT_TRUE(answers[1].failed);
  EXPECT_EQ(answers[1].fault, 0xffffffff);
  for (const uint32_t other : {0, 2}) {
    EXPECT_TRUE(answers[other].failed);
    EXPECT_THAT(answers[other].fault, testing::AnyOf(1u, 2u - other)) << "the owner, or who has heard of it before";
    EXPECT_THAT(nodes_[other]->left(), IsEmpty());
  }
}

TEST_F(CacheTest, WhatIsCancelledOrInterruptedLeavesNothing) {
  make({2 * kPiece, 2 * kPiece}, 1, 500ms);
  auto lonely = nodes_[0]->protect(group_.protect(0));  // the other one is never asked
  for (int i = 0; i < 5000 && nodes_[0]->left().empty(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(nodes_[0]->left().size(), 1u);
  nodes_[0]->cancel(group_.id);
  EXPECT_THAT(nodes_[0]->left(), IsEmpty());
  // Killed in the middle: what has no record goes when the agent is started again.
  group_.id += 7;
  auto again = nodes_[0]->protect(group_.protect(0));
  for (int i = 0; i < 5000 && nodes_[0]->left().empty(); ++i) std::this_thread::sleep_for(1ms);
  restart(0);
  EXPECT_THAT(nodes_[0]->left(), IsEmpty());
  EXPECT_TRUE(fs::exists(nodes_[0]->path("d0/file0")));
}

TEST_F(CacheTest, WhatIsSealedSurvivesItsAgentAndItsCancelling) {
  make({2 * kPiece, kPiece}, 1);
  for (const auto& answer : protect()) ASSERT_FALSE(answer.failed) << answer.error;
  restart(1);
  ASSERT_EQ(nodes_[1]->offer().size(), 1u);
  EXPECT_FALSE(nodes_[1]->offer()[0]->is_sealed);
  for (const auto& node : nodes_) EXPECT_FALSE(node->seal(group_.id).get().failed);
  EXPECT_TRUE(nodes_[0]->seal(group_.id + 1).get().failed);
  restart(0);
  for (const auto& node : nodes_) {
    node->cancel(group_.id);
    ASSERT_EQ(node->offer().size(), 1u);
    EXPECT_TRUE(node->offer()[0]->is_sealed);
  }
  expect_clean();
}

TEST_F(CacheTest, AFullDiskFailsTheEncoding) {
  make({8 * kPiece, 8 * kPiece}, 1);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 4 * kPiece, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto answers = protect();
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old);
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(answers[i].failed);
    EXPECT_THAT(answers[i].error, HasSubstr("parity"));
    EXPECT_THAT(nodes_[i]->left(), IsEmpty());
  }
  ++group_.id;  // each attempt has a number of its own
  protect_and_seal();
}

TEST_F(CacheTest, APeerThatHangsIsNamed) {
  make({2 * kPiece, 2 * kPiece}, 1);
  nodes_[0] = std::make_unique<CacheNode>("node0", path("again"), 300ms);
  nodes_[0]->write_set(0, {2 * kPiece});
  group_.nodes[0] = nodes_[0].get();
  HubThread silent;
  silent.serve([](fabric::ConnectionId, const fabric::Frame&) { return Result<void>(); }, [](fabric::ConnectionId) {});
  wire::ProtectT order = group_.protect(0);
  order.members[1]->addresses = silent.addresses();
  const auto answer = nodes_[0]->protect(std::move(order)).get();
  EXPECT_TRUE(answer.failed);
  EXPECT_EQ(answer.fault, 1u) << answer.error;
}

// ---- hostile pieces

class PiecesTest : public CacheTest {
 protected:
  // Node 1 waits for the parity of member 0's row.
  void SetUp() override {
    make({kPiece, kPiece, kPiece, kPiece}, 2);
    answer_ = nodes_[1]->protect(group_.protect(1));
  }
  Bytes frame(PieceFrame piece, size_t bytes) const {
    Bytes all(kPieceRoom + bytes);
    piece.bytes = std::span<const std::byte>(all).subspan(kPieceRoom);
    write_piece_header(std::span<std::byte, kPieceRoom>(all.data(), kPieceRoom), piece);
    return all;
  }
  // What the agent says to these frames and the end.
  Result<wire::MessageT> say(const Bytes& frames, uint32_t from = 0) {
    fabric::Link link = nodes_[1]->link();
    Bytes all = frames;
    wire::PiecesEndT end;
    end.id = group_.id;
    end.position = 1;
    end.from = from;
    wire::encode(all, std::move(end));
    check(link.send(all, 5s));
    for (;;) {
      FOREBAY_TRY(const fabric::Frame answer, link.receive(1 << 20, 5s));
      if (answer.type == kPiecesTaken) continue;
      FOREBAY_TRY(auto message, wire::decode(answer));
      if (message.body.type != wire::Body::Ping) return message;
    }
  }
  std::future<wire::ProtectedT> answer_;
};

struct WrongPiece {
  uint32_t row;
  uint64_t piece, bytes_less, sum_more;
  const char* why;
};
class WrongPieces : public PiecesTest, public testing::WithParamInterface<WrongPiece> {};
INSTANTIATE_TEST_SUITE_P(Pieces, WrongPieces,
                         testing::Values(WrongPiece{0, 7, 0, 0, "does not exist"},
                                         WrongPiece{9, 0, 0, 0, "does not exist"},
                                         WrongPiece{2, 0, 0, 0, "was not asked for"},  // data
                                         WrongPiece{0, 0, 1, 0, "another length"},
                                         WrongPiece{0, 0, 0, 1, "changed on its way"}));

TEST_P(WrongPieces, AreRefused) {
  const WrongPiece& wrong = GetParam();
  const size_t bytes = group_.chunk() - wrong.bytes_less;
  const auto said = say(frame(
      {.to = {group_.id, 0, 1}, .row = wrong.row, .piece = wrong.piece, .sum = crc64(Bytes(bytes)) + wrong.sum_more},
      bytes));
  ASSERT_TRUE(said) << said.error().message();
  ASSERT_NE(said->body.AsRefused(), nullptr);
  EXPECT_THAT(said->body.AsRefused()->message, HasSubstr(wrong.why));
  const auto answer = answer_.get();
  EXPECT_TRUE(answer.failed);
  EXPECT_EQ(answer.fault, 0u);
}

TEST_F(PiecesTest, OfTwoPositionsOverOneConnectionEndIt) {
  Bytes all = frame({.to = {group_.id, 0, 1}}, 10);
  const Bytes other = frame({.to = {group_.id, 0, 2}}, 10);
  all.insert(all.end(), other.begin(), other.end());
  EXPECT_EQ(say(all).error().kind, ErrorKind::disconnected);
}

TEST_F(PiecesTest, OfAnEncodingThatNobodyKnowsAreHeldAndNoMoreThanTheWindow) {
  fabric::Link link = nodes_[1]->link();
  const Bytes piece = frame({.to = {group_.id + 5, 0, 1}}, kPiece);
  Result<void> sent;
  for (uint64_t i = 0; i < kPieceWindow / kMaxPieceBody && sent; ++i) sent = link.send(piece, 5s);
  ASSERT_TRUE(sent);
  EXPECT_EQ(link.receive(1 << 20, 100ms).error().kind, ErrorKind::timeout) << "nothing is taken";
  for (int i = 0; i < 20 && sent; ++i) sent = link.send(piece, 1s);
  EXPECT_EQ(link.receive(1 << 20, 5s).error().kind, ErrorKind::disconnected);
}

}  // namespace
}  // namespace forebay::job
