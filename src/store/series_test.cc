#include "store/series.h"

#include <gmock/gmock.h>

#include "store/test_store.h"

namespace forebay::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SetInfo set(const std::string& name, const std::string& series) {
  Manifest manifest{.name = name};
  manifest.origin.series = series;
  return {name, {}, manifest};
}

SetInfo damaged(const std::string& name) { return {name, {}, fail(ErrorKind::corrupt, "bad")}; }

TEST(Series, HasItsSetsAndThoseThatCannotBeRead) {
  const std::vector<SetInfo> sets = {damaged("x"), set("a", "one"), set("b", "two"), set("c", "one")};
  EXPECT_THAT(names(of_series(sets, "one")), ElementsAre("x", "a", "c"));
  EXPECT_THAT(series_in(sets), ElementsAre("one", "two"));
}

TEST(Series, IsTheOnlyOneOrMustBeChosen) {
  const std::vector<SetInfo> one = {damaged("x"), set("a", "one")}, two = {set("a", "one"), set("b", "two")};
  EXPECT_EQ(value(choose_series(one, "", "/store")), "one");
  EXPECT_EQ(value(choose_series({}, "", "/store")), "default");
  EXPECT_EQ(value(choose_series({}, "new", "/store")), "new");
  EXPECT_EQ(value(choose_series(two, "two", "/store")), "two");
  const Error several = error(choose_series(two, "", "/store"));
  EXPECT_EQ(several.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(several.message(), HasSubstr("2 series: one (1 set, the newest is a), two (1 set, the newest is b)"));
  EXPECT_THAT(several.message(), HasSubstr("--series"));
  const Error slip = error(choose_series(two, "twp", "/store"));
  EXPECT_EQ(slip.kind, ErrorKind::not_found);
  EXPECT_THAT(slip.message(), HasSubstr("did you mean two?"));
}

TEST(Series, AreDescribedButForOne) {
  const std::vector<SetInfo> sets = {set("a", "one"), set("b", "two"), set("c", "one")};
  EXPECT_EQ(describe_series(sets, "two"), "one (2 sets, the newest is c)");
  EXPECT_EQ(describe_series({}), "");
}

class OriginTest : public TempTest {};

TEST_F(OriginTest, ComesBackInTheManifest) {
  Manifest manifest{.name = "a"};
  manifest.origin = {.series = "s-1", .run = "4711", .host = "n1", .command = "mpiexec -n 2 ./app"};
  const Origin back = value(parse_manifest(serialise(manifest), "m")).origin;
  EXPECT_EQ(back.series, "s-1");
  EXPECT_EQ(back.run, "4711");
  EXPECT_EQ(back.host, "n1");
  EXPECT_EQ(back.command, "mpiexec -n 2 ./app");
}

TEST_F(OriginTest, OfASetThatDoesNotSayIsTheDefaultSeries) {
  const std::string text = serialise(Manifest{.name = "a"});
  EXPECT_EQ(text.find("series"), text.npos) << "what has no series is written as it always was";
  const Origin origin = value(parse_manifest(text, "m")).origin;
  EXPECT_EQ(origin.series, "default");
  EXPECT_EQ(origin.command, "");
}

TEST_F(OriginTest, IsRefusedIfItIsNoName) {
  for (const char* bad : {"", "../x", "latest", ".x", "a b"}) {
    Manifest manifest{.name = "a"};
    manifest.origin.series = bad;
    EXPECT_EQ(error(parse_manifest(serialise(manifest), "m")).kind, ErrorKind::corrupt) << bad;
  }
  EXPECT_FALSE(is_series_name(std::string(101, 'x')));
  EXPECT_TRUE(is_series_name(std::string(100, 'x')));
}

}  // namespace
}  // namespace forebay::store
