#include "base/posix/ownership.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay {
namespace {

using testing::HasSubstr;

constexpr uid_t kSomebody = 54'321;
constexpr auto kWhat = "the stage";
constexpr auto kHint = "name another one";

class Ownership : public testing::Test {
 protected:
  Ownership() {
    char name[] = "/tmp/forebay-ownership-XXXXXX";
    root_ = ::mkdtemp(name);
    std::filesystem::create_directory(directory_ = root_ + "/it");
  }
  ~Ownership() override { std::filesystem::remove_all(root_); }

  void set_mode(mode_t mode) const { EXPECT_EQ(::chmod(directory_.c_str(), mode), 0); }
  // Whether the system lets this process do that.
  static bool give(const std::string& path, uid_t user, gid_t group) {
    return ::lchown(path.c_str(), user, group) == 0;
  }

  Result<void> own() const { return check_own_directory(directory_, kWhat, kHint); }
  Result<void> alone() const { return check_private_directory(directory_, kWhat, kHint); }
  static ErrorKind kind(const Result<void>& result) { return result ? ErrorKind::internal : result.error().kind; }

  std::string root_, directory_;
};

TEST_F(Ownership, NobodyElseMayChangeWhatIsThere) {
  for (const mode_t mode : {0700, 0755, 01777, 01770}) {
    set_mode(mode);
    EXPECT_TRUE(own()) << std::oct << mode;
  }
  for (const mode_t mode : {0777, 0703, 0722}) {
    set_mode(mode);
    ASSERT_EQ(kind(own()), ErrorKind::permission) << std::oct << mode;
    EXPECT_THAT(own().error().message(), HasSubstr("everybody can write to the stage, and remove what is there"));
    EXPECT_THAT(own().error().message(), HasSubstr("chmod o-w, or name another one"));
  }
}

TEST_F(Ownership, PrivateMeansThatNobodyElseLooks) {
  set_mode(0700);
  EXPECT_TRUE(alone());
  for (const mode_t mode : {0755, 0750, 01777}) {
    set_mode(mode);
    EXPECT_EQ(kind(alone()), ErrorKind::permission) << std::oct << mode;
  }
  set_mode(0700);
  const std::string link = root_ + "/link";
  ASSERT_EQ(::symlink(directory_.c_str(), link.c_str()), 0);
  EXPECT_EQ(kind(check_private_directory(link, kWhat, kHint)), ErrorKind::invalid_argument);
  EXPECT_TRUE(check_own_directory(link, kWhat, kHint));
}

TEST_F(Ownership, WhatIsNotThereOrNoDirectory) {
  directory_ = root_ + "/nothing";
  EXPECT_EQ(kind(own()), ErrorKind::not_found);
  EXPECT_EQ(kind(alone()), ErrorKind::not_found);
  directory_ = "/dev/null";
  EXPECT_EQ(kind(own()), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(alone()), ErrorKind::invalid_argument);
}

TEST_F(Ownership, AnotherUsersIsRefusedAndSoIsHisLink) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make something another user's";
  EXPECT_TRUE(is_trusted_owner(0));
  EXPECT_FALSE(is_trusted_owner(kSomebody));
  set_mode(0700);
  ASSERT_TRUE(give(directory_, kSomebody, kSomebody));
  EXPECT_EQ(kind(alone()), ErrorKind::permission);
  ASSERT_EQ(kind(own()), ErrorKind::permission);
  EXPECT_THAT(own().error().message(), HasSubstr("the stage belongs to another user (number 54321)"));
  ASSERT_TRUE(give(directory_, 0, 0));
  const std::string link = root_ + "/link";
  ASSERT_EQ(::symlink(directory_.c_str(), link.c_str()), 0);
  ASSERT_TRUE(give(link, kSomebody, kSomebody));
  EXPECT_EQ(kind(check_own_directory(link, kWhat, kHint)), ErrorKind::permission);
}

TEST_F(Ownership, AGroupOfTheOwnersAloneMayWrite) {
  set_mode(0770);
  const bool is_alone = ::getegid() == ::geteuid();
  EXPECT_EQ(own().has_value(), is_alone);
  if (!give(directory_, ::geteuid(), kSomebody)) return;  // only root may
  set_mode(0770);
  ASSERT_EQ(kind(own()), ErrorKind::permission);
  EXPECT_THAT(own().error().message(), HasSubstr("group 54321 can write"));
  set_mode(0750);
  EXPECT_TRUE(own());
}

}  // namespace
}  // namespace forebay
