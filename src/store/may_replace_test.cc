#include "store/may_replace.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "store/test_store.h"

namespace forebay::store {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Decision {
  Standing standing;
  const char* refusal;  // a part of it; null: allowed
};

// Each rule by itself, and what comes first where two say no.
const Decision kDecisions[] = {
    {{.is = Thing::nothing, .becomes = Thing::file}, nullptr},
    {{.is = Thing::nothing, .becomes = Thing::file, .in_store = true}, "part of a store"},
    {{.is = Thing::nothing, .becomes = Thing::file, .right = Right::own, .in_store = true}, nullptr},
    // made by Forebay, as it was left
    {{.is = Thing::file, .becomes = Thing::file, .is_marked = true}, nullptr},
    {{.is = Thing::directory, .becomes = Thing::directory, .is_marked = true}, nullptr},
    {{.is = Thing::file, .becomes = Thing::file}, "no mark"},
    {{.is = Thing::directory, .becomes = Thing::directory}, "no mark"},
    {{.is = Thing::file, .becomes = Thing::file, .is_marked = true, .is_changed = true}, "changed this since"},
    {{.is = Thing::directory, .becomes = Thing::file, .is_marked = true}, "a directory of that name"},
    {{.is = Thing::file, .becomes = Thing::directory, .is_marked = true}, "a file is where a directory"},
    {{.is = Thing::link, .becomes = Thing::file, .is_marked = true}, "symbolic link"},
    {{.is = Thing::link, .becomes = Thing::directory}, "a file is where a directory"},
    {{.is = Thing::other, .becomes = Thing::file, .is_marked = true}, "neither a file nor a directory"},
    {{.is = Thing::directory, .becomes = Thing::directory, .is_marked = true, .is_store = true}, "this is a store"},
    {{.is = Thing::directory, .becomes = Thing::directory, .is_marked = true, .holds_store = true}, "a store lies in"},
    {{.is = Thing::file, .becomes = Thing::file, .is_marked = true, .in_store = true}, "part of a store"},
    // named to be written over
    {{.is = Thing::file, .becomes = Thing::file, .right = Right::named}, nullptr},
    {{.is = Thing::link, .becomes = Thing::file, .right = Right::named}, nullptr},
    {{.is = Thing::file, .becomes = Thing::link, .right = Right::named}, nullptr},
    {{.is = Thing::directory, .becomes = Thing::file, .right = Right::named}, "a directory of that name"},
    {{.is = Thing::directory, .becomes = Thing::link, .right = Right::named}, "a directory of that name"},
    {{.is = Thing::directory, .becomes = Thing::directory, .right = Right::named}, "a directory of that name"},
    {{.is = Thing::other, .becomes = Thing::file, .right = Right::named}, "neither a file nor a directory"},
    {{.is = Thing::file, .becomes = Thing::file, .right = Right::named, .in_store = true}, "part of a store"},
    // in a place of Forebay's
    {{.is = Thing::directory, .right = Right::own, .in_store = true}, nullptr},
    {{.is = Thing::link, .right = Right::own}, nullptr},
    {{.is = Thing::directory, .right = Right::own, .is_store = true}, "this is a store"},
    {{.is = Thing::directory, .right = Right::own, .foreign = "notes.txt"}, "'notes.txt', which Forebay did not"},
};

TEST(MayReplace, DecidesByWhatIsKnown) {
  for (const Decision& decision : kDecisions) {
    const auto allowed = may_replace(decision.standing, "PATH");
    const auto number = &decision - kDecisions;
    EXPECT_EQ(allowed.has_value(), decision.refusal == nullptr) << number;
    if (allowed || decision.refusal == nullptr) continue;
    EXPECT_EQ(allowed.error().kind, ErrorKind::exists);
    EXPECT_EQ(allowed.error().path, "PATH");
    EXPECT_THAT(allowed.error().what, HasSubstr(decision.refusal)) << number;
  }
}

class Marks : public TempTest {
 protected:
  std::string root() const { return path("store"); }
  std::string file(const std::string& name, const std::string& text = "text") const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  static bool may(const std::string& path, Thing becomes) {
    return may_replace(path, {.becomes = becomes}).has_value();
  }
};

TEST_F(Marks, AFileIsKnownAgainUntilItIsChanged) {
  const std::string made = file("made");
  EXPECT_FALSE(may(made, Thing::file));
  mark_as_made(made);
  if (!may(made, Thing::file)) GTEST_SKIP() << "no extended attributes here";
  fs::rename(made, path("renamed"));
  EXPECT_TRUE(may(path("renamed"), Thing::file));
  std::ofstream(path("renamed"), std::ios::app) << "more";
  EXPECT_FALSE(may(path("renamed"), Thing::file));
}

TEST_F(Marks, ATreeIsKnownAgainUntilAnythingInItIsChanged) {
  const std::string tree = path("tree");
  const auto make = [&] {
    fs::remove_all(tree);
    fs::create_directories(tree + "/a/b");
    std::ofstream(tree + "/a/b/file") << "text";
    mark_as_made(tree);
  };
  make();
  if (!may(tree, Thing::directory)) GTEST_SKIP() << "no extended attributes here";
  std::ofstream(tree + "/a/b/more") << "text";
  EXPECT_FALSE(may(tree, Thing::directory)) << "something was added";
  make();
  std::ofstream(tree + "/a/b/file") << "other";
  EXPECT_FALSE(may(tree, Thing::directory)) << "something was written over";
  make();
  fs::remove(tree + "/a/b/file");
  EXPECT_FALSE(may(tree, Thing::directory)) << "something is gone";
  make();
  EXPECT_TRUE(may(tree + "/", Thing::directory));
}

TEST_F(Marks, ATextFileMayBeKnownByItsBeginning) {
  const Replacement wish{.becomes = Thing::file, .begins = "ours\n"};
  EXPECT_TRUE(may_replace(file("page", "ours\nand more"), wish));
  EXPECT_TRUE(may_replace(file("empty", ""), wish));
  EXPECT_FALSE(may_replace(file("foreign", "ours, too"), wish));
}

TEST_F(Marks, NothingIsReplacedThroughALinkOrInAStore) {
  const std::string made = file("made");
  mark_as_made(made);
  fs::create_symlink("made", path("link"));
  EXPECT_FALSE(may(path("link"), Thing::file));
  ASSERT_TRUE(Store::open_for_writing(root()));
  for (const char* part : {"", "/sets", "/sets/x", "/forebay-store", "/listing", "/jobs/1/file"})
    EXPECT_TRUE(lies_in_store(root() + part)) << part;
  fs::create_symlink(root() + "/sets", path("sideways"));
  EXPECT_TRUE(lies_in_store(path("sideways/x")));
  EXPECT_FALSE(lies_in_store(root() + "/beside"));
  EXPECT_FALSE(lies_in_store(path("made")));
  fs::create_directories(path("parent/inner/sets"));
  fs::create_directories(path("parent/inner/staging"));
  mark_as_made(path("parent"));
  EXPECT_FALSE(may(path("parent"), Thing::directory));
  EXPECT_TRUE(lies_in_store(path("parent/inner"))) << "it has lost its file";
}

TEST_F(Marks, ADirectoryOfOursWithSomethingElseInItStays) {
  fs::create_directories(path("job"));
  std::ofstream(path("job/lease"));
  const Replacement wish{.right = Right::own, .is_own = [](std::string_view name) { return name == "lease"; }};
  EXPECT_TRUE(may_replace(path("job"), wish));
  std::ofstream(path("job/thesis.tex"));
  const auto refused = may_replace(path("job"), wish);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("thesis.tex"));
}

}  // namespace
}  // namespace forebay::store
