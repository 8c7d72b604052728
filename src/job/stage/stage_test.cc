#include "job/stage/stage.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "job/stage/stage_notes.h"

namespace forebay::job {
namespace {

using Kind = Completion::Kind;

constexpr int64_t kSecond = 1'000'000'000;
const WallTime kNow{std::chrono::seconds(1'000'000)};

StagedFile file(const std::string& name, uint64_t size, int64_t seconds_ago = 100) {
  StagedFile file;
  file.row.name = name;
  file.row.size = size;
  file.row.mtime_s = 1'000'000 - seconds_ago;
  file.identity.ctime_ns = file.row.mtime_s * kSecond;
  return file;
}

StagedFile directory(const std::string& name) {
  StagedFile made;
  made.row.name = name;
  made.row.kind = FileKind::directory;
  return made;
}

MarkedFile marked(const StagedFile& file) {
  return {file.row.name, file.row.size, file.row.mtime_s, file.row.mtime_ns};
}

// Two ranks with two files each, and one that is nobody's.
Listing begun() {
  Listing listing;
  listing.is_begun = true;
  listing.step = 40;
  listing.files = {file("a0", 1), file("a1", 2), file("b0", 3), file("b1", 4), file("nobody's", 5)};
  listing.markers = {{.rank = 0, .ranks = 4, .files = {marked(listing.files[0]), marked(listing.files[2])}},
                     {.rank = 1, .ranks = 4, .files = {marked(listing.files[1]), marked(listing.files[3])}}};
  return listing;
}

TEST(Completion, IsParsed) {
  EXPECT_EQ(parse_completion("api")->kind, Kind::api);
  EXPECT_EQ(parse_completion("rename")->kind, Kind::rename);
  EXPECT_EQ(parse_completion("marker:{set}/DONE")->marker, "{set}/DONE");
  EXPECT_EQ(parse_completion("settled:64")->files, 64u);
  EXPECT_EQ(parse_completion("settled:64:5")->quiet, std::chrono::seconds(5));
  for (const char* bad :
       {"", "API", "marker", "marker:", "marker:DONE", "marker:{set}/{set}", "marker:../{set}", "marker:/{set}",
        "settled", "settled:", "settled:0", "settled:x", "settled:1:0", "settled:1:100000", "settled:1:", "other:1"})
    EXPECT_FALSE(parse_completion(bad)) << bad;
}

TEST(Names, TellTheSetOfAChange) {
  const Completion api;
  const Completion inside = parse_completion("marker:{set}/DONE").value();
  const Completion outside = parse_completion("marker:flags/{set}.done").value();
  EXPECT_EQ(set_of("dump/f", api), "dump");
  EXPECT_EQ(set_of("dump", api), "dump");
  EXPECT_EQ(set_of(".forebay/sets/dump/rank-00000000", api), "dump");
  EXPECT_EQ(set_of(".forebay/agent.sock", api), std::nullopt);
  EXPECT_EQ(set_of("x.tmp/f", api), std::nullopt);
  EXPECT_EQ(set_of("dump/DONE", inside), "dump");
  EXPECT_EQ(set_of("flags/dump.done", outside), "dump");
  EXPECT_EQ(marker_of("dump", inside), "dump/DONE");
  EXPECT_EQ(marker_of("dump", outside), "flags/dump.done");
}

TEST(Names, TellMarkersFromOtherThings) {
  const auto is_marker = [](const char* name, const char* rule) {
    return is_of_marker(name, parse_completion(rule).value());
  };
  EXPECT_TRUE(is_marker("dump.done", "marker:{set}.done"));
  EXPECT_TRUE(is_marker("flags", "marker:flags/{set}.done"));
  EXPECT_FALSE(is_marker("dump", "marker:{set}/DONE"));
  EXPECT_FALSE(is_marker("dump", "marker:flags/{set}.done"));
  EXPECT_FALSE(is_marker("dump.done", "rename"));
}

TEST(Begun, IsCompleteWhenAllRanksOfTheNodeHaveLeftMarkers) {
  const Verdict verdict = judge("dump", begun(), {0, 1}, {}, kNow);
  ASSERT_TRUE(verdict.content) << verdict.reason;
  EXPECT_EQ(verdict.content->ranks, 4u);
  EXPECT_EQ(verdict.content->step, 40);
  EXPECT_EQ(verdict.content->complete, (std::vector<uint32_t>{0, 1}));
  ASSERT_EQ(verdict.content->files.size(), 4u) << "what no marker lists does not belong to it";
  for (const Content::File& one : verdict.content->files) EXPECT_EQ(one.rank, one.listed % 2);

  EXPECT_TRUE(judge("dump", begun(), {}, {}, kNow).content) << "after an agent was started again it knows no rank";
  EXPECT_FALSE(judge("dump", begun(), {0, 1, 2}, {}, kNow).content);
  EXPECT_NE(judge("dump", begun(), {0, 1, 2}, {}, kNow).reason.find("rank 2"), std::string::npos);
}

TEST(Begun, IsNotCompleteWithoutAnyMarker) {
  Listing listing = begun();
  listing.markers.clear();
  EXPECT_FALSE(judge("dump", listing, {}, {}, kNow).content);
  listing.is_begun = false;
  EXPECT_FALSE(judge("dump", listing, {}, {}, kNow).content);
}

TEST(Begun, CountsRanksWithoutFiles) {
  Listing listing = begun();
  listing.markers.push_back({.rank = 2, .ranks = 4, .files = {}});
  const Verdict verdict = judge("dump", listing, {0, 1, 2}, {}, kNow);
  ASSERT_TRUE(verdict.content);
  EXPECT_EQ(verdict.content->complete, (std::vector<uint32_t>{0, 1, 2}));
}

// A killed writer, a second one, a deletion: whatever is not as the marker says, the set is not offered.
TEST(Begun, HoldsEveryFileToItsMarker) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Listing listing = begun();
    const size_t which = random() % 4;
    StagedFile& victim = listing.files[which];
    switch (random() % 5) {
      case 0:
        victim.row.size += 1 + random() % 3;
        break;
      case 1:
        victim.row.mtime_ns ^= 1u << random() % 29;
        break;
      case 2:
        victim.row.mtime_s += 1;
        break;
      case 3:
        victim.row.kind = FileKind::symlink;
        break;
      default:
        listing.files.erase(listing.files.begin() + static_cast<ptrdiff_t>(which));
    }
    EXPECT_FALSE(judge("dump", listing, {0, 1}, {}, kNow).content);
  }
}

