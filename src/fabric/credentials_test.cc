#include "fabric/credentials.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::fabric {
namespace {

class SecretFile : public testing::Test {
 protected:
  SecretFile() {
    char name[] = "/tmp/forebay-secret-XXXXXX";
    directory_ = ::mkdtemp(name);
    path_ = directory_ + "/secret";
  }
  ~SecretFile() override { std::filesystem::remove_all(directory_); }

  void put(const std::string& text) {
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), 0600);
  }

  std::string directory_, path_;
};

TEST_F(SecretFile, ComesBackAndIsNobodyElses) {
  const Secret secret = new_secret();
  ASSERT_TRUE(write_secret(path_, secret));
  struct stat status;
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(read_secret(path_).value(), secret);
  EXPECT_NE(new_secret(), secret);
}

TEST_F(SecretFile, IsNotReplaced) {
  ASSERT_TRUE(write_secret(path_, new_secret()));
  EXPECT_EQ(write_secret(path_, new_secret()).error().kind, ErrorKind::exists);
}

TEST_F(SecretFile, IsRefusedIfOthersCanReadIt) {
  ASSERT_TRUE(write_secret(path_, new_secret()));
  for (const mode_t mode : {0640, 0604, 0620, 0602}) {
    ::chmod(path_.c_str(), mode);
    EXPECT_EQ(read_secret(path_).error().kind, ErrorKind::permission) << mode;
  }
}

TEST_F(SecretFile, IsRefusedIfItBelongsToAnother) {
  ASSERT_TRUE(write_secret(path_, new_secret()));
  if (::chown(path_.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only root can give a file away";
  EXPECT_EQ(read_secret(path_).error().kind, ErrorKind::permission);
}

TEST_F(SecretFile, IsRefusedIfItHoldsSomethingElse) {
  const std::string digits(64, 'a');
  for (const std::string& text : {std::string(), digits, digits + "\r\n", digits + "\n\n", digits.substr(1) + "\n",
                                  digits.substr(1) + "g\n", digits + "a\n", std::string(65, '\n')}) {
    put(text);
    EXPECT_EQ(read_secret(path_).error().kind, ErrorKind::corrupt) << text;
  }
  EXPECT_EQ(read_secret(directory_ + "/none").error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace forebay::fabric
