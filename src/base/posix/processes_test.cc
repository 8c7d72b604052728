#include "base/posix/processes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

namespace forebay {
namespace {

using namespace std::chrono_literals;

TEST(ProcessTimes, AreReadBehindWhateverNameThereIs) {
  const auto line = [](const char* name, char state) {
    return fmt::format("77 ({}) {} 1 77 77 0 -1 4194560 90 0 0 0 1200 34 0 0 20 0 1 0 5551 9 9\n", name, state);
  };
  const ProcessTimes expected{5551, 12'340ms};
  EXPECT_EQ(parse_process_times(line("app", 'S'), 100), expected);
  EXPECT_EQ(parse_process_times(line("a) R 1 2 (b", 'R'), 100), expected);
  EXPECT_EQ(parse_process_times(line("app", 'Z'), 100), std::nullopt);
  EXPECT_EQ(parse_process_times("77 (app) S 1 77", 100), std::nullopt);
  EXPECT_EQ(parse_process_times("", 100), std::nullopt);
}

TEST(Processes, HaveVariables) {
  using namespace std::string_view_literals;
  constexpr std::string_view kEnvironment = "AB=1\0A=\0B=x=y\0junk\0C=last"sv;
  EXPECT_EQ(variable_in(kEnvironment, "A"), "");
  EXPECT_EQ(variable_in(kEnvironment, "AB"), "1");
  EXPECT_EQ(variable_in(kEnvironment, "B"), "x=y");
  EXPECT_EQ(variable_in(kEnvironment, "C"), "last");
  for (const char* name : {"junk", "D", ""}) EXPECT_EQ(variable_in(kEnvironment, name), std::nullopt) << name;
  EXPECT_EQ(variable_in({}, "A"), std::nullopt);
}

TEST(Processes, AreThoseOfTheNodeWithoutThisOne) {
  const auto found = other_processes();
  EXPECT_THAT(found, testing::Contains(::getppid()));
  EXPECT_THAT(found, testing::Not(testing::Contains(::getpid())));
  EXPECT_TRUE(is_own_process(::getpid()));
  EXPECT_FALSE(process_text(::getpid(), "stat").empty());
  EXPECT_EQ(process_text(::getpid(), "nothing"), "");
}

}  // namespace
}  // namespace forebay