TEST(Begun, RefusesAFileOfTwoRanks) {
  Listing listing = begun();
  listing.markers[1].files.push_back(listing.markers[0].files[0]);
  EXPECT_FALSE(judge("dump", listing, {0, 1}, {}, kNow).content);
}

TEST(Fingerprint, TellsContentsApart) {
  const std::string before = judge("dump", begun(), {}, {}, kNow).content->fingerprint;
  EXPECT_EQ(judge("dump", begun(), {}, {}, kNow).content->fingerprint, before);
  Listing listing = begun();
  listing.files[1].row.mtime_ns += 1;
  listing.markers[1].files[0].mtime_ns += 1;
  EXPECT_NE(judge("dump", listing, {}, {}, kNow).content->fingerprint, before);
  listing = begun();
  listing.markers.pop_back();
  EXPECT_NE(judge("dump", listing, {}, {}, kNow).content->fingerprint, before);
}

TEST(MarkerRule, WantsAMarkerThatNoFileIsNewerThan) {
  const Completion rule = parse_completion("marker:{set}/DONE").value();
  Listing listing;
  listing.files = {directory("d"), file("d/x", 3, 50), file("DONE", 0, 40)};
  EXPECT_FALSE(judge("dump_3", listing, {}, rule, kNow).content);
  listing.own_marker = kNow - std::chrono::seconds(40);
  const Verdict verdict = judge("dump_3", listing, {}, rule, kNow);
  ASSERT_TRUE(verdict.content) << verdict.reason;
  EXPECT_EQ(verdict.content->files.size(), 3u);
  EXPECT_EQ(verdict.content->files.back().listed, 0u) << "regular files come first";
  EXPECT_EQ(verdict.content->files.front().rank, -1);
  EXPECT_EQ(verdict.content->step, 3);
  listing.files[1] = file("d/x", 3, 39);
  EXPECT_FALSE(judge("dump_3", listing, {}, rule, kNow).content) << "it is being written anew";
}

