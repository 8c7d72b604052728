#include "cli/text.h"

#include <gtest/gtest.h>

#include "cli/json.h"

namespace forebay::cli {
namespace {

using namespace std::string_literals;

TEST(Text, EveryShortByteStringBecomesHarmlessUtf8) {
  for (unsigned a = 0; a < 256; ++a)
    for (unsigned b = 0; b < 256; ++b) {
      const std::string bytes = {static_cast<char>(a), static_cast<char>(b)};
      const std::string text = printable(bytes);
      EXPECT_TRUE(is_utf8(text));
      for (const char c : text) EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == 0x7f);
      EXPECT_NO_THROW(json_text(bytes).dump());
    }
}

TEST(Text, EncodesBase64) {  // RFC 4648, section 10
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("\xff\xfe"), "//4=");
}

TEST(Text, FileNamesStayInTheirDirectory) {
  EXPECT_EQ(as_file_name("/Grid00000001/x-velocity"), "Grid00000001_x-velocity");
  EXPECT_EQ(as_file_name("/"), "_");
  EXPECT_EQ(as_file_name("../../etc"), "_.._.._etc");
  EXPECT_EQ(as_file_name("a\nb\xff"), "a_b_");
  EXPECT_EQ(as_file_name(std::string(500, 'a')).size(), 120u);
}

TEST(Text, ShellWords) {
  EXPECT_EQ(shell_word("run/DD0008"), "run/DD0008");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("$(x)"), "'$(x)'");
}

TEST(Text, Wraps) {
  EXPECT_EQ(wrapped("", 4), "");
  EXPECT_EQ(wrapped("a few words", 4), "a few words");
  const std::string forty(40, 'x'), thirty_five(35, 'y');
  EXPECT_EQ(wrapped(forty + " " + thirty_five, 4), forty + " " + thirty_five);
  EXPECT_EQ(wrapped(forty + " " + thirty_five, 5), forty + "\n     " + thirty_five);
  EXPECT_EQ(wrapped("a " + std::string(100, 'z') + " b", 2), "a\n  " + std::string(100, 'z') + "\n  b");
  EXPECT_EQ(wrapped("ä " + std::string(77, 'z'), 1), "ä " + std::string(77, 'z')) << "a column, two bytes";
}

TEST(Json, NamesThatAreNotUtf8KeepTheirBytes) {
  EXPECT_EQ(json_text("a"), Json("a"));
  EXPECT_EQ(json_text("\xff\xfe").dump(), R"({"base64":"//4=","text":"\\xff\\xfe"})");
}

TEST(Json, ErrorsHaveAllKeys) {
  EXPECT_EQ(json_error({ErrorKind::corrupt, "bad", "f", 7, {}}).dump(),
            R"({"error":{"kind":"corrupt","message":"bad","path":"f","offset":7,"hint":null}})");
}

}  // namespace
}  // namespace forebay::cli
