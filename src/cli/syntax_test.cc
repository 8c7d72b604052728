#include "cli/syntax.h"

#include <gtest/gtest.h>

#include "cli/progress.h"
#include "cli/table.h"

namespace forebay::cli {
namespace {

using Words = std::vector<std::string>;

struct Example {
  Words operands, only;
  std::string store;
  uint64_t memory = 7;
  std::optional<int64_t> step;
  bool flag = false;

  Result<bool> parse(const Words& words) {
    Syntax syntax;
    syntax.operands(operands);
    syntax.option("-s,--store", "STORE", "", set_text(store));
    syntax.option("--only", "GLOB", "", add_text(only));
    syntax.option("--memory", "SIZE", "", set_bytes(memory));
    syntax.option("--step", "NUMBER", "", set_integer(step));
    syntax.flag("-f,--flag", flag, "");
    return syntax.parse("verb", words);
  }
};

TEST(Syntax, ReadsWordsInAnyOrder) {
  Example e;
  ASSERT_TRUE(e.parse({"a", "--store", "st", "b", "-f", "--memory=2K", "--only", "x*", "--only", "y", "c"}));
  EXPECT_EQ(e.operands, (Words{"a", "b", "c"}));
  EXPECT_EQ(e.only, (Words{"x*", "y"}));
  EXPECT_EQ(e.store, "st");
  EXPECT_EQ(e.memory, 2048u);
  EXPECT_TRUE(e.flag);
}

TEST(Syntax, LeavesWhatIsNotGiven) {
  Example e;
  ASSERT_FALSE(e.parse({}).value());
  EXPECT_EQ(e.memory, 7u);
  EXPECT_FALSE(e.flag);
  EXPECT_TRUE(e.operands.empty());
}

TEST(Syntax, TakesWordsAsTheyAre) {
  const Words odd = {"[a,b]", "{}", "ls", "a b", "", "/x", "a=b", "\xff", "%%", "true"};
  Example e;
  Words words = odd;
  for (const std::string& word : odd) words.insert(words.end(), {"--only", word});
  ASSERT_TRUE(e.parse(words));
  EXPECT_EQ(e.operands, odd);
  EXPECT_EQ(e.only, odd);
}

TEST(Syntax, DoubleDashEndsOptions) {
  Example e;
  ASSERT_TRUE(e.parse({"-f", "--", "--store", "-x"}));
  EXPECT_EQ(e.operands, (Words{"--store", "-x"}));
}

TEST(Syntax, TakesDashAndNegativeNumbersAsValues) {
  Example e;
  ASSERT_TRUE(e.parse({"-", "--step", "-5", "--store", "-"}));
  EXPECT_EQ(e.operands, (Words{"-"}));
  EXPECT_EQ(e.step, -5);
  EXPECT_EQ(e.store, "-");
}

TEST(Syntax, TheLastOneWins) {
  Example e;
  ASSERT_TRUE(e.parse({"--store", "a", "--store", "b"}));
  EXPECT_EQ(e.store, "b");
}

TEST(Syntax, RefusesWhatItDoesNotKnow) {
  for (const Words& words : {Words{"--unknown"}, Words{"-x"}, Words{"--store"}, Words{"--memory", "0"},
                             Words{"--memory", "x"}, Words{"--step", "1.5"}, Words{"--flag=yes"}, Words{"--flag=no"}}) {
    Example e;
    const auto result = e.parse(words);
    ASSERT_FALSE(result) << words[0];
    EXPECT_EQ(result.error().kind, ErrorKind::invalid_argument);
    EXPECT_EQ(result.error().what.find('\n'), std::string::npos);
  }
}

TEST(Syntax, HelpWinsOverBadValues) {
  Example e;
  EXPECT_TRUE(e.parse({"--memory", "x", "--help"}).value());
  EXPECT_TRUE(e.parse({"-h"}).value());
}

TEST(Syntax, HelpStaysWithinTheColumns) {
  std::string value;
  Syntax syntax;
  syntax.option("--quite-a-long-option-name", "VALUE", std::string(60, 'x') + " " + std::string(40, 'y'),
                set_text(value));
  std::string text = syntax.help();
  for (size_t end; (end = text.find('\n')) != text.npos; text.erase(0, end + 1)) EXPECT_LE(end, 86u) << text;
}

TEST(Syntax, RecordsWordsForAnotherCommandLine) {
  Words one, both;
  std::string store, name;
  bool flag = false, other = false;
  Syntax syntax;
  syntax.option("--name", "NAME", "", set_text(name));
  syntax.record({&both});
  syntax.option("-s,--store,-o", "STORE", "", set_text(store));
  syntax.record({&one, &both});
  syntax.flag("-f,--flag", flag, "");
  syntax.flag("--other", other, "");
  ASSERT_TRUE(syntax.parse("verb", {"-s", "a b", "--name", "n", "-f"}));
  EXPECT_EQ(both, (Words{"--store=a b", "--flag"}));
  EXPECT_EQ(one, (Words{"--flag"}));
  EXPECT_EQ(store, "a b");
}

TEST(Table, AlignsColumns) {
  Table table({{"A"}, {"N", Align::right}, {"B"}});
  table.add({"µµ", "1", "x"});
  table.add({"", "100", ""});
  std::vector<std::string> lines;
  table.for_each_line([&](const std::string& line) { lines.push_back(line); });
  EXPECT_EQ(lines, (Words{"A     N  B", "µµ    1  x", "    100"}));
}

TEST(Progress, TellsWhatIsKnown) {
  EXPECT_EQ(progress_text("packing", {1 << 20, 4 << 20}, 2),
            "packing: 1.0 MiB of 4.0 MiB (25 %), 0.5 MB/s, 6.00 s left");
  EXPECT_EQ(progress_text("packing", {}, 0), "packing: 0 B, -");
}

}  // namespace
}  // namespace forebay::cli
