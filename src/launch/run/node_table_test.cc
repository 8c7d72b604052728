#include "launch/run/node_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::launch {
namespace {

using testing::ElementsAre;

Nodes nodes_of(const char* text) { return parse_nodes(text, "hosts").value(); }

TEST(NodeTable, ASpareTakesTheVeryPlaceOfANodeThatIsLost) {
  auto table = NodeTable::create(nodes_of("n1:2\nn2:2\nn3:2\nn4:2\n"), 1).value();
  EXPECT_THAT(table.in_use().hosts, ElementsAre("n1", "n2", "n3"));
  EXPECT_TRUE(table.can_replace("n2"));
  EXPECT_EQ(table.replace("n2"), "n4");
  EXPECT_EQ(nodes_text(table.in_use()), "n1:2\nn4:2\nn3:2\n");
  EXPECT_THAT(place_ranks(table.in_use(), 6)[1], ElementsAre(2, 3));
  EXPECT_FALSE(table.can_replace("n1"));
  EXPECT_EQ(table.replace("n1"), std::nullopt);
  EXPECT_THAT(table.lost(), ElementsAre("n2", "n1"));
}

TEST(NodeTable, ASpareNeedsTheSlots) {
  auto table = NodeTable::create(nodes_of("n1:4\nn2:2\nsmall:2\nlarge:8\n"), 2).value();
  EXPECT_EQ(table.replace("n1"), "large");
  EXPECT_EQ(nodes_text(table.in_use()), "large:4\nn2:2\n") << "as many as the node had";
  EXPECT_EQ(table.replace("n2"), "small");
}

TEST(NodeTable, ASpareThatIsLostIsReplacedLikeAnyOther) {
  auto table = NodeTable::create(nodes_of("n1\nn2\nn3\n"), 2).value();
  EXPECT_EQ(table.replace("n1"), "n2");
  EXPECT_EQ(table.replace("n2"), "n3");
  EXPECT_THAT(table.in_use().hosts, ElementsAre("n3"));
}

TEST(NodeTable, TheApplicationNeedsANode) {
  EXPECT_FALSE(NodeTable::create(nodes_of("n1\nn2\n"), 2));
  EXPECT_FALSE(NodeTable::create(one_node("localhost"), 1));
  EXPECT_TRUE(NodeTable::create(one_node("localhost"), 0));
}

TEST(NodesText, IsInTheWordsOfTheFile) {
  for (const char* text : {"a\na\nb\n", "a:2\nb:3\na:1\n", "a slots=2\nb slots=1\n"})
    EXPECT_EQ(nodes_text(nodes_of(text)), text);
  EXPECT_EQ(nodes_text(one_node("localhost")), "localhost\n");
}

TEST(NodeTable, CountsWhatSparesCanReplaceTogether) {
  const auto table =
      NodeTable::create(parse_nodes("a slots=2\nb slots=4\nc slots=2\nd slots=2\n", "hosts").value(), 1).value();
  EXPECT_EQ(table.replaceable({"a"}), 1u);
  EXPECT_EQ(table.replaceable({"a", "c"}), 1u);
  EXPECT_EQ(table.replaceable({"b"}), 0u);
  EXPECT_EQ(table.spares_left(), 1u);
}

}  // namespace
}  // namespace forebay::launch
