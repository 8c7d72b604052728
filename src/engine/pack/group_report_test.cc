#include "engine/pack/group_report.h"

#include <gtest/gtest.h>

namespace forebay::engine {
namespace {

GroupReport some_report() {
  return {.entry = {.name = "00001-of-00002.fbc",
                    .bytes = 5,
                    .raw_bytes = 50,
                    .files = 3,
                    .tail_hash = UINT64_MAX,
                    .ranks = store::RankRange{64, 127},
                    .names = {"a.{064-127}", "b"}},
          .variables = 7,
          .frames = 2,
          .payload_bytes = 4,
          .lossy = {{.matches = 3, .variables = 2, .frames = 1, .error = 0.1}},
          .parents = {{.name = "a", .frames = 1, .raw_bytes = 20}, {.name = "b", .frames = 1, .raw_bytes = 10}},
          .cpu_seconds = {.fetch = 0.1, .encode = 1e-300, .write = 3},
          .remarks = {"a remark with \"quotes\"\nand lines", "another"}};
}

void expect_equal(const GroupReport& a, const GroupReport& b) {
  EXPECT_EQ(to_text(a), to_text(b));
  EXPECT_EQ(a.entry.tail_hash, b.entry.tail_hash);
  EXPECT_EQ(a.entry.ranks, b.entry.ranks);
  EXPECT_EQ(a.entry.names, b.entry.names);
  EXPECT_EQ(a.cpu_seconds.encode, b.cpu_seconds.encode);
  EXPECT_EQ(a.remarks, b.remarks);
  ASSERT_EQ(a.lossy.size(), b.lossy.size());
  EXPECT_EQ(a.lossy[0].error, b.lossy[0].error);
  ASSERT_EQ(a.parents.size(), b.parents.size());
  EXPECT_EQ(a.parents[1].name, b.parents[1].name);
  EXPECT_EQ(a.parents[1].raw_bytes, b.parents[1].raw_bytes);
}

// `text` with its only `from` replaced.
std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) throw std::runtime_error(from);
  return text.replace(at, from.size(), to);
}

TEST(GroupReport, ComesBackFromText) {
  const auto back = parse_group_report(to_text(some_report()));
  ASSERT_TRUE(back) << back.error().message();
  expect_equal(*back, some_report());
  GroupReports all;
  all[3] = some_report();
  all[0] = {.entry = {.name = "x"}};
  const auto both = parse_group_reports(to_text(all));
  ASSERT_TRUE(both) << both.error().message();
  ASSERT_EQ(both->size(), 2u);
  expect_equal(both->at(3), some_report());
  EXPECT_TRUE(parse_group_reports(to_text(GroupReports{})));
}

TEST(GroupReport, RemarksNeedNotBeText) {
  GroupReport report = some_report();
  report.remarks = {"caf\xe9"};
  EXPECT_TRUE(parse_group_report(to_text(report)));
}

TEST(GroupReport, HostileTextIsRefused) {
  const std::string good = to_text(some_report());
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_EQ(parse_group_report(good.substr(0, length)).error().kind, ErrorKind::corrupt);
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{R"("bytes":5)", R"("bytes":-5)"},
                                                        {R"("bytes":5)", R"("bytes":5.5)"},
                                                        {R"("bytes":5)", R"("bytes":"5")"},
                                                        {R"("bytes":5)", R"("bytes":99999999999999999999)"},
                                                        {R"("bytes":5)", R"("byte":5)"},
                                                        {"00001-of-00002.fbc", "../00001-of-00002.fbc"},
                                                        {"00001-of-00002.fbc", "manifest"},
                                                        {"00001-of-00002.fbc", ""},
                                                        {R"(["a",1,20])", R"(["a",1])"},
                                                        {R"(["a",1,20])", R"(["../a",1,20])"},
                                                        {R"(["a",1,20])", R"({})"},
                                                        {"[3,2,1,0.1]", "[3,2,1,null]"},
                                                        {"[3,2,1,0.1]", "3"},
                                                        {R"("another")", "1"}})
    EXPECT_FALSE(parse_group_report(with(good, from, to))) << to;
  for (const char* text : {"", "null", "[]", "{}", "7", "[[[[", "\xff"}) EXPECT_FALSE(parse_group_report(text)) << text;
}

