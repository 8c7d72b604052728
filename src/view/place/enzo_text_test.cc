#include "view/place/enzo_text.h"

#include <gmock/gmock.h>

namespace forebay::view {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kParameters =
    "InitialTime         = 3.25\nTopGridRank         = 3\nTopGridDimensions   = 64 32 16\nRefineBy = 2\n"
    "DomainLeftEdge         = 0 0 0\nDomainRightEdge        = 2 1 0.5 \n";

std::string grid(int number, const std::string& more) {
  return "\nGrid = " + std::to_string(number) +
         "\nGridRank = 3\nGridDimension = 14 14 14\nGridStartIndex = 3 3 3\nGridEndIndex = 10 10 10\n" + more;
}

TEST(EnzoText, TellsLevelsAndPlaces) {
  const auto parameters = parse_enzo_parameters(kParameters);
  ASSERT_TRUE(parameters);
  EXPECT_EQ(parameters->time, 3.25);
  const auto grids =
      parse_enzo_hierarchy(grid(1,
                                "GridLeftEdge = 0 0 0\nBaryonFileName = ./D/D.cpu0000\n"
                                "Pointer: Grid[1]->NextGridThisLevel = 3\nPointer: Grid[1]->NextGridNextLevel = 2\n") +
                           grid(2, "GridLeftEdge = 0.25 0.125 0.0625\nBaryonFileName = D.cpu0001\n") +
                           grid(3, "GridLeftEdge = 1 0 0\nBaryonFileName = D.cpu0001\n"));
  ASSERT_TRUE(grids) << grids.error().what;
  ASSERT_EQ(grids->size(), 3u);
  EXPECT_EQ((*grids)[0].file, "D.cpu0000");
  EXPECT_EQ((*grids)[1].level, 1u);
  EXPECT_EQ((*grids)[2].level, 0u);
  const auto fine = place_of((*grids)[1], *parameters);
  ASSERT_TRUE(fine);
  EXPECT_THAT(fine->offset, ElementsAre(16, 8, 4));
  EXPECT_THAT(fine->count, ElementsAre(8, 8, 8));
  EXPECT_THAT(fine->level_shape, ElementsAre(128, 64, 32));
  EXPECT_THAT(place_of((*grids)[2], *parameters)->offset, ElementsAre(32, 0, 0));
}

TEST(EnzoText, GridsBetweenCellsOrOutsideHaveNoPlace) {
  const auto parameters = parse_enzo_parameters(kParameters);
  for (const char* edge : {"0.02 0 0", "1.9 0 0", "-0.5 0 0", "nan 0 0", "1e300 0 0"}) {
    const auto grids = parse_enzo_hierarchy(grid(1, std::string("GridLeftEdge = ") + edge + "\nBaryonFileName = f\n"));
    ASSERT_TRUE(grids) << edge;
    EXPECT_FALSE(place_of(grids->front(), *parameters)) << edge;
  }
}

TEST(EnzoText, RefusesWhatMakesNoSense) {
  const auto what = [](const std::string& text) {
    const auto grids = parse_enzo_hierarchy(text);
    return grids ? std::string() : grids.error().what;
  };
  const std::string good = "GridLeftEdge = 0 0 0\nBaryonFileName = f\n";
  EXPECT_THAT(what(""), HasSubstr("no grid"));
  EXPECT_THAT(what(grid(1, "BaryonFileName = f\n")), HasSubstr("lacks"));
  EXPECT_THAT(what(grid(1, good) + grid(1, good)), HasSubstr("occurs twice"));
  EXPECT_THAT(what(grid(1, good) + grid(2, good)), HasSubstr("not all grids"));
  EXPECT_THAT(what(grid(1, good + "Pointer: Grid[1]->NextGridThisLevel = 1\n")), HasSubstr("twice"));
  EXPECT_THAT(what(grid(1, good + "Pointer: Grid[1]->NextGridNextLevel = 9\n")), HasSubstr("is not there"));
  EXPECT_THAT(what("Grid = 1\nGridRank = 1\nGridDimension = 4\nGridStartIndex = 2\nGridEndIndex = 9\n" + good),
              HasSubstr("not inside"));
  EXPECT_FALSE(parse_enzo_parameters("TopGridRank = 3\nTopGridDimensions = 0 1 1\n"));
  EXPECT_FALSE(parse_enzo_parameters(""));
}

}  // namespace
}  // namespace forebay::view
