#include "launch/run/nodes_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Block = Nodes::Block;

TEST(NodesFile, ReadsWhatLaunchersRead) {
  const auto nodes = parse_nodes("# the job\nn1:4\n\n  n2 slots=2  # spare\r\nn-3.site_x\n", "hosts");
  ASSERT_TRUE(nodes) << nodes.error().message();
  EXPECT_THAT(nodes->hosts, ElementsAre("n1", "n2", "n-3.site_x"));
  EXPECT_THAT(nodes->blocks, ElementsAre(Block{0, 4}, Block{1, 2}, Block{2, 1}));
}

TEST(NodesFile, LinesOfOneHostAddUpWhereTheyFollowEachOther) {
  const auto nodes = parse_nodes("a\na\nb:3\na:2", "hosts");
  ASSERT_TRUE(nodes) << nodes.error().message();
  EXPECT_THAT(nodes->hosts, ElementsAre("a", "b"));
  EXPECT_THAT(nodes->blocks, ElementsAre(Block{0, 2}, Block{1, 3}, Block{0, 2}));
}

TEST(NodesFile, NamesTheLineThatIsWrong) {
  for (const char* line : {"n1:", "n1:0", "n1:x", "n1:4:4", "n1 slots=", "n1 slot=2", "n1 slots=2 x",
                           "-oProxyCommand=x", "a;b", "$(x)", "n1:99999999"}) {
    const auto nodes = parse_nodes(std::string("ok:1\n") + line + "\n", "hosts");
    ASSERT_FALSE(nodes) << line;
    EXPECT_EQ(nodes.error().kind, ErrorKind::invalid_argument);
    EXPECT_THAT(nodes.error().message(), HasSubstr("hosts: line 2")) << line;
  }
  EXPECT_FALSE(parse_nodes("", "hosts"));
  EXPECT_FALSE(parse_nodes("# nobody\n", "hosts"));
}

TEST(NodesFile, BlocksAreFilledInOrderAndThenAgain) {
  const auto nodes = *parse_nodes("a:2\nb:1\n", "hosts");
  EXPECT_THAT(place_ranks(nodes, 2), ElementsAre(ElementsAre(0, 1), ElementsAre()));
  EXPECT_THAT(place_ranks(nodes, 3), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
  EXPECT_THAT(place_ranks(nodes, 8), ElementsAre(ElementsAre(0, 1, 3, 4, 6, 7), ElementsAre(2, 5)));
  EXPECT_THAT(place_ranks(one_node("x"), 3), ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(NodesFile, RanksAsText) {
  EXPECT_EQ(ranks_text({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(ranks_text({}), "");
  EXPECT_THAT(*parse_ranks("0-2,5,7-8", 9), ElementsAre(0, 1, 2, 5, 7, 8));
  for (const char* text : {"", "9", "3-2", "1,1", "2,1", "0-", "-1", "a", "0-4294967295", "1,"})
    EXPECT_FALSE(parse_ranks(text, 9)) << text;
}

TEST(NodesFile, GivesTheNamesOfTheHosts) {
  const auto nodes = parse_nodes("a slots=2\nb slots=2\na slots=1\n", "hosts");
  ASSERT_TRUE(nodes);
  EXPECT_EQ(with_hosts("--nodelist={hosts}", *nodes), "--nodelist=a,b");
  EXPECT_EQ(with_hosts("{nodes}", *nodes), "{nodes}");
}

TEST(NodesFile, LaunchersGetTheFormThatTheyRead) {
  const Nodes nodes = parse_nodes("a slots=2\nb slots=1\na slots=1\n", "hosts").value();
  const auto text_for = [&](const char* program) {
    return nodes_text(in_style(nodes, style_of_launcher(program).value()));
  };
  EXPECT_EQ(text_for("srun"), "a\nb\n");
  EXPECT_EQ(text_for("mpiexec.hydra"), "a:2\nb:1\na:1\n");
  EXPECT_EQ(text_for("mpirun.openmpi"), "a slots=2\nb slots=1\na slots=1\n");
  EXPECT_FALSE(style_of_launcher("mpiexec")) << "it is either's name";
}

}  // namespace
}  // namespace forebay::launch
