#include "job/wire/messages.h"

#include <gmock/gmock.h>

#include "base/catalogue.h"

namespace forebay::job::wire {
namespace {

fabric::Frame frame_of(const Bytes& bytes) {
  return {std::to_integer<uint8_t>(bytes[5]), std::span(bytes).subspan(fabric::kFrameHeaderBytes)};
}

template <class Table>
Result<MessageT> sent(Table body) {
  Bytes bytes;
  encode(bytes, std::move(body));
  return decode(frame_of(bytes));
}

OfferT good_offer() {
  OfferT offer;
  offer.set = "ckpt_7";
  offer.step = 7;
  offer.ranks = 2;
  for (const char* name : {"rank0/state.bin", "rank1/state.bin"}) {
    auto& file = *offer.files.emplace_back(std::make_unique<FileT>());
    file.name = name;
    file.size = 5;
    file.mode = 0600;
  }
  return offer;
}

TaskT good_task() {
  TaskT task;
  task.set = "ckpt_7";
  task.staged = "ckpt_7.host.1.0123456789abcdef";
  task.container = "00000-of-00001.fbc.1";
  auto& peer = *task.peers.emplace_back(std::make_unique<PeerT>());
  peer.node = "n";
  peer.addresses = "tcp:n:1";
  peer.stage = "/s";
  auto& file = *task.files.emplace_back(std::make_unique<TaskFileT>());
  file.file = std::make_unique<FileT>();
  file.file->name = "rank0";
  file.file->rank = 0;
  task.peer_of_rank = {0, 0xffffffff};
  return task;
}

template <class Table, class Change>
bool refuses(Table body, Change change) {
  change(body);
  const auto result = sent(std::move(body));
  return !result && result.error().kind == ErrorKind::corrupt;
}

TEST(Messages, ComeBackAsTheyWere) {
  const auto offer = sent(good_offer());
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->body.AsOffer()->files[1]->name, "rank1/state.bin");
  EXPECT_EQ(offer->body.AsOffer()->step, 7);
  EXPECT_EQ(offer->body.AsOffer()->files[0]->rank, -1);
  EXPECT_TRUE(sent(good_task()));
  EXPECT_TRUE(sent(PingT{}));
}

TEST(Messages, NamesLeadNowhereElse) {
  for (const char* name : {"", "/etc/passwd", "../x", "a//b", "a/./b", "a/"})
    EXPECT_TRUE(refuses(good_offer(), [&](OfferT& o) { o.files[0]->name = name; })) << name;
  for (const char* name : {"", "..", "a/b", "/"}) {
    EXPECT_TRUE(refuses(good_offer(), [&](OfferT& o) { o.set = name; })) << name;
    EXPECT_TRUE(refuses(good_task(), [&](TaskT& t) { t.container = name; })) << name;
    EXPECT_TRUE(refuses(BeginT{}, [&](BeginT& b) { b.set = name; })) << name;
    EXPECT_TRUE(refuses(TargetOpenT{}, [&](TargetOpenT& t) { t.set = name; })) << name;
  }
  EXPECT_TRUE(refuses(good_task(), [](TaskT& t) { t.files[0]->file->name = "../x"; }));
  EXPECT_TRUE(refuses(good_offer(), [](OfferT& o) { o.set = std::string(256, 'x'); }));
}

TEST(Messages, AttributesArePossible) {
  EXPECT_TRUE(refuses(good_offer(), [](OfferT& o) { o.files[0]->mode = 010000; }));
  EXPECT_TRUE(refuses(good_offer(), [](OfferT& o) { o.files[0]->mtime_ns = 1'000'000'000; }));
  EXPECT_TRUE(refuses(good_offer(), [](OfferT& o) { o.files[0]->kind = 3; }));
  EXPECT_TRUE(refuses(good_offer(), [](OfferT& o) { o.files[0]->kind = 1; })) << "a directory with a size";
  EXPECT_TRUE(refuses(good_offer(), [](OfferT& o) { o.files[0]->link_target = "x"; }));
  EXPECT_TRUE(refuses(good_offer(), [](OfferT& o) {
    o.files[0]->kind = 2;
    o.files[0]->size = 0;
  })) << "a link to nothing";
  EXPECT_TRUE(refuses(good_offer(), [](OfferT& o) { o.files[0]->rank = -2; }));
}

TEST(Messages, IndicesAreInRange) {
  EXPECT_TRUE(refuses(good_task(), [](TaskT& t) { t.files[0]->peer = 1; }));
  EXPECT_TRUE(refuses(good_task(), [](TaskT& t) { t.peer_of_rank[0] = 1; }));
  EXPECT_TRUE(refuses(good_task(), [](TaskT& t) { t.files[0]->file->rank = -1; }));
}

TEST(Messages, ValuesAreKnown) {
  EXPECT_TRUE(refuses(good_task(), [](TaskT& t) { t.kind = static_cast<TaskKind>(2); }));
  EXPECT_TRUE(refuses(TaskDoneT{}, [](TaskDoneT& d) { d.side = static_cast<FaultSide>(3); }));
  EXPECT_TRUE(refuses(TaskDoneT{}, [](TaskDoneT& d) { d.error_kind = 200; }));
  SetNewsT news;
  news.set = "s";
  EXPECT_TRUE(sent(news));
  EXPECT_TRUE(refuses(news, [](SetNewsT& n) { n.state = static_cast<SetState>(7); }));
}

TEST(Messages, ARestartIsOfASetAndOfARound) {
  RestartReadyT ready;
  EXPECT_TRUE(sent(ready)) << "there is nothing to restart from";
  ready.found = true;
  ready.set = ready.stored_as = "s";
  ready.round = 1;
  EXPECT_TRUE(sent(ready));
  EXPECT_TRUE(refuses(ready, [](RestartReadyT& r) { r.set.clear(); }));
  EXPECT_TRUE(refuses(ready, [](RestartReadyT& r) { r.stored_as.clear(); }));
  EXPECT_TRUE(refuses(ready, [](RestartReadyT& r) { r.stored_as = "../s"; }));
  EXPECT_TRUE(refuses(ready, [](RestartReadyT& r) { r.round = 0; }));
  EXPECT_TRUE(sent(RestartPublishedT{.round = 1}));
  EXPECT_TRUE(refuses(RestartPublishedT{}, [](RestartPublishedT&) {}));
  EXPECT_TRUE(refuses(RestartDoneT{}, [](RestartDoneT&) {}));
}

TEST(Messages, WhatIsLeftIsBounded) {
  SettledT settled;
  settled.number = 1;
  for (size_t i = 0; i < kMostLeft; ++i) {
    auto& row = *settled.left.emplace_back(std::make_unique<LeftT>());
    row.name = "any name/of a directory";
    row.reason = "it has no file";
  }
  EXPECT_TRUE(sent(settled));
  EXPECT_TRUE(refuses(settled, [](SettledT& s) { s.number = 0; }));
  EXPECT_TRUE(refuses(settled, [](SettledT& s) { s.left.push_back(std::make_unique<LeftT>(*s.left[0])); }));
  EXPECT_TRUE(refuses(SettleT{}, [](SettleT&) {}));
}

// Every entry of the list is the same table, with a long name.
TEST(Messages, ALittleBodyCannotBecomeLarge) {
  flatbuffers::FlatBufferBuilder builder;
  FileT file;
  file.name = std::string(1000, 'x');
  const auto shared = File::Pack(builder, &file);
  const std::vector<flatbuffers::Offset<File>> files(10'000, shared);
  const auto offer = CreateOffer(builder, builder.CreateString("s"), {}, 0, 0, builder.CreateVector(files));
  builder.Finish(CreateMessage(builder, Body::Offer, offer.Union()));
  const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  const auto decoded = decode({kMessage, bytes});
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().what, testing::HasSubstr("share"));
}

TEST(Messages, AMillionFilesFit) {
  OfferT offer;
  offer.set = "s";
  for (int i = 0; i < 1'000'000; ++i) {
    auto& file = *offer.files.emplace_back(std::make_unique<FileT>());
    file.name = "checkpoint/rank" + std::to_string(i) + ".h5";
    file.size = 1;
    file.mtime_s = 1'700'000'000;
    file.rank = i;
  }
  Bytes bytes;
  encode(bytes, std::move(offer));
  EXPECT_LT(bytes.size(), kMaxBody);
  const auto decoded = decode(frame_of(bytes));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->body.AsOffer()->files.size(), 1'000'000u);
}

TEST(Messages, UnknownFramesAndCutOnesAreRefused) {
  Bytes bytes;
  encode(bytes, good_offer());
  fabric::Frame frame = frame_of(bytes);
  for (size_t size = 0; size < frame.body.size(); ++size) {
    const Bytes cut(frame.body.begin(), frame.body.begin() + static_cast<std::ptrdiff_t>(size));
    (void)decode({kMessage, cut});
  }
  EXPECT_FALSE(decode({kMessage, {}}));
  frame.type = 65;
  EXPECT_FALSE(decode(frame));
}

}  // namespace
}  // namespace forebay::job::wire
