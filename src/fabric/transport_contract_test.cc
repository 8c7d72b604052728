// What every transport promises, whichever way its bytes take.
#include <filesystem>
#include <list>
#include <random>

#include <gmock/gmock.h>

#include "fabric/data_wire.h"
#include "fabric/test_agent.h"

namespace forebay::fabric {
namespace {

using namespace testing_support;
using testing::HasSubstr;

enum class Kind { node, stream_unix, stream_tcp, stream_encrypted, ucx };

constexpr size_t kLarge = 64u << 20;

class TransportTest : public testing::TestWithParam<Kind> {
 protected:
  TransportTest() {
    for (const size_t size : {size_t{100'000}, size_t{0}, size_t{5'000'000}}) add_file(size);
  }

  static const char* transport_name() {
    return GetParam() == Kind::ucx ? "ucx" : GetParam() == Kind::stream_encrypted ? "encrypted" : "stream";
  }

  bool through_a_process() const { return GetParam() >= Kind::stream_unix; }

  void add_file(size_t size) {
    paths_.push_back(directory_ / ("file" + std::to_string(paths_.size())));
    contents_.push_back(random_bytes(size, static_cast<unsigned>(paths_.size())));
    write_file(paths_.back(), contents_.back());
  }

  void offer() {
    if (through_a_process()) {
      const Address listen = GetParam() == Kind::stream_unix ? unix_address() : tcp_address();
      agent_.emplace(listen, paths_, transport_name());
      exposure_ = agent_->exposure();
    } else {
      files_ = expose(paths_);
      exposure_ = 1;
    }
  }

  std::unique_ptr<Transport> transport(Link::Patience patience = 10s) {
    switch (GetParam()) {
      case Kind::node:
        return node_transport([this](uint64_t exposure) -> Result<std::vector<ExposedFile>> {
          if (exposure != exposure_) return fail(ErrorKind::not_found, "no such exposure");
          return files_;
        });
      case Kind::ucx: {
        auto transport = ucx_transport(agent_->link(), patience);
        EXPECT_TRUE(transport) << transport.error().message();
        return std::move(*transport);
      }
      default:
        return stream_transport(agent_->link(), patience);
    }
  }

  Bytes expected(std::span<const Piece> pieces) const {
    Bytes all;
    for (const Piece& piece : pieces) {
      const auto begin = contents_[piece.file].begin() + static_cast<ptrdiff_t>(piece.offset);
      all.insert(all.end(), begin, begin + static_cast<ptrdiff_t>(piece.length));
    }
    return all;
  }

  Result<Bytes> pull(Transport& transport, std::span<const Piece> pieces) const {
    return pull(transport, exposure_, pieces);
  }

  static Result<Bytes> pull(Transport& transport, uint64_t exposure, std::span<const Piece> pieces) {
    Bytes out(data_wire::total(pieces));
    const auto begun = transport.begin(exposure, pieces, out);
    const auto finished = transport.finish();
    FOREBAY_CHECK(begun);
    FOREBAY_CHECK(finished);
    return out;
  }

  std::vector<Piece> random_pieces(unsigned seed, size_t count, uint64_t longest) const {
    std::mt19937 random(seed);
    std::vector<Piece> pieces;
    while (pieces.size() < count) {
      Piece piece{static_cast<uint32_t>(random() % contents_.size()), 0, 0};
      const size_t size = contents_[piece.file].size();
      if (size > 0) piece.offset = random() % size;
      piece.length = std::min<uint64_t>(random() % (longest + 1), size - piece.offset);
      pieces.push_back(piece);
    }
    return pieces;
  }

  void expect_bytes(Transport& transport, std::span<const Piece> pieces) const {
    const auto got = pull(transport, pieces);
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_TRUE(*got == expected(pieces));
  }

  // The error names the file.
  void expect_changed(Transport& transport, uint32_t file) const {
    const auto got = pull(transport, std::vector<Piece>{{file, 0, 10}});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().kind, ErrorKind::changed) << got.error().message();
    EXPECT_EQ(got.error().path, paths_[file]);
    const auto checked = transport.check_unchanged(exposure_);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().kind, ErrorKind::changed) << checked.error().message();
    EXPECT_EQ(checked.error().path, paths_[file]);
  }

  TemporaryDirectory directory_;
  std::vector<std::string> paths_;
  std::vector<Bytes> contents_;
  std::optional<AgentProcess> agent_;
  std::vector<ExposedFile> files_;
  uint64_t exposure_ = 0;
};

TEST_P(TransportTest, BringsTheBytesThatAreAskedFor) {
  offer();
  const auto one = transport();
  for (unsigned seed = 0; seed < 20; ++seed) expect_bytes(*one, random_pieces(seed, 1 + seed, 300'000));
  EXPECT_TRUE(one->check_unchanged(exposure_));
}

TEST_P(TransportTest, BringsNothingAtAll) {
  offer();
  const auto one = transport();
  expect_bytes(*one, {});
  expect_bytes(*one, std::vector<Piece>{{0, 0, 0}, {1, 0, 0}, {2, 5'000'000, 0}});
  EXPECT_TRUE(one->finish());
}

TEST_P(TransportTest, BringsWholeLargeFiles) {
  add_file(kLarge);
  add_file(3);
  offer();
  const auto one = transport();
  expect_bytes(*one, std::vector<Piece>{{3, 0, kLarge}});
  expect_bytes(*one, std::vector<Piece>{{4, 1, 2}, {3, 0, kLarge}, {2, 0, 5'000'000}, {3, 7, kLarge - 7}});
}

TEST_P(TransportTest, BringsManySmallPieces) {
  offer();
  const auto one = transport();
  expect_bytes(*one, random_pieces(1, 30'000, 100));
  expect_bytes(*one, random_pieces(2, 3'000, 9'000));
}

TEST_P(TransportTest, BringsPiecesOfManyFiles) {
  while (paths_.size() < 600) add_file(50);
  offer();
  expect_bytes(*transport(), random_pieces(3, 5'000, 50));
}

TEST_P(TransportTest, HasSeveralRequestsUnderWay) {
  offer();
  const auto one = transport();
  std::vector<std::vector<Piece>> lists;
  std::vector<Bytes> outs;
  for (unsigned i = 0; i < 30; ++i) lists.push_back(random_pieces(i, 1 + i % 7, 500'000));
  for (const auto& list : lists) outs.emplace_back(data_wire::total(list));
  for (size_t i = 0; i < lists.size(); ++i) ASSERT_TRUE(one->begin(exposure_, lists[i], outs[i]));
  ASSERT_TRUE(one->finish());
  for (size_t i = 0; i < lists.size(); ++i) EXPECT_TRUE(outs[i] == expected(lists[i])) << i;
}

TEST_P(TransportTest, TellsOfFilesThatChanged) {
  offer();
  const auto one = transport();
  expect_bytes(*one, std::vector<Piece>{{2, 0, 10}});
  std::fstream(paths_[2], std::ios::in | std::ios::out) << "other";
  expect_changed(*one, 2);
  expect_bytes(*one, std::vector<Piece>{{0, 0, 10}});
}

TEST_P(TransportTest, TellsOfFilesThatVanished) {
  offer();
  const auto one = transport();
  std::filesystem::remove(paths_[2]);
  expect_changed(*one, 2);
  expect_bytes(*one, std::vector<Piece>{{0, 0, 10}});
}

TEST_P(TransportTest, TellsOfFilesThatVanishedAfterTheyWereRead) {
  offer();
  const auto one = transport();
  expect_bytes(*one, std::vector<Piece>{{2, 0, 10}});
  std::filesystem::remove(paths_[2]);
  expect_changed(*one, 2);
}

TEST_P(TransportTest, TellsOfFilesThatShrank) {
  offer();
  const auto one = transport();
  expect_bytes(*one, std::vector<Piece>{{2, 0, 10}});
  std::filesystem::resize_file(paths_[2], 1000);
  expect_changed(*one, 2);
}

TEST_P(TransportTest, TellsOfFilesThatWereReplaced) {
  offer();
  const auto one = transport();
  write_file(directory_ / "new", contents_[2]);
  std::filesystem::rename(directory_ / "new", paths_[2]);
  expect_changed(*one, 2);
}

TEST_P(TransportTest, BringsWhatElseWasAskedForAtTheSameTime) {
  offer();
  const auto one = transport();
  std::filesystem::remove(paths_[0]);
  const std::vector<Piece> good{{2, 3, 400'000}}, bad{{0, 0, 10}};
  Bytes outs[3] = {Bytes(400'000), Bytes(10), Bytes(400'000)};
  const auto begun_before = one->begin(exposure_, good, outs[0]);
  const auto begun_bad = one->begin(exposure_, bad, outs[1]);
  const auto begun_after = one->begin(exposure_, good, outs[2]);
  const auto finished = one->finish();
  EXPECT_TRUE(begun_before && begun_after);
  EXPECT_FALSE(begun_bad && finished);
  EXPECT_TRUE(outs[0] == expected(good));
  EXPECT_TRUE(outs[2] == expected(good));
}

TEST_P(TransportTest, KnowsNoOtherExposures) {
  offer();
  const auto one = transport();
  const std::vector<Piece> pieces{{0, 0, 10}};
  EXPECT_EQ(pull(*one, exposure_ + 1, pieces).error().kind, ErrorKind::not_found);
  EXPECT_EQ(one->check_unchanged(exposure_ + 1).error().kind, ErrorKind::not_found);
  EXPECT_EQ(pull(*one, std::vector<Piece>{{3, 0, 10}}).error().kind, ErrorKind::not_found);
  expect_bytes(*one, pieces);
}

TEST_P(TransportTest, RefusesPiecesPastTheEnd) {
  offer();
  EXPECT_EQ(pull(*transport(), std::vector<Piece>{{0, 99'999, 2}}).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(pull(*transport(), std::vector<Piece>{{1, 0, 1}}).error().kind, ErrorKind::invalid_argument);
  Bytes out(11);
  EXPECT_EQ(transport()->begin(exposure_, std::vector<Piece>{{0, 0, 10}}, out).error().kind,
            ErrorKind::invalid_argument);
}

TEST_P(TransportTest, ServesSeveralThreadsThatEachHaveATransport) {
  offer();
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      const auto mine = transport();
      for (unsigned round = 0; round < 10; ++round) expect_bytes(*mine, random_pieces(10 * i + round, 20, 200'000));
    });
}

class TransportToAProcess : public TransportTest {};

TEST_P(TransportToAProcess, EndsWhenTheAgentIsKilled) {
  offer();
  const auto one = transport();
  expect_bytes(*one, std::vector<Piece>{{0, 0, 10}});
  agent_->signal(SIGKILL);
  const auto got = pull(*one, std::vector<Piece>{{2, 0, 5'000'000}});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::disconnected) << got.error().message();
  EXPECT_FALSE(one->check_unchanged(exposure_));
}

TEST_P(TransportToAProcess, EndsWhenTheAgentIsKilledInTheMiddle) {
  add_file(kLarge);
  offer();
  const auto one = transport();
  Bytes out(kLarge);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(one->begin(exposure_, std::vector<Piece>{{3, 0, kLarge}}, out));
  agent_->signal(SIGKILL);
  const auto finished = one->finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().kind, ErrorKind::disconnected) << finished.error().message();
}

TEST_P(TransportToAProcess, LeavesTheAgentWellWhenItIsGivenUp) {
  add_file(kLarge);
  offer();
  for (int i = 0; i < 5; ++i) {
    Bytes out(kLarge);
    const auto one = transport();
    for (int k = 0; k < 3; ++k) ASSERT_TRUE(one->begin(exposure_, std::vector<Piece>{{3, 0, kLarge}}, out));
  }
  expect_bytes(*transport(), std::vector<Piece>{{2, 0, 5'000'000}});
}

TEST_P(TransportToAProcess, LeavesTheAgentWellWhenTheWorkerIsKilled) {
  paths_.clear();
  contents_.clear();
  add_file(10'000'000);
  offer();
  for (int i = 0; i < 5; ++i) {
    const PeerProcess worker("worker", agent_->address(), {std::to_string(exposure_)}, transport_name());
    EXPECT_EQ(worker.said(), "reading");
  }
  expect_bytes(*transport(), std::vector<Piece>{{0, 0, 10'000'000}});
}

TEST_P(TransportToAProcess, GoesOnWhileOtherWorkersAreStopped) {
  paths_.clear();
  contents_.clear();
  add_file(10'000'000);
  offer();
  std::list<PeerProcess> workers;
  for (int i = 0; i < 3; ++i) {
    const auto& worker =
        workers.emplace_back("worker", agent_->address(), std::vector{std::to_string(exposure_)}, transport_name());
    EXPECT_EQ(worker.said(), "reading");
    worker.signal(SIGSTOP);
  }
  const auto one = transport();
  for (int i = 0; i < 3; ++i) expect_bytes(*one, std::vector<Piece>{{0, 0, 10'000'000}});
}

TEST_P(TransportToAProcess, EndsWhenTheAgentIsStopped) {
  offer();
  const auto one = transport(1s);
  expect_bytes(*one, std::vector<Piece>{{0, 0, 10}});
  agent_->signal(SIGSTOP);
  const auto before = std::chrono::steady_clock::now();
  const auto got = pull(*one, std::vector<Piece>{{2, 0, 5'000'000}});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::timeout) << got.error().message();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
}

TEST_P(TransportToAProcess, EndsWhenTheAgentIsStoppedInTheMiddle) {
  add_file(kLarge);
  offer();
  const auto one = transport(1s);
  Bytes out(kLarge);
  ASSERT_TRUE(one->begin(exposure_, std::vector<Piece>{{3, 0, kLarge}}, out));
  agent_->signal(SIGSTOP);
  const auto before = std::chrono::steady_clock::now();
  const auto finished = one->finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().kind, ErrorKind::timeout) << finished.error().message();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
}

std::string name_of(const testing::TestParamInfo<Kind>& info) {
  constexpr const char* kNames[] = {"Node", "StreamUnix", "StreamTcp", "StreamEncrypted", "Ucx"};
  return kNames[static_cast<size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Transports, TransportTest,
                         testing::Values(Kind::node, Kind::stream_unix, Kind::stream_tcp, Kind::stream_encrypted),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Transports, TransportToAProcess,
                         testing::Values(Kind::stream_unix, Kind::stream_tcp, Kind::stream_encrypted), name_of);
#ifdef FOREBAY_WITH_UCX
INSTANTIATE_TEST_SUITE_P(Ucx, TransportTest, testing::Values(Kind::ucx), name_of);
INSTANTIATE_TEST_SUITE_P(Ucx, TransportToAProcess, testing::Values(Kind::ucx), name_of);
#endif

// What no transport would send.
TEST(TransportServer, RefusesHostileRequests) {
  const TemporaryDirectory directory;
  write_file(directory / "file", random_bytes(1000));
  const AgentProcess agent(unix_address(), {directory / "file"}, "stream");
  Bytes too_many;
  data_wire::encode(too_many, {1, agent.exposure(), std::vector<Piece>(data_wire::kMaxPieces + 1)});
  for (const Bytes& frame : {too_many, frame_of(16, as_bytes("\xff\xff")), frame_of(31, {}), frame_of(24, {})}) {
    Link link = agent.link();
    ASSERT_TRUE(link.send(frame, 5s));
    EXPECT_EQ(link.receive(100, 5s).error().kind, ErrorKind::disconnected);
  }
  EXPECT_TRUE(stream_transport(agent.link(), 5s)->check_unchanged(agent.exposure()));
}

TEST(Exposures, ForgetsWhatIsRemoved) {
  const TemporaryDirectory directory;
  write_file(directory / "file", random_bytes(1000));
  Exposures exposures;
  const uint64_t first = exposures.add(expose({directory / "file"})),
                 second = exposures.add(expose({directory / "file"}));
  EXPECT_NE(first, second);
  EXPECT_TRUE(exposures.open(first, 0));
  exposures.remove(first);
  EXPECT_EQ(exposures.open(first, 0).error().kind, ErrorKind::not_found);
  EXPECT_EQ(exposures.check_unchanged(first).error().kind, ErrorKind::not_found);
  EXPECT_TRUE(exposures.open(second, 0));
  EXPECT_EQ(exposures.open(second, 1).error().kind, ErrorKind::not_found);
}

TEST(Exposures, KeepsABoundedNumberOfFilesOpen) {
  const TemporaryDirectory directory;
  std::vector<std::string> paths;
  for (int i = 0; i < 700; ++i) write_file(paths.emplace_back(directory / std::to_string(i)), random_bytes(10));
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  Exposures exposures;
  const uint64_t exposure = exposures.add(expose(paths));
  const auto before = open_descriptors();
  EXPECT_TRUE(exposures.check_unchanged(exposure));
  EXPECT_LE(open_descriptors() - before, 260);
  exposures.remove(exposure);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(NodeIdentity, IsTheSameWithinANode) {
  const auto here = node_identity();
  ASSERT_TRUE(here) << here.error().message();
  const ChildServer child([](const auto& announce) { announce(node_identity().value()); });
  EXPECT_EQ(child.said(), *here);
}

}  // namespace
}  // namespace forebay::fabric
