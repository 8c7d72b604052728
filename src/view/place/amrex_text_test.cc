#include "view/place/amrex_text.h"

#include <gtest/gtest.h>

namespace forebay::view {
namespace {

const std::string kHeader =
    "HyperCLaw-V1.1\n2\ndensity\nx_velocity\n3\n0.25\n1\n0 0 0\n1 1 1\n2\n((0,0,0) (7,7,3) (0,0,0)) ((0,0,0) (15,15,7) "
    "(0,0,0))\n10 20\n0.125 0.125 0.25\n";
const std::string kLevel =
    "1\n1\n2\n0\n(2 0\n((0,0,0) (3,7,3) (0,0,0))\n((4,0,0) (7,7,3) (0,0,0))\n)\n2\nFabOnDisk: Cell_D_00000 0\n"
    "FabOnDisk: Cell_D_00000 4200\n\n2,2\n1.0,2.0,\n";

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(AmrexText, Header) {
  const auto header = parse_amrex_header(kHeader);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->fields, (std::vector<std::string>{"density", "x_velocity"}));
  EXPECT_EQ(header->time, 0.25);
  ASSERT_EQ(header->domains.size(), 2u);
  EXPECT_EQ(shape_of(header->domains[0], 0), (Shape{4, 8, 8}));
  EXPECT_EQ(shape_of(header->domains[1], 2), (Shape{12, 20, 20}));
}

TEST(AmrexText, Level) {
  const auto level = parse_amrex_level(kLevel);
  ASSERT_TRUE(level);
  EXPECT_EQ(level->components, 2u);
  EXPECT_EQ(level->ghosts, 0u);
  ASSERT_EQ(level->fabs.size(), 2u);
  EXPECT_EQ(level->fabs[1].box.low, (std::vector<int64_t>{4, 0, 0}));
  EXPECT_EQ(level->fabs[1].file, "Cell_D_00000");
  EXPECT_EQ(level->fabs[1].offset, 4200u);
  EXPECT_EQ(parse_amrex_level(with(kLevel, "2\n0\n(2", "2\n(1,1,1)\n(2"))->ghosts, 1u);
}

TEST(AmrexText, WhatIsImpossibleIsCorrupt) {
  for (const std::string& text : {std::string(), kHeader.substr(0, 60), with(kHeader, "\n2\n", "\n9999999\n"),
                                  with(kHeader, "\n3\n", "\n4\n"), with(kHeader, "(7,7,3)", "(7,7)"),
                                  with(kHeader, "(7,7,3)", "(7,-7,3)"), with(kHeader, "\n1\n0 0", "\n2\n0 0")}) {
    const auto header = parse_amrex_header(text);
    ASSERT_FALSE(header) << text;
    EXPECT_EQ(header.error().kind, ErrorKind::corrupt);
  }
  for (const std::string& text :
       {std::string(), kLevel.substr(0, 80), with(kLevel, "(2 0", "(3 0"), with(kLevel, ")\n2\n", ")\n1\n"),
        with(kLevel, "(7,7,3)", "(7,7,99999999999)"), with(kLevel, "(7,7,3) (0,0,0)", "(7,7,3) (1,0,0)"),
        with(kLevel, "FabOnDisk", "FabInSky"), with(kLevel, "4200", "near")}) {
    const auto level = parse_amrex_level(text);
    ASSERT_FALSE(level) << text;
    EXPECT_EQ(level.error().kind, ErrorKind::corrupt);
  }
  EXPECT_EQ(parse_amrex_level(with(kLevel, "2\n0\n(2", "2\n(1,1,0)\n(2")).error().kind, ErrorKind::unsupported);
}

}  // namespace
}  // namespace forebay::view
