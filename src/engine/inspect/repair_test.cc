#include "engine/inspect/repair.h"

#include "base/posix/file_sink.h"
#include "engine/test_sets.h"

namespace forebay::engine {
namespace {

class RepairTest : public SetTest {
 protected:
  // Four ranks in two containers, one array a frame.
  void pack_four() {
    write_ranks(4, 64, 64);
    PackOptions pack_options = options("aware", "none");
    pack_options.group_size = 2;
    pack_options.scheme.frame_bytes = 64 * 64 * 8;
    pack_ok(pack_options);
  }
  std::string container(int number) const { return container_path("set", number); }
  uint64_t frame_offset(size_t container, size_t frame) const {
    return open().containers[container].index().frames[frame].record_offset;
  }
  Result<RepairReport> repair_set(const std::string& from = "set", const std::string& to = "repaired") const {
    return repair(open_store(), from, to, resources());
  }
  RepairReport repair_ok() const {
    const auto report = repair_set();
    if (!report) throw std::runtime_error(report.error().message());
    return *report;
  }
  void lose_trailer(int number) const {
    std::filesystem::resize_file(container(number), std::filesystem::file_size(container(number)) - 10);
  }
};

TEST_F(RepairTest, LeavesAnIntactSetAlone) {
  pack_four();
  const RepairReport report = repair_ok();
  EXPECT_EQ(report.name, "");
  EXPECT_EQ(report.whole_files.size(), 5u);
  EXPECT_TRUE(report.lost_files.empty());
  EXPECT_FALSE(open_store().find("repaired"));
}

TEST_F(RepairTest, AHeadIsNotBelievedAnyNumberOfFrames) {
  pack_four();
  const std::string path = container(0);
  std::filesystem::remove(path);
  Catalogue catalogue;
  catalogue.files.push_back({.name = "large", .size = uint64_t{1} << 45, .link_target = {}, .format = "opaque"});
  ASSERT_TRUE(
      container::Writer::create(*FileSink::create(path), catalogue, {}));  // no more than a head: it is never finished
  const RepairReport report = repair_ok();
  EXPECT_EQ(report.containers_lost, 1u);
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_NE(report.remarks[0].find("no container of its size"), std::string::npos) << report.remarks[0];
}

TEST_F(RepairTest, RebuildsALostTrailer) {
  pack_four();
  lose_trailer(1);
  EXPECT_FALSE(restore_to("before"));
  const RepairReport report = repair_ok();
  EXPECT_EQ(report.name, "repaired");
  EXPECT_EQ(report.containers_rewritten, 1u);
  EXPECT_EQ(report.whole_files.size(), 5u);
  EXPECT_TRUE(verify_ok("repaired").intact());
  ASSERT_TRUE(restore_to("after", "repaired"));
  EXPECT_EQ(expect_subset("after"), 5u);
  EXPECT_FALSE(verify_ok("set").intact()) << "the damaged set stays as it is";
}

TEST_F(RepairTest, RebuildsALostIndexFromTheHead) {
  pack_four();
  const uint64_t size = std::filesystem::file_size(container(0));
  std::filesystem::resize_file(container(0), frame_offset(0, 2) + 100);  // the skeletons' frame and all after it
  ASSERT_LT(std::filesystem::file_size(container(0)), size);
  const RepairReport report = repair_ok();
  EXPECT_EQ(report.frames_lost, 1u);
  EXPECT_EQ(report.whole_files, (std::vector<std::string>{"dump.2.npy", "dump.3.npy"}));
  EXPECT_FALSE(report.remarks.empty());
}

TEST_F(RepairTest, SavesWhatIsWholeAndNamesWhatIsLost) {
  pack_four();
  flip_bit(container(0), frame_offset(0, 1) + 1000, 2);
  const RepairReport report = repair_ok();
  EXPECT_EQ(report.frames_lost, 1u);
  EXPECT_EQ(report.containers_rewritten, 1u);
  EXPECT_EQ(report.whole_files.size(), 4u);
  ASSERT_EQ(report.lost_files.size(), 1u);
  EXPECT_TRUE(report.lost_files[0].starts_with("dump.1.npy: ")) << report.lost_files[0];

  const VerifyReport verified = verify_ok("repaired");
  ASSERT_EQ(verified.damages.size(), 1u);
  EXPECT_EQ(verified.damages[0].files, (std::vector<std::string>{"dump.1.npy"}));
  EXPECT_NE(verified.damages[0].what.find("lost"), std::string::npos) << verified.damages[0].what;

  EXPECT_FALSE(restore_to("all", "repaired"));
  ASSERT_TRUE(restore_to("some", "repaired", {"dump.0.npy", "dump.[23].npy", "notes.txt"}));
  EXPECT_EQ(expect_subset("some"), 4u);
  EXPECT_FALSE(restore_to("lost", "repaired", {"dump.1.npy"}));

  const auto again = repair_set("repaired", "again");
  ASSERT_TRUE(again.has_value()) << again.error().message();
  EXPECT_EQ(again->name, "") << "a second repair cannot do better";
  EXPECT_EQ(again->lost_files.size(), 1u);
}

TEST_F(RepairTest, NoticesAMissingContainerEvenWithoutTheManifest) {
  pack_four();
  std::filesystem::remove(container(1));
  std::filesystem::remove(set_path("set") + "/manifest");
  const RepairReport report = repair_ok();
  EXPECT_EQ(report.containers_lost, 1u);
  EXPECT_EQ(report.whole_files, (std::vector<std::string>{"dump.0.npy", "notes.txt", "dump.1.npy"}));
  EXPECT_FALSE(verify_ok("repaired").intact());
  EXPECT_FALSE(restore_to("all", "repaired"));
}

TEST_F(RepairTest, RemembersALostContainer) {
  pack_four();
  std::filesystem::remove(container(0));
  const RepairReport report = repair_ok();
  EXPECT_EQ(report.name, "repaired");
  EXPECT_EQ(report.whole_files, (std::vector<std::string>{"dump.2.npy", "dump.3.npy"}));
  ASSERT_EQ(report.remarks.size(), 1u);
  const VerifyReport verified = verify_ok("repaired");
  ASSERT_EQ(verified.damages.size(), 1u);
  EXPECT_TRUE(verified.damages[0].all_files);
  EXPECT_FALSE(restore_to("all", "repaired")) << "incomplete sets are not restored unasked";
  ASSERT_TRUE(restore_to("some", "repaired", {"dump.2.npy", "dump.3.npy"}));
  EXPECT_EQ(expect_subset("some"), 2u);
}

TEST_F(RepairTest, DoesNotTakeAnotherSetsContainer) {
  pack_four();
  write(container(0), read_text(container(1)));
  const RepairReport report = repair_ok();
  EXPECT_EQ(report.whole_files, (std::vector<std::string>{"dump.2.npy", "dump.3.npy"}));
  EXPECT_FALSE(verify_ok("repaired").intact());
}

TEST_F(RepairTest, RebuildsALostManifest) {
  pack_four();
  flip_bit(set_path("set") + "/manifest", 100, 1);
  const RepairReport report = repair_ok();
  EXPECT_EQ(report.containers_rewritten, 0u);
  EXPECT_EQ(report.remarks.size(), 1u);
  EXPECT_TRUE(verify_ok("repaired").intact());
  EXPECT_EQ(find("repaired").manifest->ranks, 4u);
  EXPECT_EQ(find("repaired").manifest->group_size, 2u);
  ASSERT_TRUE(restore_to("out", "repaired"));
  EXPECT_EQ(expect_subset("out"), 5u);
}

TEST_F(RepairTest, FailsCleanly) {
  pack_four();
  EXPECT_EQ(repair_set("none").error().kind, ErrorKind::not_found);
  EXPECT_EQ(repair_set("set", "set").error().kind, ErrorKind::exists);
  for (int number : {0, 1}) write(container(number), std::string(5000, 'x'));
  EXPECT_EQ(repair_set().error().kind, ErrorKind::corrupt);
  EXPECT_FALSE(open_store().find("repaired"));
}

// Whatever one flipped bit hits, a repair gives a set whose restorable files are right.
TEST_F(RepairTest, NeverSavesAWrongByte) {
  write(tree() + "/a.0.npy", npy_file(field(0, 20), {20}));
  write(tree() + "/a.1.npy", npy_file(field(1, 20), {20}));
  pack_ok(options("aware"));
  const std::string file = container(0);
  for (uint64_t offset = 0; offset < std::filesystem::file_size(file); offset += 3) {
    flip_bit(file, offset, static_cast<int>(offset % 8));
    const auto report = repair_set();
    if (report && !report->name.empty()) {
      for (const std::string& name : report->whole_files) EXPECT_TRUE(restore_to("out", "repaired", {name})) << offset;
      if (std::filesystem::exists(path("out"))) expect_subset("out");
      EXPECT_TRUE(open_store().remove("repaired"));
    }
    flip_bit(file, offset, static_cast<int>(offset % 8));
  }
}

}  // namespace
}  // namespace forebay::engine
