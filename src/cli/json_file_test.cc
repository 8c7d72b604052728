#include "cli/json_file.h"

#include <gmock/gmock.h>

namespace forebay::cli {
namespace {

TEST(JsonFileOf, IsTheLastOneBeforeTheCommand) {
  EXPECT_EQ(json_file_of({"--store", "st", "--", "app", "--json-file", "own"}), "");
  EXPECT_EQ(json_file_of({"--json-file", "a", "--nonsense", "--", "app"}), "a");
  EXPECT_EQ(json_file_of({"--json-file=a", "--json-file", "b"}), "b");
  EXPECT_EQ(json_file_of({"--json-file", "b", "--json-file=a"}), "a");
}

TEST(JsonFileOf, IsNoneWithoutAValue) {
  EXPECT_EQ(json_file_of({"--json-file"}), "");
  EXPECT_EQ(json_file_of({"--json-file", "--", "app"}), "");
}

}  // namespace
}  // namespace forebay::cli
