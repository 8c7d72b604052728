// Deliveries into stages: both ends over a real hub, and the agent's end against hostile messages.
#include "job/delivery/delivery.h"

#include <filesystem>
#include <optional>
#include <random>

#include <gmock/gmock.h>

#include "job/delivery/delivered_stage.h"
#include "job/delivery/delivery_session.h"
#include "job/test_agent.h"

namespace forebay::job {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

// An agent that takes deliveries, and nothing else.
class Receiver {
 public:
  explicit Receiver(const std::string& stage) : server_(stage, hub_.hub()) {
    hub_.serve([this](fabric::ConnectionId id, const fabric::Frame& frame) { return received(id, frame); },
               [this](fabric::ConnectionId id) { server_.disconnected(id); }, [this] { server_.ping(); });
  }
  ~Receiver() { hub_.stop(); }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  Result<std::unique_ptr<engine::Target>> target(const std::string& set) const {
    return open_remote_target(hub_.connect().value(), set, 5s);
  }
  fabric::Link link() const { return hub_.connect().value(); }

 private:
  Result<void> received(fabric::ConnectionId id, const fabric::Frame& frame) {
    if (DeliveryServer::handles(frame.type)) return server_.received(id, frame);
    FOREBAY_TRY(auto message, wire::decode(frame));
    if (!DeliveryServer::handles(message.body.type)) return fail(ErrorKind::corrupt, "not a delivery");
    return server_.received(id, std::move(message));
  }

