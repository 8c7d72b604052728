#include "view/query/expression.h"

#include <cmath>

#include <gmock/gmock.h>

#include "view/query/truth.h"

namespace forebay::view {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The expression written with every parenthesis.
std::string written(const Expression& expression, size_t node) {
  const Expression::Node& here = expression.nodes[node];
  static constexpr const char* kSigns[] = {"<", "<=", ">", ">=", "==", "!="};
  if (here.join == Expression::Join::condition) {
    const Condition& condition = expression.conditions[here.condition];
    const std::string& name = expression.variables[condition.variable];
    if (condition.comparison == Comparison::is_nan) return "nan(" + name + ")";
    char number[64];
    std::snprintf(number, sizeof number, "%g", condition.value);
    return name + kSigns[static_cast<size_t>(condition.comparison)] + number;
  }
  std::string text = here.join == Expression::Join::negation ? "not " : "(";
  for (size_t i = 0; i < here.children.size(); ++i)
    text += (i == 0                               ? ""
             : here.join == Expression::Join::all ? " and "
                                                  : " or ") +
            written(expression, here.children[i]);
  return text + (here.join == Expression::Join::negation ? "" : ")");
}

std::string parsed(const std::string& text) {
  const auto expression = parse_expression(text);
  return expression ? written(*expression, expression->nodes.size() - 1) : expression.error().what;
}

TEST(Expression, BindsAsPeopleExpect) {
  EXPECT_EQ(parsed("t > 1e6 and d < 0.1 or not p == 3"), "((t>1e+06 and d<0.1) or not p==3)");
  EXPECT_EQ(parsed("t > 1 && (d < .1 || !p = -inf)"), "(t>1 and (d<0.1 or not p==-inf))");
  EXPECT_EQ(parsed("NOT NOT a!=1 AND b>=2."), "(not not a!=1 and b>=2)");
  EXPECT_EQ(parsed("nan(x) or +2 > y"), "(nan(x) or y<2)");
  EXPECT_EQ(parsed("a<-inf or b<+Infinity or c<1.5E-3 or d<1.e2 or .5<e"),
            "(a<-inf or b<inf or c<0.0015 or d<100 or e>0.5)");
}

TEST(Expression, EqualToNanMeansIsNan) {
  EXPECT_EQ(parsed("x == nan and NaN = y"), "(nan(x) and nan(y))");
  EXPECT_EQ(parsed("x != NAN or nan(y)"), "(not nan(x) or nan(y))");
  EXPECT_EQ(parsed("'nan' == nan"), "nan(nan)");
  EXPECT_EQ(parsed("nan > 1"), "nan>1") << "a variable may have the name";
  EXPECT_THAT(parsed("x < nan"), HasSubstr("at character 5 of the query: NaN is neither above nor below anything"));
  EXPECT_THAT(parsed("x == -nan"), HasSubstr("this is no number"));
  EXPECT_THAT(parsed("x == nan == y"), HasSubstr("cannot be chained"));
}

TEST(Expression, TakesNamesAsCodesHaveThem) {
  EXPECT_EQ(parsed("x-velocity<-1"), "x-velocity<-1");
  EXPECT_EQ(parsed("/fields/E.x@1>=1:"),
            "at character 16 of the query: a number goes on with letters; a name that "
            "begins with a digit must be quoted");
  EXPECT_EQ(parsed("\"T::var it=0\" < 1 and 'a\\'b' > 2"), "(T::var it=0<1 and a'b>2)");
  EXPECT_EQ(parsed("'and' > 1"), "and>1");
  EXPECT_THAT(parse_expression("a > 1 and b > 1 and a < 3")->variables, ElementsAre("a", "b"));
}

TEST(Expression, SaysWhereItIsWrong) {
  EXPECT_THAT(parsed(""), HasSubstr("at character 1 of the query: a variable or a number is missing"));
  EXPECT_THAT(parsed("t"), HasSubstr("at character 2 of the query: a comparison is missing"));
  EXPECT_THAT(parsed("t > "), HasSubstr("at character 5 of the query: a number is missing"));
  EXPECT_THAT(parsed("t > u"), HasSubstr("at character 5 of the query: a number is missing"));
  EXPECT_THAT(parsed("1 < 2"), HasSubstr("a variable is missing"));
  EXPECT_THAT(parsed("1 < t < 2"), HasSubstr("comparisons cannot be chained"));
  EXPECT_THAT(parsed("(t > 1"), HasSubstr("the '(' at character 1 is not closed here"));
  EXPECT_THAT(parsed("t > 1)"), HasSubstr("closes nothing"));
  EXPECT_THAT(parsed("t > 1 u > 1"), HasSubstr("at character 7 of the query: 'and' or 'or' is missing"));
  EXPECT_THAT(parsed("t > 1e999"), HasSubstr("outside of what doubles can be"));
  EXPECT_THAT(parsed("t > --1"), HasSubstr("at character 5 of the query: this is no number"));
  EXPECT_THAT(parsed("t > 1e+"), HasSubstr("at character 5 of the query: this is no number"));
  EXPECT_THAT(parsed("t > 1.2.3"), HasSubstr("this is no number"));
  EXPECT_THAT(parsed("t > -i"), HasSubstr("at character 5"));
  EXPECT_THAT(parsed("max(t) > 1"), HasSubstr("no function"));
  EXPECT_THAT(parsed("t > 1 ; u"), HasSubstr("at character 7"));
  EXPECT_THAT(parsed("'t > 1"), HasSubstr("does not end"));
}

TEST(Expression, IsBounded) {
  EXPECT_THAT(parsed(std::string(30000, '(')), HasSubstr("in each other"));
  EXPECT_THAT(parsed(std::string(60000, '!')), HasSubstr("in each other"));
  EXPECT_THAT(parsed(std::string(70000, ' ')), HasSubstr("too long"));
  std::string many = "a>1";
  for (int i = 0; i < 2000; ++i) many += "|a>1";
  EXPECT_THAT(parsed(many), HasSubstr("more than 1024 comparisons"));
}

TEST(Expression, ComparesIntegersExactlyAndNansNever) {
  const auto above = parse_expression("i > 9007199254740992")->conditions[0];
  EXPECT_TRUE(holds(above, int64_t{9007199254740993}));
  EXPECT_FALSE(holds(above, int64_t{9007199254740992}));
  EXPECT_TRUE(holds(parse_expression("i == 18446744073709551615")->conditions[0], UINT64_MAX));
  for (const char* text : {"x < 1", "x <= 1", "x > 1", "x >= 1", "x == 1", "x != 1"})
    EXPECT_FALSE(holds(parse_expression(text)->conditions[0], std::nan(""))) << text;
  EXPECT_TRUE(holds(parse_expression("nan(x)")->conditions[0], std::nan("")));
  EXPECT_FALSE(holds(parse_expression("nan(x)")->conditions[0], 1.0));
}

constexpr DataType kDoubles{Kind::floating, ByteOrder::little, 8};

Truth judged(const std::string& text, container::Characteristics known, DataType type = kDoubles,
             uint64_t elements = 10) {
  return judge(parse_expression(text)->conditions[0], type, known, elements);
}

TEST(Truth, OfBounds) {
  const container::Characteristics known{.count = 10, .min = 1, .max = 3};
  EXPECT_EQ(judged("x > 3", known), Truth::none);
  EXPECT_EQ(judged("x >= 3", known), Truth::maybe);
  EXPECT_EQ(judged("x >= 1", known), Truth::all);
  EXPECT_EQ(judged("x < 1", known), Truth::none);
  EXPECT_EQ(judged("x <= 3", known), Truth::all);
  EXPECT_EQ(judged("x == 4", known), Truth::none);
  EXPECT_EQ(judged("x != 4", known), Truth::all);
  EXPECT_EQ(judged("x != 2", known), Truth::maybe);
  EXPECT_EQ(judged("x < inf", known), Truth::all);
  EXPECT_EQ(judged("nan(x)", known), Truth::none);
}

TEST(Truth, OfWhatIsNotFinite) {
  EXPECT_EQ(judged("x >= 1", {.count = 9, .min = 1, .max = 3, .nans = 1}), Truth::maybe);
  EXPECT_EQ(judged("x >= 4", {.count = 9, .min = 1, .max = 3, .nans = 1}), Truth::none);
  EXPECT_EQ(judged("x != 4", {.nans = 10}), Truth::none);
  EXPECT_EQ(judged("nan(x)", {.nans = 10}), Truth::all);
  EXPECT_EQ(judged("x > 9", {.count = 9, .min = 1, .max = 3, .infinities = 1}), Truth::maybe);
  EXPECT_EQ(judged("x != 9", {.count = 9, .min = 1, .max = 3, .infinities = 1}), Truth::all);
  EXPECT_EQ(judged("x == inf", {.infinities = 10}), Truth::maybe);
}

TEST(Truth, OfWhatIsNotKnown) {
  EXPECT_EQ(judged("x > 3", {.count = 9, .min = 1, .max = 3}), Truth::maybe);
  EXPECT_EQ(judged("x > 3", {}), Truth::maybe);
  EXPECT_EQ(judged("x > 3", {.count = 10, .min = std::nan(""), .max = 3}), Truth::maybe);
  EXPECT_EQ(judged("x > 3", {.count = UINT64_MAX, .min = 1, .max = 3, .nans = 12}), Truth::maybe);
}

TEST(Truth, OfIntegersThatDoublesRound) {
  const DataType type{Kind::signed_int, ByteOrder::little, 8};
  const container::Characteristics known{.count = 10, .min = 0x1p53, .max = 0x1p53};
  EXPECT_EQ(judged("x == 9007199254740993", known, type), Truth::maybe);
  EXPECT_EQ(judged("x > 9007199254740992", known, type), Truth::maybe);
  EXPECT_EQ(judged("x > 9007199254740995", known, type), Truth::none);
}

}  // namespace
}  // namespace forebay::view
