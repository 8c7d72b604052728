#include "base/posix/own_code.h"

#include <filesystem>
#include <fstream>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/posix/trust.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uid_t kUser = 1001, kInstaller = 500, kOther = 1002;
constexpr Trust kTrust{.user = kUser, .installer = kInstaller, .group = 1001};
constexpr mode_t kDirectory = S_IFDIR, kFile = S_IFREG;

TEST(Trust, IsForRootTheUserAndTheInstaller) {
  for (const uid_t owner : {uid_t{0}, kUser, kInstaller})
    EXPECT_EQ(doubt_of(owner, 100, kFile | 0755, kTrust), Doubt::none) << owner;
  EXPECT_EQ(doubt_of(kOther, 100, kFile | 0755, kTrust), Doubt::foreign_owner);
  EXPECT_EQ(doubt_of(kOther, 100, kDirectory | 01777, kTrust), Doubt::foreign_owner);
}

TEST(Trust, EndsWhereOthersCanWrite) {
  EXPECT_EQ(doubt_of(kUser, 100, kFile | 0757, kTrust), Doubt::writable_by_all);
  EXPECT_EQ(doubt_of(0, 0, kDirectory | 0777, kTrust), Doubt::writable_by_all);
  EXPECT_EQ(doubt_of(kUser, 100, kFile | 0775, kTrust), Doubt::writable_by_group);
  EXPECT_EQ(doubt_of(0, 100, kDirectory | 0775, kTrust), Doubt::writable_by_group);
}

TEST(Trust, IsForAGroupThatHasItsOwnersNumber) {
  EXPECT_EQ(doubt_of(kUser, kUser, kDirectory | 0775, kTrust), Doubt::none);
  EXPECT_EQ(doubt_of(kInstaller, kInstaller, kDirectory | 0775, kTrust), Doubt::none);
  EXPECT_EQ(doubt_of(0, 0, kDirectory | 0775, kTrust), Doubt::none);
  // A group of that number that is not this user's own has other members.
  EXPECT_EQ(doubt_of(kUser, kUser, kDirectory | 0775, {.user = kUser, .installer = 0, .group = 100}),
            Doubt::writable_by_group);
}

TEST(Trust, OfADirectoryWhereOnlyOwnersRename) {
  EXPECT_EQ(doubt_of(0, 0, kDirectory | 01777, kTrust), Doubt::none);
  EXPECT_EQ(doubt_of(kUser, 100, kFile | 01777, kTrust), Doubt::writable_by_all) << "of files the bit says nothing";
}

class OwnCode : public testing::Test {
 protected:
  OwnCode() {
    char pattern[] = "/tmp/forebay-own-code-XXXXXX";
    directory_ = ::mkdtemp(pattern);
    fs::create_directory(directory_ / "sub");
    file_ = directory_ / "sub/plugin.so";
    std::ofstream(file_) << "no shared object";
    ::chmod(file_.c_str(), 0644);
    ::chmod((directory_ / "sub").c_str(), 0755);
  }
  ~OwnCode() override { fs::remove_all(directory_); }

  ErrorKind refused(const fs::path& path) {
    const auto file = trusted_file(path);
    EXPECT_FALSE(file);
    if (file) return ErrorKind::internal;
    message_ = file.error().message();
    return file.error().kind;
  }

  fs::path directory_, file_;
  std::string message_;
};

TEST_F(OwnCode, IsThisProgram) { EXPECT_EQ(own_code(), fs::canonical("/proc/self/exe")); }

TEST_F(OwnCode, IsTheCommandWhereItIsNoExtension) {
  EXPECT_EQ(own_command(), own_code());
  const fs::path program = extension_program("forebay-arrays");
  EXPECT_EQ(program.filename(), "forebay-arrays");
  EXPECT_EQ(program.parent_path().parent_path().parent_path(), fs::path(own_code()).parent_path().parent_path());
}

TEST_F(OwnCode, TrustsWhatLiesInAStickyDirectory) {
  EXPECT_EQ(trusted_file(file_).value(), file_);
  fs::create_symlink(file_, directory_ / "link.so");
  EXPECT_EQ(trusted_file(directory_ / "link.so").value(), file_) << "what was looked at is what is opened";
}

TEST_F(OwnCode, NamesWhatOthersCanWrite) {
  ::chmod(file_.c_str(), 0646);
  EXPECT_EQ(refused(file_), ErrorKind::permission);
  EXPECT_THAT(message_, HasSubstr("everybody can write " + file_.string()));
  ::chmod(file_.c_str(), 0644);
  ::chmod((directory_ / "sub").c_str(), 0777);
  EXPECT_EQ(refused(file_), ErrorKind::permission);
  EXPECT_THAT(message_, HasSubstr("chmod o-w " + (directory_ / "sub").string() + "'"));
}

TEST_F(OwnCode, RefusesWhatIsNoFile) {
  EXPECT_EQ(refused(directory_ / "nothing.so"), ErrorKind::not_found);
  EXPECT_EQ(refused(directory_ / "sub"), ErrorKind::invalid_argument);
}

TEST_F(OwnCode, OfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(file_.c_str(), 65534, 65534), 0);
  EXPECT_EQ(refused(file_), ErrorKind::permission);
  EXPECT_THAT(message_, HasSubstr("belongs to user 65534"));
  ASSERT_EQ(::chown(file_.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown((directory_ / "sub").c_str(), 65534, 65534), 0);
  EXPECT_EQ(refused(file_), ErrorKind::permission);
  EXPECT_THAT(message_, HasSubstr((directory_ / "sub").string() + " belongs to user 65534"));
}

TEST_F(OwnCode, SaysWhyItCannotBeLoaded) {
  const auto loaded = load_code(file_, RTLD_NOW);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::unsupported);
  ::chmod(file_.c_str(), 0666);
  EXPECT_EQ(load_code(file_, RTLD_NOW).error().kind, ErrorKind::permission);
}

}  // namespace
}  // namespace forebay