  HubThread hub_;
  DeliveryServer server_;
};

Bytes random_bytes(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

FileRow row(const std::string& name, uint64_t size = 0) {
  return {.name = name, .mode = 0640, .mtime_s = 1'600'000'000, .mtime_ns = 123'456'789, .size = size};
}

template <class Message>
wire::BodyUnion body(Message message) {
  wire::BodyUnion all;
  all.Set(std::move(message));
  return all;
}

wire::BodyUnion open_message(const std::string& set) {
  wire::TargetOpenT message;
  message.set = set;
  return body(std::move(message));
}

wire::BodyUnion file_message(uint32_t number, const std::string& name, uint64_t size) {
  wire::TargetFileT message;
  message.number = number;
  message.name = name;
  message.size = size;
  return body(std::move(message));
}

wire::BodyUnion commit_message(uint32_t number) {
  wire::TargetCommitT message;
  message.number = number;
  message.mode = 0600;
  return body(std::move(message));
}

class DeliveryTest : public TempTest {
 protected:
  DeliveryTest() : stage_(make_stage(path("stage"))) {}

  // The names below a directory, those that vanish meanwhile left out: an agent may be at work there.
  std::vector<std::string> names_in(const std::string& path) const {
    std::vector<std::string> names;
    std::error_code gone;
    for (fs::recursive_directory_iterator it(path, gone), end; !gone && it != end; it.increment(gone))
      names.push_back(it->path().lexically_relative(path).string());
    return names;
  }

  const std::string stage_;
};

TEST_F(DeliveryTest, WritesSurviveTheWayThroughTheirFrame) {
  const Bytes bytes = random_bytes(1000, 1);
  Bytes frame;
  append_write(frame, {7, uint64_t{5} << 40, bytes});
  EXPECT_EQ(std::to_integer<int>(frame[5]), kWrite);
  const auto write = parse_write(std::span(frame).subspan(fabric::kFrameHeaderBytes));
  ASSERT_TRUE(write);
  EXPECT_EQ(write->file, 7u);
  EXPECT_EQ(write->offset, uint64_t{5} << 40);
  EXPECT_TRUE(std::ranges::equal(write->bytes, bytes));
  EXPECT_FALSE(parse_write(std::span(frame).first(12)));
  EXPECT_FALSE(parse_write(Bytes(kMaxWriteBytes + 1)));
}

TEST_F(DeliveryTest, FilesArriveByteForByteAndBecomeVisibleTogether) {
  const Receiver agent(stage_);
  const auto target = agent.target("dump_0040");
  ASSERT_TRUE(target) << target.error().message();
  // Three times the window, in pieces of all sizes, backwards.
  const Bytes large = random_bytes(3 * kWindow + 777, 2);
  const auto file = (*target)->create_file(row("deep/down/large.bin", large.size()));
  ASSERT_TRUE(file) << file.error().message();
  std::mt19937 random(3);
  for (size_t end = large.size(); end > 0;) {
    const size_t length = std::min<size_t>(end, 1 + random() % (end % 3 == 0 ? 2'000'000 : 20'000));
    ASSERT_TRUE((*file)->write_at(end - length, std::span(large).subspan(end - length, length)));
    end -= length;
  }
  FileRow lends_its_user = row("empty");
  lends_its_user.mode = 06711;
  const auto empty = (*target)->create_file(lends_its_user);
  FileRow link = row("link");
  link.link_target = "deep/down/large.bin";
  FileRow closed = row("closed");
  closed.mode = 02500;
  ASSERT_TRUE((*target)->make_directory(closed));
  ASSERT_TRUE((*target)->make_symlink(link));
  ASSERT_TRUE((*file)->commit());
  ASSERT_TRUE((*empty)->commit());
  ASSERT_TRUE((*target)->finish());
  EXPECT_FALSE(fs::exists(stage_ + "/dump_0040"));

  ASSERT_TRUE(publish_delivered(stage_, "dump_0040", "dump_0040"));
  const std::string large_path = stage_ + "/dump_0040/deep/down/large.bin";
  EXPECT_TRUE(std::ranges::equal(as_bytes(read_text(large_path)), large));
  struct stat info{};
  ASSERT_EQ(::stat(large_path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777u, 0640u);
  EXPECT_EQ(info.st_mtim.tv_sec, 1'600'000'000);
  EXPECT_EQ(info.st_mtim.tv_nsec, 123'456'789);
  EXPECT_EQ(fs::file_size(stage_ + "/dump_0040/empty"), 0u);
  ASSERT_EQ(::stat((stage_ + "/dump_0040/empty").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777u, 0711u) << "nobody's user or group is lent";
  EXPECT_EQ(fs::read_symlink(stage_ + "/dump_0040/link"), "deep/down/large.bin");
  ASSERT_EQ(::stat((stage_ + "/dump_0040/closed").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777u, 0700u);
}

TEST_F(DeliveryTest, WhatIsNotCommittedIsGoneWithItsConnection) {
  const Receiver agent(stage_);
  {
    const auto target = agent.target("set");
    const auto file = (*target)->create_file(row("half", 100));
    ASSERT_TRUE((*file)->write_at(0, random_bytes(10, 4)));
    ASSERT_TRUE((*target)->make_directory(row("seen")));
  }
  const std::string below = delivered_path(stage_, "set");
  const std::vector<std::string> committed{"seen"};
  for (int i = 0; i < 5000 && names_in(below) != committed; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(names_in(below), committed);
}

TEST_F(DeliveryTest, ARefusedWriteIsTheAnswerToTheNextMessage) {
  const Receiver agent(stage_);
  const auto target = agent.target("set");
  const auto file = (*target)->create_file(row("short", 100));
  ASSERT_TRUE((*file)->write_at(90, random_bytes(11, 5)));
  const auto committed = (*file)->commit();
  ASSERT_FALSE(committed);
  EXPECT_THAT(committed.error().message(), HasSubstr("past the end"));
  EXPECT_THAT((*target)->finish().error().message(), HasSubstr("past the end"));
}

TEST_F(DeliveryTest, WhoBreaksTheFormIsCutOff) {
  const Receiver agent(stage_);
  fabric::Link link = agent.link();
  Bytes frame;
  append_write(frame, {0, 0, Bytes(kMaxWriteBytes)});
  ASSERT_TRUE(link.send(frame, 5s));
  const auto answer = link.receive(1 << 20, 5s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::disconnected);
}

TEST_F(DeliveryTest, WhoDoesNotWaitForAnswersIsCutOff) {
  HubThread hub;
  DeliveryServer server(stage_, hub.hub());
  Result<void> taken;
  for (int i = 0; i < 1000 && taken; ++i) {
    wire::MessageT message;
    message.body = open_message("set" + std::to_string(i));
    taken = server.received(1, std::move(message));
  }
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, ErrorKind::corrupt);
}

TEST_F(DeliveryTest, NoMoreThanTheWindowIsUnderWay) {
  // An agent that never says that it has taken anything.
  HubThread hub;
  uint64_t received = 0;
  hub.serve(
      [&](fabric::ConnectionId id, const fabric::Frame& frame) -> Result<void> {
        if (frame.type == kWrite) {
          received += frame.body.size();
          return {};
        }
        send(hub.hub(), id, body(wire::TargetDoneT()));
        return {};
      },
      [](fabric::ConnectionId) {});
  const auto target = open_remote_target(hub.connect().value(), "set", 300ms);
  ASSERT_TRUE(target);
  const auto file = (*target)->create_file(row("large", 4 * kWindow));
  ASSERT_TRUE(file);
  const auto written = (*file)->write_at(0, Bytes(4 * kWindow));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::timeout);
  hub.stop();
  EXPECT_LE(received, kWindow);
  EXPECT_GT(received, kWindow / 2);
}

TEST_F(DeliveryTest, TheFirstFailureIsTold) {
  DeliverySession session(stage_);
  ASSERT_TRUE(session.handle(open_message("set")));
  ASSERT_TRUE(session.handle(file_message(0, "short", 1)));
  session.write({0, 1, as_bytes("x")});
  session.write({7, 0, as_bytes("x")});
  EXPECT_THAT(session.handle(commit_message(0)).error().message(), HasSubstr("past the end"));
}

TEST_F(DeliveryTest, NamesThatLeadOutAreRefused) {
  for (const std::string set : {"..", ".", "a/b", "/tmp", "", ".forebay"}) {
    DeliverySession session(stage_);
    EXPECT_FALSE(session.handle(open_message(set))) << set;
  }
  for (const std::string name : {"../up", "/etc/passwd", "a/../../b", "", "a//b"}) {
    DeliverySession session(stage_);
    ASSERT_TRUE(session.handle(open_message("set")));
    EXPECT_FALSE(session.handle(file_message(0, name, 1))) << name;
  }
  EXPECT_THAT(names_in(delivered_path(stage_, "set")), IsEmpty());
}

TEST_F(DeliveryTest, LinksAreNotFollowed) {
  fs::create_directory(path("outside"));
  DeliverySession session(stage_);
  ASSERT_TRUE(session.handle(open_message("set")));
  wire::TargetSymlinkT link;
  link.name = "way";
  link.target = path("outside");
  ASSERT_TRUE(session.handle(body(std::move(link))));
  EXPECT_FALSE(session.handle(file_message(0, "way/file", 1)));
  EXPECT_THAT(names_in(path("outside")), IsEmpty());
}

TEST_F(DeliveryTest, MessagesOutOfOrderAreRefused) {
  DeliverySession unopened(stage_);
  EXPECT_FALSE(unopened.handle(file_message(0, "a", 1)));
  DeliverySession twice(stage_);
  ASSERT_TRUE(twice.handle(open_message("set")));
  EXPECT_FALSE(twice.handle(open_message("set")));
  DeliverySession unknown(stage_);
  ASSERT_TRUE(unknown.handle(open_message("set")));
  EXPECT_FALSE(unknown.handle(commit_message(3)));
  EXPECT_FALSE(unknown.handle(file_message(0, "a", 1))) << "nothing is done after a refusal";
  DeliverySession same(stage_);
  ASSERT_TRUE(same.handle(open_message("set")));
  ASSERT_TRUE(same.handle(file_message(0, "a", 1)));
  EXPECT_FALSE(same.handle(file_message(0, "b", 1)));
}

TEST_F(DeliveryTest, SeveralDeliveriesFillOneSet) {
  const Receiver agent(stage_);
  const auto one = agent.target("set"), other = agent.target("set");
  FileRow shared = row("shared");
  shared.mode = 0500;
  ASSERT_TRUE((*one)->make_directory(shared));
  ASSERT_TRUE((*one)->finish());
  const auto file = (*other)->create_file(row("shared/late", 3));
  ASSERT_TRUE((*file)->write_at(0, as_bytes("abc")));
  ASSERT_TRUE((*file)->commit());
  ASSERT_TRUE((*other)->finish());
  // The connections are still there.
  ASSERT_TRUE(publish_delivered(stage_, "set", "set"));
  EXPECT_EQ(read_text(stage_ + "/set/shared/late"), "abc");
  EXPECT_THAT(names_in(stage_ + "/set"), testing::UnorderedElementsAre("shared", "shared/late"));
}

TEST_F(DeliveryTest, PublishingReplacesWhatWasThere) {
  write_text(stage_ + "/set/old", "old");
  EXPECT_EQ(publish_delivered(stage_, "set", "set").error().kind, ErrorKind::not_found);
  EXPECT_EQ(read_text(stage_ + "/set/old"), "old");
  const auto target = open_delivered(stage_, "set");
  ASSERT_TRUE(target);
  FileRow closed = row("closed");
  closed.mode = 0500;
  ASSERT_TRUE((*target)->create_file(row("new")).value()->commit());
  ASSERT_TRUE((*target)->make_directory(closed));
  ASSERT_TRUE((*target)->finish());
  ASSERT_TRUE(publish_delivered(stage_, "set", "set"));
  EXPECT_EQ(fs::status(stage_ + "/set/closed").permissions(), fs::perms::owner_all);
  EXPECT_THAT(names_in(stage_ + "/set"), testing::Contains("new"));
  EXPECT_FALSE(fs::exists(stage_ + "/set/old"));
  EXPECT_FALSE(fs::exists(stage_ + "/.forebay/restore"));
}

TEST_F(DeliveryTest, NothingOfASetThatWasPassedOverIsPublished) {
  for (const auto& [stored, name] : {std::pair("set+2", "later"), std::pair("set", "earlier")}) {
    const auto target = open_delivered(stage_, stored);
    ASSERT_TRUE(target);
    ASSERT_TRUE((*target)->create_file(row(name)).value()->commit());
    ASSERT_TRUE((*target)->create_file(row(std::string("both/") + name)).value()->commit());
    ASSERT_TRUE((*target)->finish());
  }
  ASSERT_TRUE(publish_delivered(stage_, "set", "set"));
  EXPECT_THAT(names_in(stage_ + "/set"), testing::UnorderedElementsAre("earlier", "both", "both/earlier"));
  EXPECT_THAT(names_in(stage_ + "/.forebay"), IsEmpty());
}

TEST_F(DeliveryTest, WhoWasGivenUpGetsNothingIntoAPublishedSet) {
  const Receiver agent(stage_);
  const auto late = agent.target("set"), late_here = open_delivered(stage_, "set"),
             other = open_delivered(stage_, "set");
  const auto file = (*late)->create_file(row("a", 3)), file_here = (*late_here)->create_file(row("b", 3));
  ASSERT_TRUE(file && file_here);
  ASSERT_TRUE((*other)->create_file(row("c")).value()->commit());
  ASSERT_TRUE((*other)->finish());
  ASSERT_TRUE(publish_delivered(stage_, "set", "set"));
  EXPECT_FALSE((*file)->commit());
  EXPECT_FALSE((*file_here)->commit());
  const auto begun_later = (*late_here)->create_file(row("d"));
  EXPECT_FALSE(begun_later && (*begun_later)->commit());
  EXPECT_THAT(names_in(stage_ + "/set"), testing::ElementsAre("c"));
}

TEST_F(DeliveryTest, WhatIsDiscardedIsGone) {
  ASSERT_TRUE(discard_delivered(stage_));
  {
    ASSERT_TRUE(open_delivered(stage_, "set"));
  }
  ASSERT_TRUE(discard_delivered(stage_));
  EXPECT_THAT(names_in(stage_ + "/.forebay"), IsEmpty());
  EXPECT_EQ(open_delivered(path("elsewhere"), "set").error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace forebay::job
