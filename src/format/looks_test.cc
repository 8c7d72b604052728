#include "format/looks.h"

#include <string>

#include <gtest/gtest.h>

namespace forebay::format {
namespace {

std::string_view looks(const std::string& bytes) { return looks_like(std::as_bytes(std::span(bytes)), bytes.size()); }

TEST(Looks, KnowsWhatCodesLeaveBehind) {
  EXPECT_EQ(looks(std::string("LammpS RestartT\0\1\0\0\0", 20)), "a restart file of LAMMPS");
  EXPECT_EQ(looks(std::string("\0\x02\x9f\x29\0\0\0\x16", 8) + "2022.5"), "a checkpoint of GROMACS");
  EXPECT_EQ(looks("/*----*- C++ -*----*\\\nFoamFile\n{ format binary; }\n\x01\x02"), "a file of OpenFOAM");
  EXPECT_EQ(looks("ITEM: TIMESTEP\n0\n"), "text");
  EXPECT_EQ(looks("<?xml version=\"1.0\"?>"), "XML");
  EXPECT_EQ(looks("\x89HDF\r\n\x1a\n"), "HDF5, stored unread");
}

TEST(Looks, KnowsRecordsOfFortranByBothLengths) {
  const std::string little("\4\0\0\0\1\2\3\4\4\0\0\0\5\0\0\0", 16), big("\0\0\0\4\1\2\3\4\0\0\0\4", 12);
  EXPECT_EQ(looks(little), "unformatted records of Fortran");
  EXPECT_EQ(looks(big), "unformatted records of Fortran (big-endian)");
  EXPECT_EQ(looks(std::string("\4\0\0\0\1\2\3\4\5\0\0\0", 12)), "raw binary");
  EXPECT_EQ(looks(std::string("\xff\xff\xff\x7f\1\2\3\4", 8)), "raw binary");
}

TEST(Looks, TakesAnything) {
  EXPECT_EQ(looks(""), "an empty file");
  for (int byte = 0; byte < 256; ++byte) EXPECT_FALSE(looks(std::string(1, static_cast<char>(byte))).empty());
  EXPECT_EQ(looks(std::string(1, '\0')), "raw binary");
  EXPECT_EQ(looks_like({}, 5), "what could not be read");
}

}  // namespace
}  // namespace forebay::format
