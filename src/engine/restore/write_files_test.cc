#include "engine/restore/write_files.h"

#include <sys/stat.h>

#include "engine/restore/directory_target.h"
#include "engine/test_memory_sources.h"

namespace forebay::engine {
namespace {

class WriteTest : public SetTest {
 protected:
  WriteTest() {
    write_ranks(6, 60, 50);
    std::filesystem::create_directory(tree() + "/sub");
    for (const int rank : {0, 1, 2, 3, 4, 5}) write(tree() + fmt::format("/sub/part.{}", rank), std::string(500, 'p'));
    std::filesystem::create_symlink("notes.txt", tree() + "/link");
    PackOptions options = this->options("aware-block", "balanced");
    options.scheme.frame_bytes = 32 << 10;
    options.group_size = 4;
    pack_ok(options);
    entries_ = find().manifest->containers;
    resources_.memory_bytes = *buffer_bytes(resources_.memory_bytes);
  }

  Result<WrittenFiles> write_to(Target& target, size_t container, const std::set<uint32_t>& ranks,
                                std::stop_token stop = {}) const {
    return write_container_files(find(), entries_[container], ranks, target, resources_, std::move(stop));
  }

  static std::vector<std::string> names(const MemoryTarget& target) {
    std::vector<std::string> all;
    for (const auto& [name, entry] : target.entries) all.push_back(name);
    return all;
  }

  std::vector<store::ContainerEntry> entries_;
  Resources resources_ = resources();
};

using Names = std::vector<std::string>;

TEST_F(WriteTest, TheWantedRanksFilesComeBack) {
  MemoryTarget target;
  const auto written = write_to(target, 0, {1, 3, 5});
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(names(target), (Names{"dump.1.npy", "dump.3.npy", "sub/part.1", "sub/part.3"}));
  EXPECT_EQ(target.created, 4);
  EXPECT_EQ(written->files, 4u);
  for (const auto& [name, entry] : target.entries) EXPECT_EQ(entry.content, read_text(tree() + "/" + name));
  EXPECT_FALSE(target.finished);
  ASSERT_TRUE(write_to(target, 1, {1, 3, 5}));
  EXPECT_EQ(target.entries.size(), 6u);
  EXPECT_TRUE(target.entries.contains("dump.5.npy"));
}

TEST_F(WriteTest, RankZeroHasDirectoriesAndLinks) {
  MemoryTarget target;
  ASSERT_TRUE(write_to(target, 0, {0}));
  EXPECT_EQ(names(target), (Names{"dump.0.npy", "link", "notes.txt", "sub", "sub/part.0"}));
  EXPECT_EQ(target.entries["link"].row.link_target, "notes.txt");
  EXPECT_EQ(target.entries["sub"].row.kind, FileKind::directory);
}

TEST_F(WriteTest, NobodysFilesAreNothing) {
  MemoryTarget target;
  for (const std::set<uint32_t>& ranks : {std::set<uint32_t>{}, {4}, {77}}) {
    const auto written = write_to(target, 0, ranks);
    ASSERT_TRUE(written);
    EXPECT_EQ(written->files, 0u);
  }
  EXPECT_EQ(target.created, 0);
}

TEST_F(WriteTest, ADirectoryGetsModesAndTimes) {
  ::chmod((tree() + "/dump.2.npy").c_str(), 0600);
  PackOptions options = this->options();
  options.name = "modes";
  pack_ok(options);
  const auto set = find("modes");
  {
    auto target = *DirectoryTarget::open(path("back"), false);
    ASSERT_TRUE(write_container_files(set, set.manifest->containers[0], {2, 4}, target, resources_));
    ASSERT_TRUE(target.finish());
    const auto again = write_container_files(set, set.manifest->containers[0], {2}, target, resources_);
    EXPECT_EQ(again.error().kind, ErrorKind::exists);
  }
  EXPECT_EQ(expect_subset("back"), 4u);
  struct stat was{}, is{};
  ASSERT_EQ(::stat((tree() + "/dump.2.npy").c_str(), &was), 0);
  ASSERT_EQ(::stat(path("back/dump.2.npy").c_str(), &is), 0);
  EXPECT_EQ(is.st_mode, was.st_mode);
  EXPECT_EQ(is.st_mtim.tv_nsec, was.st_mtim.tv_nsec);
}

TEST_F(WriteTest, NoFileHasANameBeforeAllAreThere) {
  const OpenSet set = open();
  MemoryTarget target;
  FileWriter writer(target, resources_, 0);
  const auto all = [](const FileRow&) { return true; };
  for (const OpenContainer& container : set.containers) {
    const Selection selection = select(container, all);
    ASSERT_TRUE(writer.write(selection, resources_.memory_bytes));
    EXPECT_TRUE(target.entries.empty());
  }
  const auto written = writer.name_files();
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(written->files, 15u);
  EXPECT_EQ(target.entries.size(), 15u);
}

TEST_F(WriteTest, OneNameInTwoContainersIsNoticedBeforeAnythingHasAName) {
  const OpenSet set = open();
  MemoryTarget target;
  FileWriter writer(target, resources_, 0);
  const Selection selection = select(set.containers[0], [](const FileRow& file) { return file.rank == 1; });
  ASSERT_TRUE(writer.write(selection, resources_.memory_bytes));
  ASSERT_TRUE(writer.write(selection, resources_.memory_bytes));
  EXPECT_EQ(writer.name_files().error().kind, ErrorKind::corrupt);
  EXPECT_TRUE(target.entries.empty());
}

TEST_F(WriteTest, DamageIsToldAndNothingGetsAName) {
  const std::string path = container_path("set", 0);
  const uint64_t at = open().containers[0].index().frames[0].record_offset + 200;
  flip_bit(path, at, 3);
  MemoryTarget target;
  const auto written = write_to(target, 0, {0, 1, 2, 3});
  EXPECT_EQ(written.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(written.error().path, path);
  EXPECT_TRUE(target.entries.empty());
  EXPECT_TRUE(write_to(target, 1, {4, 5}));  // the other container is whole
  std::filesystem::remove(path);
  EXPECT_EQ(write_to(target, 0, {0}).error().kind, ErrorKind::corrupt);
}

TEST_F(WriteTest, AnotherContainerInItsPlaceIsNoticed) {
  std::filesystem::copy_file(container_path("set", 1), container_path("set", 0),
                             std::filesystem::copy_options::overwrite_existing);
  MemoryTarget target;
  EXPECT_EQ(write_to(target, 0, {0, 4}).error().kind, ErrorKind::corrupt);
}

TEST_F(WriteTest, ErrorsOfTheTargetEndIt) {
  MemoryTarget target;
  target.before_write = []() -> Result<void> { return fail(ErrorKind::no_space, "the stage is full"); };
  EXPECT_EQ(write_to(target, 0, {0}).error().kind, ErrorKind::no_space);
  EXPECT_TRUE(target.entries.empty());
}

TEST_F(WriteTest, AStopEndsIt) {
  std::stop_source stop;
  MemoryTarget target;
  target.before_write = [&] {
    stop.request_stop();
    return Result<void>();
  };
  EXPECT_EQ(write_to(target, 0, {0, 1, 2, 3}, stop.get_token()).error().kind, ErrorKind::cancelled);
  EXPECT_TRUE(target.entries.empty());
}

TEST_F(WriteTest, TheMemoryIsABound) {
  resources_.memory_bytes = 20 << 10;
  MemoryTarget target;
  EXPECT_EQ(write_to(target, 0, {0}).error().kind, ErrorKind::limit);
}

}  // namespace
}  // namespace forebay::engine