TEST(GroupReport, HostileListsAreRefused) {
  const std::string one = to_text(some_report());
  EXPECT_TRUE(parse_group_reports("[[1," + one + "]]"));
  for (const std::string& text :
       std::vector<std::string>{"[[1," + one + "],[1," + one + "]]", "[[-1," + one + "]]", "[[1]]", "[" + one + "]",
                                one, std::string("[1]"), std::string("{}"), std::string(100'000, '[')})
    EXPECT_FALSE(parse_group_reports(text)) << text.substr(0, 40);
}

class ManifestTest : public testing::Test {
 protected:
  ManifestTest() {
    reports_[1] = some_report();
    reports_[0] = some_report();
    reports_[0].entry.name = "00000-of-00002.fbc";
    reports_[0].lossy[0] = {.matches = 1, .variables = 0, .frames = 0, .error = 0.5};
    parent_.name = "a";
    parent_.created_ns = 11;
    parent_.since_full = 2;
    parent_.parents = {{.name = "b", .created_ns = 22}, {.name = "c", .created_ns = 33}};
  }

  GroupReports reports_;
  store::Manifest parent_;
  SetFacts facts_{.name = "set",
                  .step = 7,
                  .profile = "max",
                  .scheme = "auto",
                  .ranks = 8,
                  .group_size = 4,
                  .since_chosen = 3,
                  .lossy = {"*=abs:1"},
                  .parent = &parent_};
};

TEST_F(ManifestTest, IsMadeOfTheReports) {
  const auto manifest = make_manifest(facts_, reports_);
  ASSERT_TRUE(manifest) << manifest.error().message();
  const auto parsed = store::parse_manifest(store::serialise(*manifest), "manifest");
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(parsed->step, 7);
  EXPECT_EQ(parsed->ranks, 8u);
  EXPECT_EQ(parsed->since_chosen, 3);
  ASSERT_EQ(parsed->containers.size(), 2u);
  EXPECT_EQ(parsed->containers[0].name, "00000-of-00002.fbc");
  EXPECT_EQ(parsed->containers[1].tail_hash, UINT64_MAX);
  ASSERT_EQ(parsed->parents.size(), 2u);
  EXPECT_EQ(parsed->parents[1].created_ns, 22);
  EXPECT_EQ(parsed->parents[1].raw_bytes, 20u);
  EXPECT_EQ(parsed->since_full, 3u);
  EXPECT_EQ(parsed->lossy, facts_.lossy);
  EXPECT_EQ(sum_outcomes(reports_, 1)[0].matches, 4u);
}

TEST_F(ManifestTest, ReportsThatDoNotFitAreRefused) {
  facts_.parent = nullptr;
  EXPECT_EQ(make_manifest(facts_, reports_).error().kind, ErrorKind::corrupt);
  facts_.parent = &parent_;
  parent_.parents.clear();
  EXPECT_EQ(make_manifest(facts_, reports_).error().kind, ErrorKind::corrupt);
  for (auto& [number, report] : reports_) report.parents.clear();
  EXPECT_TRUE(make_manifest(facts_, reports_));
  reports_[1].lossy.clear();
  EXPECT_EQ(make_manifest(facts_, reports_).error().kind, ErrorKind::corrupt);
}

TEST_F(ManifestTest, WithoutFramesElsewhereTheSetIsFull) {
  for (auto& [number, report] : reports_) report.parents.clear();
  EXPECT_EQ(make_manifest(facts_, reports_)->since_full, 0u);
}

}  // namespace
}  // namespace forebay::engine
