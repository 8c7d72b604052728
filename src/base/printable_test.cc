#include "base/printable.h"

#include <gtest/gtest.h>

namespace forebay {
namespace {

using namespace std::string_literals;

TEST(Printable, LeavesWhatIsHarmless) {
  for (const std::string text : {"", "DD0008.cpu0000", "Größe µ 密度", "a b\\n"}) EXPECT_EQ(printable(text), text);
}

TEST(Printable, EscapesWhatDrivesTerminals) {
  EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(printable("a\nb\tc\x7f"), "a\\x0ab\\x09c\\x7f");
  EXPECT_EQ(printable("a\0b"s), "a\\x00b");
  EXPECT_EQ(printable("\u009b"), "\\u{009b}");
  EXPECT_EQ(printable("a\u202eb\u2067\u200f\ufeff"), "a\\u{202e}b\\u{2067}\\u{200f}\\u{feff}");
  EXPECT_EQ(printable("\U000e0041"), "\\u{e0041}");  // a tag
}

TEST(Printable, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above 10FFFF
  EXPECT_EQ(printable("\xe2\x82x"), "\\xe2\\x82x");
}

TEST(Printable, IsDoneOnce) {
  const std::string once = printable("a\u202e\xff\n");
  EXPECT_EQ(printable(once), once);
}

TEST(Printable, JsonSaysTheSameInEscapes) {
  EXPECT_EQ(printable_json("{\n  \"a\": \"\\n\"\n}"), "{\n  \"a\": \"\\n\"\n}");
  EXPECT_EQ(printable_json("[\"Größe 密度\"]"), "[\"Größe 密度\"]");
  EXPECT_EQ(printable_json("[\"a\u202eb\x7f\u009b\"]"), "[\"a\\u202eb\\u007f\\u009b\"]");
  EXPECT_EQ(printable_json("\"\U000e0041\""), "\"\\udb40\\udc41\"");
}

}  // namespace
}  // namespace forebay
