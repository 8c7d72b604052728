#include "fabric/munge.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forebay::fabric {
namespace {

// A munged of our own: key, socket, seed and log in a temporary directory.
class OwnMunge : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/usr/sbin/munged") || !std::filesystem::exists("/usr/sbin/mungekey"))
      GTEST_SKIP() << "munged is not installed";
    char name[] = "/tmp/forebay-munge-XXXXXX";
    directory_ = ::mkdtemp(name);
    ::chmod(directory_.c_str(), 0755);
    const std::string key = directory_ + "/key", socket = directory_ + "/socket";
    run({"/usr/sbin/mungekey", "--create", "--keyfile=" + key});
    daemon_ = spawn({"/usr/sbin/munged", "--foreground", "--force", "--key-file=" + key, "--socket=" + socket,
                     "--pid-file=" + directory_ + "/pid", "--seed-file=" + directory_ + "/seed",
                     "--log-file=" + directory_ + "/log"});
    ::setenv("FOREBAY_MUNGE_SOCKET", socket.c_str(), 1);
    for (int i = 0; i < 100 && !std::filesystem::exists(socket); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (!std::filesystem::exists(socket)) GTEST_SKIP() << "munged does not start here";
  }

  void TearDown() override {
    ::unsetenv("FOREBAY_MUNGE_SOCKET");
    stop();
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  void stop() {
    if (daemon_ <= 0) return;
    ::kill(daemon_, SIGTERM);
    ::waitpid(std::exchange(daemon_, 0), nullptr, 0);
  }

  static pid_t spawn(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = ::fork();
    if (child != 0) return child;
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 1);
    ::dup2(null, 2);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }

  static void run(std::vector<std::string> words) { ::waitpid(spawn(std::move(words)), nullptr, 0); }

  std::string directory_;
  pid_t daemon_ = 0;
};

TEST_F(OwnMunge, VouchesOnceForThisUserAndThisStatement) {
  const Voucher voucher = munge_voucher();
  Statement statement{}, other{};
  other[0] = std::byte{1};
  const auto credential = voucher.make(statement);
  if (!credential && credential.error().kind == ErrorKind::unsupported) GTEST_SKIP() << credential.error().what;
  ASSERT_TRUE(credential) << credential.error().message();
  EXPECT_LT(credential->size(), kMaxHandshakeBody);
  EXPECT_TRUE(voucher.check(statement, *credential));
  EXPECT_EQ(voucher.check(statement, *credential).error().kind, ErrorKind::permission) << "replayed";
  EXPECT_EQ(voucher.check(other, *voucher.make(statement)).error().kind, ErrorKind::permission);
  EXPECT_EQ(voucher.check(statement, as_bytes("MUNGE:nonsense:")).error().kind, ErrorKind::permission);
  stop();
  EXPECT_EQ(voucher.make(statement).error().kind, ErrorKind::disconnected);
}

}  // namespace
}  // namespace forebay::fabric
