#include "engine/inspect/verify.h"

#include "base/posix/file_sink.h"
#include "container/container.h"
#include "engine/test_sets.h"

namespace forebay::engine {
namespace {

using testing::Test;

class VerifyTest : public SetTest {
 protected:
  std::string container(int number = 0, const std::string& set = "set") const { return container_path(set, number); }
};

TEST_F(VerifyTest, FindsNothingWrongWithAnIntactSet) {
  write_ranks(4, 50, 50);
  for (const char* scheme : kSchemes) {
    PackOptions pack_options = options(scheme);
    pack_options.name = scheme;
    pack_options.group_size = 3;
    const PackReport packed = pack_ok(pack_options);
    const VerifyReport report = verify_ok(scheme);
    EXPECT_TRUE(report.intact()) << report.damages[0].what;
    EXPECT_EQ(report.frames, packed.frames);
    EXPECT_EQ(report.files, packed.files);
    EXPECT_EQ(report.raw_bytes, packed.raw_bytes);
  }
}

// What verify promises: no flipped bit passes, wherever it is, and no wrong byte is ever restored.
TEST_F(VerifyTest, NoticesEveryFlippedBit) {
  write(tree() + "/a.0.npy", npy_file(field(0, 20), {20}));
  write(tree() + "/a.1.npy", npy_file(field(1, 20), {20}));
  pack_ok(options("aware"));
  for (const std::string& file : {container(), set_path("set") + "/manifest"}) {
    const std::string content = read_text(file);
    for (uint64_t offset = 0; offset < content.size(); ++offset) {
      for (int bit = 0; bit < 8; ++bit) {
        flip_bit(file, offset, bit);
        const VerifyReport report = verify_ok();
        EXPECT_FALSE(report.intact()) << file << " byte " << offset << " bit " << bit;
        for (const Damage& damage : report.damages) EXPECT_EQ(damage.container, file);
        flip_bit(file, offset, bit);
      }
      flip_bit(file, offset, static_cast<int>(offset % 8));
      if (const auto restored = restore_to("out")) expect_subset("out");  // some damage lies beside all data
      flip_bit(file, offset, static_cast<int>(offset % 8));
    }
    EXPECT_EQ(read_text(file), content);
  }
  EXPECT_TRUE(verify_ok().intact());
}

TEST_F(VerifyTest, NamesTheFrameAndTheFilesThatSuffer) {
  write_ranks(4, 64, 64);
  PackOptions pack_options = options("aware", "none");
  pack_options.scheme.frame_bytes = 2 * 64 * 64 * 8;  // two ranks a frame
  pack_ok(pack_options);
  flip_bit(container(), open().containers[0].index().frames[1].record_offset + 3000, 0);
  const VerifyReport report = verify_ok();
  ASSERT_EQ(report.damages.size(), 1u);
  EXPECT_EQ(report.damages[0].frame, 1u);
  EXPECT_TRUE(report.damages[0].offset.has_value());
  EXPECT_EQ(report.damages[0].files, (std::vector<std::string>{"dump.2.npy", "dump.3.npy"}));
  EXPECT_FALSE(report.damages[0].all_files);
  EXPECT_FALSE(restore_to("all"));
  const auto others = restore_to("others", "set", {"dump.0.npy", "dump.1.npy"});
  ASSERT_TRUE(others.has_value()) << others.error().message();
  EXPECT_EQ(expect_subset("others"), 2u);
}

TEST_F(VerifyTest, ReportsEachOfSeveralDamages) {
  write_ranks(4, 64, 64);
  PackOptions pack_options = options("aware", "none");
  pack_options.scheme.frame_bytes = 64 * 64 * 8;
  pack_ok(pack_options);
  const auto offset_of = [&](size_t frame) { return open().containers[0].index().frames[frame].record_offset; };
  const uint64_t second = offset_of(1), last = offset_of(3);
  flip_bit(container(), second + 1, 0);  // a record's header: the walk over the records ends here
  flip_bit(container(), last + 20000, 0);
  flip_bit(container(), 30, 0);  // the head
  const VerifyReport report = verify_ok();
  ASSERT_EQ(report.damages.size(), 3u);
  EXPECT_EQ(report.damages[0].frame, 1u);
  EXPECT_EQ(report.damages[1].frame, 3u);
  EXPECT_FALSE(report.damages[2].frame.has_value());
  EXPECT_TRUE(report.damages[2].files.empty());
}

TEST_F(VerifyTest, NoticesTruncationAtEveryOffset) {
  write(tree() + "/a.0.npy", npy_file(field(0, 30), {30}));
  pack_ok(options());
  const uint64_t size = std::filesystem::file_size(container());
  for (uint64_t length = size; length-- > 0;) {
    std::filesystem::resize_file(container(), length);
    const VerifyReport report = verify_ok();
    ASSERT_EQ(report.damages.size(), 1u) << length;
    EXPECT_TRUE(report.damages[0].all_files);
    EXPECT_FALSE(restore_to("out")) << length;
  }
}

TEST_F(VerifyTest, NoticesAppendedBytes) {
  write_ranks(1, 8, 8);
  pack_ok(options());
  std::ofstream(container(), std::ios::app) << 'x';
  EXPECT_FALSE(verify_ok().intact());
  EXPECT_FALSE(restore_to("out"));
}

TEST_F(VerifyTest, NoticesAnotherValidContainer) {
  write_ranks(2, 8, 8);
  PackOptions pack_options = options();
  pack_options.group_size = 1;
  pack_ok(pack_options);
  const std::string first = read_text(container(0)), second = read_text(container(1));
  write(container(0), second);
  const VerifyReport report = verify_ok();
  ASSERT_EQ(report.damages.size(), 1u);
  EXPECT_EQ(report.damages[0].container, container(0));
  EXPECT_FALSE(restore_to("out"));
}

// Of files, links and directories alike, whatever faulty program wrote them.
TEST_F(VerifyTest, AgreesWithRestoreOnEveryChecksum) {
  write_ranks(2, 8, 8);
  std::filesystem::create_directory(tree() + "/sub");
  std::filesystem::create_symlink("notes.txt", tree() + "/link");
  pack_ok(options());
  const std::string path = container();
  const store::Manifest whole = *find().manifest;
  const auto source = FileSource::open(path);
  ASSERT_TRUE(source);
  const auto no_sizes = [](const auto&, const auto&) -> Result<std::vector<uint64_t>> { return {}; };
  const auto recovered = container::recover(**source, {64 << 20, no_sizes, [](auto) { return std::nullopt; }});
  ASSERT_TRUE(recovered);
  for (size_t file = 0; file < recovered->part.index.file_crcs.size(); ++file) {
    container::Recovered changed = *recovered;
    changed.part.index.file_crcs[file] ^= 1;
    std::filesystem::remove(path);
    ASSERT_TRUE(container::rewrite(**source, changed, *FileSink::create(path)));
    store::Manifest manifest = whole;
    const auto made = FileSource::open(path);
    manifest.containers[0].bytes = (*made)->size();
    manifest.containers[0].tail_hash = *store::tail_hash(**made);
    write(set_path("set") + "/manifest", store::serialise(manifest));
    const auto& row = recovered->part.index.catalogue.files[file];
    EXPECT_FALSE(verify_ok().intact()) << row.name;
    EXPECT_FALSE(restore_to("out")) << row.name;
  }
}

TEST_F(VerifyTest, NoticesAMissingContainer) {
  write_ranks(2, 8, 8);
  PackOptions pack_options = options();
  pack_options.group_size = 1;
  pack_ok(pack_options);
  const std::string missing = container(1);
  std::filesystem::remove(missing);
  const VerifyReport report = verify_ok();
  ASSERT_EQ(report.damages.size(), 1u);
  EXPECT_EQ(report.damages[0].container, missing);
  EXPECT_TRUE(report.damages[0].all_files);
  EXPECT_FALSE(restore_to("out"));
}

TEST_F(VerifyTest, ReadsContainersEvenWithoutTheManifest) {
  write_ranks(2, 64, 64);
  pack_ok(options("aware", "none"));
  std::filesystem::remove(set_path("set") + "/manifest");
  flip_bit(container(), 5000, 0);
  const VerifyReport report = verify_ok();
  ASSERT_EQ(report.damages.size(), 2u);
  EXPECT_EQ(report.damages[0].container, set_path("set") + "/manifest");
  EXPECT_EQ(report.damages[1].frame, 0u);
}

TEST_F(VerifyTest, LatestFallsBackToTheNewestIntactSet) {
  write_ranks(2, 8, 8);
  for (int step = 1; step <= 3; ++step) {
    PackOptions pack_options = options();
    pack_options.name = "DD" + std::to_string(step);
    pack_ok(pack_options);
  }
  for (const int step : {2, 3}) {
    const std::string file = container(0, "DD" + std::to_string(step));
    flip_bit(file, std::filesystem::file_size(file) / 2, 1);
  }
  const auto report = restore_to("out", "latest");
  ASSERT_TRUE(report.has_value()) << report.error().message();
  EXPECT_EQ(report->name, "DD1");
  EXPECT_EQ(report->skipped.size(), 2u);
  EXPECT_EQ(expect_subset("out"), 3u);

  std::filesystem::remove(container(0, "DD3"));
  std::filesystem::remove(set_path("DD2") + "/manifest");
  const auto again = restore_to("again", "latest");
  ASSERT_TRUE(again.has_value()) << again.error().message();
  EXPECT_EQ(again->name, "DD1");
  EXPECT_EQ(again->skipped.size(), 2u);
}

}  // namespace
}  // namespace forebay::engine