TEST(RenameRule, TakesWhatIsThere) {
  const Completion rule = parse_completion("rename").value();
  Listing listing;
  listing.files = {directory("d")};
  EXPECT_FALSE(judge("dump", listing, {}, rule, kNow).content);
  listing.files.push_back(file("d/x", 1));
  EXPECT_TRUE(judge("dump", listing, {}, rule, kNow).content);
  listing.foreign = "d/fifo";
  EXPECT_FALSE(judge("dump", listing, {}, rule, kNow).content);
}

TEST(SettledRule, WaitsForAllFilesAndForQuiet) {
  const Completion rule = parse_completion("settled:2:30").value();
  Listing listing;
  listing.files = {file("a", 1, 31)};
  EXPECT_FALSE(judge("dump", listing, {}, rule, kNow).content);
  EXPECT_TRUE(judge("dump", listing, {}, rule, kNow).is_misfit) << "nobody wrote to it for 30 s";
  EXPECT_FALSE(judge("dump", listing, {}, rule, kNow - std::chrono::seconds(2)).is_misfit);
  EXPECT_EQ(judge("dump", listing, {}, rule, kNow - std::chrono::seconds(2)).again, kNow - std::chrono::seconds(1));
  listing.files.push_back(file("b", 1, 20));
  Verdict verdict = judge("dump", listing, {}, rule, kNow);
  EXPECT_FALSE(verdict.content);
  EXPECT_EQ(verdict.again, kNow + std::chrono::seconds(10));
  listing.files[1] = file("b", 1, 30);
  verdict = judge("dump", listing, {}, rule, kNow);
  EXPECT_TRUE(verdict.content && verdict.needs_check);
  listing.files[1].row.name = "b.tmp";
  EXPECT_FALSE(judge("dump", listing, {}, rule, kNow).content);
  listing.files[1].row.name = "b";
  listing.files.push_back(file("c", 1, 100));
  EXPECT_FALSE(judge("dump", listing, {}, rule, kNow).content) << "more than were announced";
}

TEST(SettledRule, DoesNotWaitWhenNobodyWrites) {
  const Completion rule = parse_completion("settled:1:30").value();
  Listing listing;
  listing.files = {file("a", 1, 5)};
  EXPECT_FALSE(judge("dump", listing, {}, rule, kNow).content);
  const Verdict verdict = judge("dump", listing, {}, rule, kNow, kNow - std::chrono::seconds(5));
  ASSERT_TRUE(verdict.content);
  EXPECT_EQ(verdict.content->written_ns, listing.files[0].identity.ctime_ns);
  EXPECT_FALSE(judge("dump", listing, {}, rule, kNow, kNow - std::chrono::seconds(6)).content) << "written since then";
  listing.files.push_back(file("b", 1, 5));
  EXPECT_FALSE(judge("dump", listing, {}, rule, kNow, kNow).content) << "of these nobody knows what they are";
}

TEST(SettledRule, DoesNotTrustTimesThatProgramsSet) {
  const Completion rule = parse_completion("settled:1:30").value();
  Listing listing;
  listing.files = {file("a", 1, 1000)};
  listing.files[0].identity.ctime_ns = (1'000'000 - 1) * kSecond;
  EXPECT_FALSE(judge("dump", listing, {}, rule, kNow).content);
}

TEST(Notes, OutcomesComeBack) {
  const Outcome outcome{.state = wire::SetState::skipped,
                        .stored_as = "dump+2",
                        .message = "why \xff",
                        .fingerprint = "f",
                        .step = -1,
                        .ended_ns = 12,
                        .restored_ns = 13,
                        .written_ns = 14};
  const auto back = decode_outcome(encode_outcome(outcome), "o");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->state, outcome.state);
  EXPECT_EQ(back->stored_as, outcome.stored_as);
  EXPECT_EQ(back->step, outcome.step);
  EXPECT_EQ(back->fingerprint, outcome.fingerprint);
  EXPECT_EQ(back->ended_ns, outcome.ended_ns);
  EXPECT_EQ(back->restored_ns, outcome.restored_ns);
  EXPECT_EQ(back->written_ns, outcome.written_ns);
  EXPECT_FALSE(decode_outcome("forebay-outcome 0\n{}", "o"));
}

}  // namespace
}  // namespace forebay::job
