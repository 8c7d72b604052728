#include "job/client/marker.h"

#include <ctime>

#include <gtest/gtest.h>

#include "job/client/stage_names.h"
#include "store/sealed_text.h"

namespace forebay::job {
namespace {

Marker sample() {
  return {.rank = 3,
          .ranks = 8,
          .pid = 4711,
          .step = -2,
          .files = {{"state.h5", 1u << 30, 1'700'000'000, 999'999'999}, {"d/\xc3\xa9 \"x\".bin", 0, -1, 0}}};
}

TEST(Marker, ComesBackAsItWas) {
  Marker marker = sample();
  EXPECT_EQ(decode_marker(encode_marker(marker), "m"), marker);
  marker.step.reset();
  marker.files.clear();
  EXPECT_EQ(decode_marker(encode_marker(marker), "m"), marker);
}

TEST(Marker, NoticesEveryChangedByte) {
  const std::string text = encode_marker(sample());
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(decode_marker(damaged, "m")) << i;
    EXPECT_FALSE(decode_marker(text.substr(0, i), "m")) << i;
  }
}

TEST(Marker, RefusesWhatMakesNoSense) {
  using nlohmann::json;
  const json good = {{"version", 1}, {"rank", 0}, {"ranks", 1}, {"pid", 1}, {"files", json::array()}};
  const auto accepts = [](const json& body) {
    return decode_marker(store::seal("forebay-marker", body), "m").has_value();
  };
  ASSERT_TRUE(accepts(good));
  for (const char* name : {"rank", "ranks", "pid", "files"}) {
    json body = good;
    body.erase(name);
    EXPECT_FALSE(accepts(body)) << name;
    for (const json& wrong : {json("1"), json(-1), json(1.5), json(nullptr)}) {
      body[name] = wrong;
      EXPECT_FALSE(accepts(body)) << name << wrong;
    }
  }
  json body = good;
  body["rank"] = 1;
  EXPECT_FALSE(accepts(body)) << "rank 1 of 1";
  const json file = json::array({"a", 1, 1, 1});
  const std::pair<size_t, json> faults[] = {{0, "../a"}, {0, ""}, {0, 1}, {1, -1}, {2, "x"}, {3, 1'000'000'000}};
  for (const auto& [member, wrong] : faults) {
    body = good;
    body["files"] = json::array({file});
    ASSERT_TRUE(accepts(body));
    body["files"][0][member] = wrong;
    EXPECT_FALSE(accepts(body)) << member << wrong;
  }
  body["files"] = json::array({json::array({"a", 1, 1})});
  EXPECT_FALSE(accepts(body));
}

TEST(Marker, OfManyFilesIsReadInTime) {
  Marker marker = sample();
  for (int i = 0; i < 100'000; ++i) marker.files.push_back({"f" + std::to_string(i), 1, 1, 1});
  const std::clock_t begin = std::clock();
  EXPECT_EQ(decode_marker(encode_marker(marker), "m"), marker);
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 5) << "seconds of processor time";
}

TEST(Marker, KnowsUtf8) {
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8("\xe2\x82\xac"));
  EXPECT_FALSE(is_utf8("\xff"));
  EXPECT_FALSE(is_utf8("a\xe2\x82"));
}

TEST(StageNames, AreTheDocumentedOnes) {
  EXPECT_EQ(agent_socket("/s"), "/s/.forebay/agent.sock");
  EXPECT_EQ(marker_path("/s", "dump", 7), "/s/.forebay/sets/dump/rank-00000007");
  EXPECT_EQ(marker_rank("rank-00000007"), 7u);
  EXPECT_EQ(marker_rank("rank-4294967295"), 4294967295u);
  for (const char* other : {"rank-7", "rank-", "rank-0000000x", ".rank-00000007.tmp", "rank-00000007.x", "begun", ""})
    EXPECT_FALSE(marker_rank(other)) << other;
}

}  // namespace
}  // namespace forebay::job
