#include "mount/tree.h"

#include <gmock/gmock.h>

namespace forebay::mount {
namespace {

using testing::ElementsAre;

Catalogue catalogue_of(const std::vector<FileRow>& rows) {
  Catalogue catalogue;
  for (const FileRow& row : rows) catalogue.add(row, {.format = "opaque", .variables = {}}, {});
  return catalogue;
}

std::vector<std::string> names_in(const Tree::Node& node) {
  std::vector<std::string> names;
  for (const auto& [name, child] : node.children) names.push_back(name);
  return names;
}

TEST(Tree, HasTheDirectoriesThatPathsNeed) {
  const Catalogue one = catalogue_of({{.name = "a/b/file", .mode = 0640, .mtime_s = 5, .size = 7}});
  const Catalogue two = catalogue_of({{.name = "a", .kind = FileKind::directory, .mode = 0700},
                                      {.name = "a/link", .kind = FileKind::symlink, .link_target = "b"}});
  const std::vector<const Catalogue*> both{&one, &two};
  const Tree tree(both, 99);
  EXPECT_THAT(names_in(*tree.find("")), ElementsAre("a"));
  EXPECT_THAT(names_in(*tree.find("a")), ElementsAre("b", "link"));
  EXPECT_EQ(tree.find("a")->mode, 0700u);
  EXPECT_EQ(tree.find("a/b")->mtime_s, 99);
  const Tree::Node* file = tree.find("a/b/file");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->kind, FileKind::regular);
  EXPECT_EQ(file->size, 7u);
  EXPECT_EQ(file->container, 0u);
  EXPECT_EQ(tree.find("a/link")->link_target, "b");
  EXPECT_EQ(tree.find("a/c"), nullptr);
  EXPECT_EQ(tree.find("a/b/file/x"), nullptr);
}

TEST(Tree, LeavesOutWhatContradictsWhatIsThere) {
  const Catalogue one = catalogue_of({{.name = "x", .size = 1}, {.name = "x/y", .size = 2}});
  const Catalogue two = catalogue_of({{.name = "x", .size = 3}});
  const std::vector<const Catalogue*> both{&one, &two};
  const Tree tree(both, 0);
  EXPECT_EQ(tree.find("x")->size, 1u);
  EXPECT_EQ(tree.find("x/y"), nullptr);
}

}  // namespace
}  // namespace forebay::mount
