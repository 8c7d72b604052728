#include "store/safe_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/fd_cache.h"
#include "store/sparse_write.h"
#include "store/test_store.h"

namespace forebay::store {
namespace {

namespace fs = std::filesystem;

class SafeTreeTest : public TempTest {
 protected:
  SafeTreeTest() : root_(path("target")) {}

  TargetDir target() { return value(TargetDir::open(root_)); }

  Result<void> put(TargetDir& dir, const std::string& name, std::string_view content, bool overwrite = false,
                   const Attributes& attributes = {}) {
    FOREBAY_TRY(const auto file, dir.create_file(name, content.size(), overwrite));
    FOREBAY_CHECK(file->write_at(0, as_bytes(content)));
    return file->commit(attributes);
  }

  std::string content(const std::string& name) const { return value(read_text(root_ + "/" + name, 1 << 30)); }

  struct stat info(const std::string& name) const {
    struct stat info{};
    EXPECT_EQ(::lstat((root_ + "/" + name).c_str(), &info), 0) << name;
    return info;
  }

  const std::string root_;
};

constexpr Attributes kOld{.mode = 0640, .mtime_s = 1'000'000'000, .mtime_ns = 123'456'789};

TEST_F(SafeTreeTest, FilesDirectoriesAndLinksComeWithModeAndTime) {
  {
    TargetDir dir = target();
    check(dir.make_directory("d", {.mode = 0555, .mtime_s = 7, .mtime_ns = 8}));
    check(put(dir, "d/f", "content", false, kOld));
    check(put(dir, "implied/deep/f", "", false, {.mode = 01755, .mtime_s = -5, .mtime_ns = 999'999'999}));
    check(dir.make_symlink("d/l", "../nowhere", kOld, false));
    check(dir.finish());
  }
  EXPECT_EQ(content("d/f"), "content");
  EXPECT_EQ(info("d/f").st_mode, S_IFREG | 0640u);
  EXPECT_EQ(info("d/f").st_mtim.tv_sec, kOld.mtime_s);
  EXPECT_EQ(info("d/f").st_mtim.tv_nsec, kOld.mtime_ns);
  EXPECT_EQ(info("d").st_mode, S_IFDIR | 0555u);
  EXPECT_EQ(info("d").st_mtim.tv_sec, 7);
  EXPECT_EQ(info("implied/deep/f").st_mode, S_IFREG | 01755u);
  EXPECT_EQ(info("implied/deep/f").st_mtim.tv_sec, -5);
  EXPECT_EQ(fs::read_symlink(root_ + "/d/l"), "../nowhere");
  EXPECT_EQ(info("d/l").st_mtim.tv_nsec, kOld.mtime_ns);
  EXPECT_EQ(names_in(root_)->size(), 2u) << "the directory for temporary files must be gone";
  fs::permissions(root_ + "/d", fs::perms::owner_all);
}

TEST_F(SafeTreeTest, SpecialModesAreGivenToThoseWhoAskAlone) {
  const auto restore = [&](bool special_modes) {
    TargetDir dir = value(TargetDir::open(root_, special_modes));
    check(dir.make_directory("d", {.mode = 03777}));
    check(put(dir, "user", "", true, {.mode = 04755}));
    check(put(dir, "d/group", "", true, {.mode = 02711}));
    check(dir.finish());
  };
  restore(false);
  EXPECT_EQ(info("user").st_mode, S_IFREG | 0755u);
  EXPECT_EQ(info("d/group").st_mode, S_IFREG | 0711u);
  EXPECT_EQ(info("d").st_mode, S_IFDIR | 01777u) << "the sticky bit takes from others, and lends nothing";
  restore(true);
  EXPECT_EQ(info("user").st_mode, S_IFREG | 04755u);
  EXPECT_EQ(info("d/group").st_mode, S_IFREG | 02711u);
  EXPECT_EQ(info("d").st_mode, S_IFDIR | 03777u);
}

TEST_F(SafeTreeTest, NamesThatLeadOutAreRefused) {
  TargetDir dir = target();
  for (const char* name : {"", "/etc/x", "../x", "a/../../x", "a/..", ".", "a//b", "a/", "..", "a/./b"}) {
    EXPECT_EQ(error(put(dir, name, "x")).kind, ErrorKind::invalid_argument) << name;
    EXPECT_EQ(error(dir.make_directory(name, {})).kind, ErrorKind::invalid_argument) << name;
    EXPECT_EQ(error(dir.make_symlink(name, "t", {}, false)).kind, ErrorKind::invalid_argument) << name;
  }
  EXPECT_EQ(error(put(dir, std::string("a\0b", 3), "x")).kind, ErrorKind::invalid_argument);
  EXPECT_FALSE(fs::exists(path("x")));
}

TEST_F(SafeTreeTest, LinksAreNeverFollowed) {
  fs::create_directories(path("outside/sub"));
  fs::create_directory(root_);
  fs::create_directory_symlink(path("outside"), root_ + "/before");
  fs::create_symlink(path("outside/file"), root_ + "/file");
  TargetDir dir = target();
  check(dir.make_symlink("restored", "../outside", {}, false));
  for (const char* link : {"before", "restored"}) {
    for (const bool overwrite : {false, true}) {
      EXPECT_EQ(error(put(dir, std::string(link) + "/x", "x", overwrite)).kind, ErrorKind::exists);
      EXPECT_EQ(error(put(dir, std::string(link) + "/sub/x", "x", overwrite)).kind, ErrorKind::exists);
      EXPECT_EQ(error(dir.make_symlink(std::string(link) + "/x", "t", {}, overwrite)).kind, ErrorKind::exists);
    }
    EXPECT_EQ(error(dir.make_directory(std::string(link) + "/y", {})).kind, ErrorKind::exists);
    EXPECT_EQ(error(dir.make_directory(link, {.mode = 0700})).kind, ErrorKind::exists);
  }
  check(put(dir, "file", "mine", true));  // replaces the link, not what it points to
  check(dir.finish());
  EXPECT_FALSE(fs::exists(path("outside/file")));
  EXPECT_FALSE(fs::is_symlink(root_ + "/file"));
  EXPECT_EQ(names_in(path("outside"))->size(), 1u);
  EXPECT_TRUE(names_in(path("outside/sub"))->empty());
}

TEST_F(SafeTreeTest, ManyFilesGetTheirNamesTogether) {
  constexpr int kFiles = 100;
  TargetDir dir = value(TargetDir::open(root_));
  std::vector<std::unique_ptr<TargetFile>> files;
  std::vector<TargetDir::Finished> finished;
  for (int i = 0; i < kFiles; ++i) {
    files.push_back(value(dir.create_file("d" + std::to_string(i % 3) + "/f" + std::to_string(i), 5, false)));
    check(files.back()->write_at(0, as_bytes(std::string_view("bytes"))));
    finished.push_back({files.back().get(), {.mode = 0640, .mtime_s = 1000 + i}});
  }
  EXPECT_FALSE(fs::exists(root_ + "/d0/f0"));
  check(dir.commit(finished));
  check(dir.finish());
  for (int i = 0; i < kFiles; ++i) {
    struct stat info{};
    ASSERT_EQ(::lstat((root_ + "/d" + std::to_string(i % 3) + "/f" + std::to_string(i)).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0640u);
    EXPECT_EQ(info.st_mtim.tv_sec, 1000 + i);
    EXPECT_EQ(info.st_size, 5);
  }
}

TEST_F(SafeTreeTest, NoFileGetsItsNameIfOneCannotBeFinished) {
  TargetDir dir = value(TargetDir::open(root_));
  const auto good = value(dir.create_file("a", 5, false)), bad = value(dir.create_file("b", 5, false));
  check(good->write_at(0, as_bytes(std::string_view("bytes"))));
  for (const auto& entry : fs::directory_iterator(root_)) {  // the directory of our own
    const bool is_own = entry.path().filename().string().starts_with(kRestoreLabel) && entry.is_directory();
    if (is_own) fs::create_directory(entry.path() / "1.part");  // in the way of "b"
  }
  const TargetDir::Finished finished[] = {{good.get(), {}}, {bad.get(), {}}};
  EXPECT_FALSE(dir.commit(finished));
  EXPECT_FALSE(fs::exists(root_ + "/a"));
  EXPECT_FALSE(fs::exists(root_ + "/b"));
}

// A file that nobody may write cannot be opened again to be made durable.
TEST_F(SafeTreeTest, MoreReadOnlyFilesThanDescriptorsComeWithTheirModes) {
  constexpr int kFiles = 40;
  constexpr uint64_t kLarge = 8 << 20;  // such files are synced one by one
  ASSERT_EQ(::mkdir(root_.c_str(), 0777), 0);
  ASSERT_EQ(::chmod(root_.c_str(), 0777), 0);
  ASSERT_EQ(::chmod(path("").c_str(), 0777), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{40, 40};
    ::setrlimit(RLIMIT_NOFILE, &limit);
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);  // root may write everything
    TargetDir dir = target();
    std::vector<std::unique_ptr<TargetFile>> files;
    std::vector<TargetDir::Finished> finished;
    for (int i = 0; i < kFiles; ++i) {
      files.push_back(value(dir.create_file("f" + std::to_string(i), kLarge, false)));
      check(files.back()->write_at(0, as_bytes(std::string_view("bytes"))));
      finished.push_back({files.back().get(), {.mode = 0444}});
    }
    ::_exit(dir.commit(finished) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  for (int i = 0; i < kFiles; ++i) EXPECT_EQ(info("f" + std::to_string(i)).st_mode & 07777, 0444u);
}

TEST(SyncTogether, IsForManySmallFilesAmongLittleElse) {
  constexpr uint64_t kMiB = 1 << 20;
  EXPECT_TRUE(sync_together(10'000, 40 * kMiB, 41 * kMiB));
  EXPECT_FALSE(sync_together(10, 1 * kMiB, 1 * kMiB)) << "few files";
  EXPECT_FALSE(sync_together(1000, 64'000 * kMiB, 64'000 * kMiB)) << "large files";
  EXPECT_FALSE(sync_together(10'000, 40 * kMiB, 4000 * kMiB)) << "others have written a lot";
  EXPECT_FALSE(sync_together(10'000, 40 * kMiB, UINT64_MAX)) << "nobody knows";
  EXPECT_FALSE(sync_together(0, 0, 0));
}

TEST_F(SafeTreeTest, DirectoryReplacedByALinkBeforeCommitIsNoticed) {
  fs::create_directory(path("outside"));
  TargetDir dir = target();
  check(dir.make_directory("d", {}));
  const auto file = value(dir.create_file("d/f", 1, false));
  fs::remove(root_ + "/d");
  fs::create_directory_symlink(path("outside"), root_ + "/d");
  EXPECT_EQ(error(file->commit({})).kind, ErrorKind::exists);
  EXPECT_EQ(error(dir.finish()).kind, ErrorKind::exists);
  EXPECT_TRUE(names_in(path("outside"))->empty());
}

TEST_F(SafeTreeTest, WhatIsInTheWayIsFoundBeforeAnythingIsMade) {
  TargetDir dir = target();
  fs::create_directory(root_ + "/d");
  std::ofstream(root_ + "/f") << "mine";
  for (const bool overwrite : {false, true}) {
    EXPECT_EQ(error(dir.check("d", Thing::file, overwrite)).kind, ErrorKind::exists);
    EXPECT_EQ(error(dir.check("d", Thing::link, overwrite)).kind, ErrorKind::exists);
    EXPECT_EQ(error(dir.check("f", Thing::directory, overwrite)).kind, ErrorKind::exists);
    EXPECT_EQ(error(dir.check("f/g", Thing::file, overwrite)).kind, ErrorKind::exists);
    check(dir.check("new/g", Thing::file, overwrite));
    check(dir.check("d", Thing::directory, overwrite));
  }
  check(dir.check("f", Thing::file, true));
  const auto file = value(dir.create_file("new/g", 1, false));
  EXPECT_FALSE(fs::exists(root_ + "/new"));
  EXPECT_EQ(error(dir.create_file("d", 1, true)).kind, ErrorKind::exists);
}

TEST_F(SafeTreeTest, NothingIsMadeOfWhatAStoreConsistsOf) {
  ASSERT_TRUE(Store::open_for_writing(path("sets")));
  EXPECT_EQ(error(TargetDir::open(path("sets"))).kind, ErrorKind::exists);
  EXPECT_EQ(error(TargetDir::open(path("sets/sets/new"))).kind, ErrorKind::exists);
  TargetDir dir = value(TargetDir::open(path("")));
  EXPECT_EQ(error(dir.create_file("sets/sets/x/f", 1, true)).kind, ErrorKind::exists);
  EXPECT_EQ(error(dir.create_file("sets/listing", 1, true)).kind, ErrorKind::exists);
  EXPECT_EQ(error(dir.make_directory("sets/jobs/x", {})).kind, ErrorKind::exists);
}

TEST_F(SafeTreeTest, ExistingFilesAreReplacedOnlyWithOverwrite) {
  TargetDir dir = target();
  check(put(dir, "f", "old"));
  EXPECT_EQ(error(put(dir, "f", "new")).kind, ErrorKind::exists);
  EXPECT_EQ(error(dir.make_symlink("f", "t", {}, false)).kind, ErrorKind::exists);
  EXPECT_EQ(content("f"), "old");
  const auto late = value(dir.create_file("g", 0, false));
  check(put(dir, "g", "first"));
  EXPECT_EQ(error(late->commit({})).kind, ErrorKind::exists);
  EXPECT_EQ(content("g"), "first");
  check(put(dir, "f", "new", true));
  EXPECT_EQ(content("f"), "new");
  check(dir.make_symlink("f", "t", {}, true));
  EXPECT_EQ(fs::read_symlink(root_ + "/f"), "t");
  check(dir.make_directory("d", {}));
  EXPECT_EQ(error(put(dir, "d", "x", true)).kind, ErrorKind::exists);
  EXPECT_EQ(error(put(dir, "g/x", "x", true)).kind, ErrorKind::exists);
}

TEST_F(SafeTreeTest, AbandonedFileLeavesNothing) {
  TargetDir dir = target();
  {
    const auto file = value(dir.create_file("f", 3, false));
    check(file->write_at(0, as_bytes("abc")));
  }
  EXPECT_FALSE(fs::exists(root_ + "/f"));
  for (const auto& entry : fs::recursive_directory_iterator(root_)) EXPECT_FALSE(entry.path().extension() == ".part");
}

TEST_F(SafeTreeTest, WeirdNamesWork) {
  const std::vector<std::string> names = {"a b", "line\nfeed", "\xff\xfe",    std::string(255, 'n'),
                                          "-rf", "*?[",        "caf\xc3\xa9", "..."};
  {
    TargetDir dir = target();
    for (const std::string& name : names) {
      check(put(dir, name, name));
      check(put(dir, "sub" + name.substr(0, 200) + "/" + name, name));
    }
    check(dir.finish());
  }
  for (const std::string& name : names) EXPECT_EQ(content(name), name);
  EXPECT_EQ(names_in(root_)->size(), 2 * names.size());
}

TEST_F(SafeTreeTest, PathsLongerThanTheSystemTakesAtOnceWork) {
  std::string name;
  for (int i = 0; i < 15; ++i) name += std::string(255, static_cast<char>('a' + i)) + "/";
  name += "f";
  TargetDir dir = target();
  check(put(dir, name, "deep"));
  check(dir.finish());
  EXPECT_TRUE(fs::exists(root_ + "/" + name.substr(0, 256)));
}

TEST_F(SafeTreeTest, ZerosBecomeHoles) {
  constexpr size_t kSize = 8 << 20;
  std::string bytes(kSize, '\0');
  bytes[5'000'000] = 1;
  TargetDir dir = target();
  check(put(dir, "f", bytes));
  EXPECT_EQ(content("f"), bytes);
  EXPECT_LT(info("f").st_blocks * 512, 64 << 10);
  const auto never_written = value(dir.create_file("empty", kSize, false));
  check(never_written->commit({}));
  EXPECT_EQ(content("empty"), std::string(kSize, '\0'));
}

TEST_F(SafeTreeTest, WritesOutsideTheFileAndImpossibleSizesAreRefused) {
  TargetDir dir = target();
  const auto file = value(dir.create_file("f", 10, false));
  EXPECT_EQ(error(file->write_at(8, as_bytes("abc"))).kind, ErrorKind::invalid_argument);
  EXPECT_EQ(error(file->write_at(UINT64_MAX, as_bytes("abc"))).kind, ErrorKind::invalid_argument);
  EXPECT_EQ(error(dir.create_file("g", UINT64_MAX, false)).kind, ErrorKind::no_space);
}

TEST_F(SafeTreeTest, FullFileSystemIsReportedWithTheFile) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{8192, 8192};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    TargetDir dir = target();
    const auto file = dir.create_file("big/file", 100'000, false);
    const Error full = file ? error((*file)->write_at(0, Bytes(100'000, std::byte{1}))) : file.error();
    ::_exit(full.kind == ErrorKind::no_space && full.path == root_ + "/big/file" ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(SafeTreeTest, MoreFilesThanDescriptorsWrittenByManyThreads) {
  constexpr size_t kFiles = 2000, kPieces = 4, kPiece = 100, kThreads = 4;
  TargetDir dir = target();
  std::vector<std::unique_ptr<TargetFile>> files;
  for (size_t i = 0; i < kFiles; ++i)
    files.push_back(
        value(dir.create_file("d" + std::to_string(i % 7) + "/f" + std::to_string(i), kPieces * kPiece, false)));
  EXPECT_LE(names_in("/proc/self/fd")->size(), 600u);
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < kFiles * kPieces; ++i) {
        if (i % kThreads != t) continue;
        const size_t f = i % kFiles, piece = i / kFiles;
        const Bytes bytes(kPiece, static_cast<std::byte>('a' + piece));
        if (!files[f]->write_at(piece * kPiece, bytes)) ++failures;
      }
    });
  for (auto& thread : threads) thread.join();
  ASSERT_EQ(failures, 0);
  for (auto& file : files) check(file->commit({}));
  check(dir.finish());
  std::string expected;
  for (size_t piece = 0; piece < kPieces; ++piece) expected += std::string(kPiece, static_cast<char>('a' + piece));
  for (size_t i = 0; i < kFiles; i += 97)
    EXPECT_EQ(content("d" + std::to_string(i % 7) + "/f" + std::to_string(i)), expected);
}

TEST_F(SafeTreeTest, WhatAKilledRestoreLeftIsRemovedAndNothingElse) {
  fs::create_directory(root_);
  std::ofstream(root_ + "/mine.lock") << "a lock file of the user";
  fs::create_directory(root_ + "/mine");
  const pid_t child = ::fork();
  if (child == 0) {
    TargetDir dir = target();
    const auto file = dir.create_file("f", 1000, false);
    ::_exit(0);  // no destructors: as if killed
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(names_in(root_)->size(), 4u);
  {
    TargetDir dir = target();
  }
  auto left = value(names_in(root_));
  std::ranges::sort(left);
  EXPECT_EQ(left, (std::vector<std::string>{"mine", "mine.lock"}));
}

TEST(SparseWrite, SkipsNothingButZeros) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const Fd fd(::open(testing::TempDir().c_str(), O_TMPFILE | O_RDWR, 0600));
    ASSERT_TRUE(fd);
    const size_t offset = random() % 10'000, size = random() % 30'000;
    Bytes bytes(size), read(size);
    for (int i = 0; size > 0 && i < 4; ++i) bytes[random() % size] = static_cast<std::byte>(random());
    ASSERT_EQ(::ftruncate(fd.get(), 50'000), 0);
    check(write_sparse(fd.get(), offset, bytes, "file"));
    ASSERT_EQ(::pread(fd.get(), read.data(), size, static_cast<off_t>(offset)), static_cast<ssize_t>(size));
    ASSERT_EQ(read, bytes);
  }
}

TEST(FdCache, KeepsAtMostItsCapacityAndReopens) {
  FdCache cache(3);
  int opened = 0;
  const auto open = [&]() -> Result<Fd> {
    ++opened;
    return Fd(::open("/dev/null", O_RDONLY));
  };
  for (uint64_t id = 0; id < 10; ++id) value(cache.get(id, open));
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_EQ(opened, 10);
  value(cache.get(7, open));  // makes 8 the oldest
  value(cache.get(11, open));
  value(cache.get(7, open));
  EXPECT_EQ(opened, 11);
  value(cache.get(8, open));
  EXPECT_EQ(opened, 12);
  cache.drop(7);
  cache.drop(7);
  EXPECT_EQ(cache.size(), 2u);
  const auto refused = cache.get(20, []() -> Result<Fd> { return fail(ErrorKind::io, "no"); });
  EXPECT_EQ(error(refused).kind, ErrorKind::io);
}

}  // namespace
}  // namespace forebay::store
