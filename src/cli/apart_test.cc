#include "cli/apart.h"

#include <csignal>
#include <cstdlib>

#include <gmock/gmock.h>
#include <unistd.h>

namespace forebay::cli {
namespace {

using testing::HasSubstr;

TEST(Apart, BringsTheTextOrTheError) {
  EXPECT_EQ(try_apart([] { return std::string("1.13.1"); }).value(), "1.13.1");
  EXPECT_EQ(try_apart([] { return std::string(); }).value(), "");
  const auto failed = try_apart([]() -> Result<std::string> { return fail(ErrorKind::io, "no such library"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().what, "no such library");
}

TEST(Apart, LeavesThisProcessAlone) {
  int touched = 0;
  EXPECT_TRUE(try_apart([&]() -> Result<std::string> { return std::to_string(++touched); }));
  EXPECT_EQ(touched, 0);
}

TEST(Apart, OutlivesACrashAndAChildThatHangs) {
  const auto crashed = try_apart([]() -> Result<std::string> {
    std::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
    return std::string("not reached");
  });
  ASSERT_FALSE(crashed);
  EXPECT_THAT(crashed.error().what, HasSubstr("signal 11"));
  const auto hangs = try_apart(
      []() -> Result<std::string> {
        for (;;) ::pause();
      },
      std::chrono::milliseconds(20));
  ASSERT_FALSE(hangs);
  EXPECT_EQ(hangs.error().kind, ErrorKind::timeout);
}

}  // namespace
}  // namespace forebay::cli
