// What is found in the files of codes that have a format of their own; the samples are made by
// tests/fuzz/make_format_corpus.py.
#include <bit>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "format/number_probe.h"
#include "format/reader.h"
#include "format/window.h"

namespace forebay::format {
namespace {

std::string sample(const std::string& name) {
  std::ifstream file(FOREBAY_SOURCE_DIR "/tests/fuzz/records_fuzz/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

ReadLayout layout_of(const std::string& bytes) {
  const MemorySource source(as_bytes(bytes));
  auto read = read_layout(source, "file", {});
  EXPECT_TRUE(read);
  return *std::move(read);
}

// "PATH TYPE SHAPE" of each variable.
std::vector<std::string> rows_of(const Layout& layout) {
  std::vector<std::string> rows;
  for (const Variable& variable : layout.variables) {
    std::string row = variable.path + " " + variable.type.name();
    for (const uint64_t length : variable.shape) row += " " + std::to_string(length);
    rows.push_back(std::move(row));
  }
  return rows;
}

using Rows = std::vector<std::string>;

TEST(Records, Trr) {
  const Layout layout = layout_of(sample("trr")).layout;
  EXPECT_EQ(rows_of(layout), (Rows{"/box >f4 4 3 3", "/x >f4 4 8 3", "/v >f4 2 8 3"}));
  EXPECT_EQ(layout.variables[1].block, (Shape{1, 8, 3}));
  EXPECT_EQ(layout.variables[1].extents[0], (Extent{84 + 36, 96}));
}

TEST(Records, ATrrThatIsCutOffKeepsItsWholeFrames) {
  std::string bytes = sample("trr");
  bytes.resize(bytes.size() - 1);
  EXPECT_EQ(rows_of(layout_of(bytes).layout), (Rows{"/box >f4 3 3 3", "/x >f4 3 8 3", "/v >f4 2 8 3"}));
}

TEST(Records, Fortran) {
  const Layout layout = layout_of(sample("fortran")).layout;
  EXPECT_EQ(rows_of(layout), (Rows{"/record_1 f8 80", "/record_2 i4 300", "/record_3 f4 3 100"}));
  EXPECT_EQ(layout.variables[2].block, (Shape{1, 100}));
  EXPECT_EQ(rows_of(layout_of(sample("big_endian")).layout), (Rows{"/record_0 >f8 64"}));
}

TEST(Records, FortranRecordsEndWithTheFile) {
  for (const std::string& more : {std::string("x"), std::string(8, '\1')}) {
    EXPECT_EQ(layout_of(sample("fortran") + more).layout.format, "opaque");
    const ReadLayout read =
        layout_of(sample("fortran") + sample("fortran") + more);  // eight records are looked at first
    EXPECT_EQ(read.layout.format, "opaque");
    EXPECT_NE(read.remark.find("a record has no end"), std::string::npos) << read.remark;
  }
  EXPECT_EQ(layout_of(std::string(4096, '\0')).remark, "");  // zeros are no records
}

TEST(Records, RecordsThatRepeatInTurnAreVariablesOfTheirOwn) {
  std::string bytes;
  const auto add = [&](uint32_t length, char fill) {
    std::string marker(4, '\0');
    store_le(reinterpret_cast<std::byte*>(marker.data()), length);
    bytes += marker + std::string(length, fill) + marker;
  };
  add(12, 'h');
  for (int i = 0; i < 5; ++i) {
    add(64, 'a');
    add(1000, 'b');
  }
  const Layout layout = layout_of(bytes).layout;
  EXPECT_EQ(rows_of(layout), (Rows{"/record_1 x1 5 64", "/record_2 x1 5 1000"}));
}

TEST(Records, RecordsOfZerosHaveTheTypeOfMostOthers) {
  std::string bytes = sample("fortran");
  std::string marker(4, '\0');
  store_le(reinterpret_cast<std::byte*>(marker.data()), uint32_t{640});
  bytes += marker + std::string(640, '\0') + marker;
  EXPECT_EQ(rows_of(layout_of(bytes).layout), (Rows{"/record_1 f8 80", "/record_2 i4 300", "/record_3 f4 100",
                                                    "/record_4 f4 100", "/record_5 f4 100", "/record_6 i4 160"}));
}

TEST(Records, Dcd) {
  EXPECT_EQ(rows_of(layout_of(sample("dcd")).layout), (Rows{"/x f4 2 64", "/y f4 2 64", "/z f4 2 64"}));
}

TEST(Records, LammpsRestart) {
  EXPECT_EQ(rows_of(layout_of(sample("lammps")).layout), (Rows{"/atoms/0 f8 5 11", "/atoms/1 f8 4 11"}));
  std::string bytes = sample("lammps");
  bytes.resize(bytes.size() - 17);
  EXPECT_EQ(layout_of(bytes).layout.format, "opaque");
  EXPECT_EQ(layout_of(bytes).remark, "");
}

// FILE.%: each file begins with the number of its processes, and the mark stands at its end alone.
TEST(Records, LammpsRestartOfOneProcess) {
  const std::string whole = sample("lammps"), bytes = std::string("\x2e\0\0\0\1\0\0\0", 8) + whole.substr(84);
  const Layout layout = layout_of(bytes).layout;
  EXPECT_EQ(layout.format, "lammps");
  EXPECT_EQ(rows_of(layout), (Rows{"/atoms/0 f8 5 11", "/atoms/1 f8 4 11"}));
  EXPECT_EQ(layout_of(bytes.substr(0, bytes.size() - 1)).layout.format, "opaque");
}

// Chunks seem to begin at every eighth byte, and none of them ends with the file: it is given up after a bound.
TEST(Records, LammpsRestartThatCouldBeginAnywhere) {
  std::string bytes = sample("lammps").substr(0, 24);
  for (int i = 0; i < 400'000; ++i) bytes += std::string(i % 2000 == 0 ? "\1\0\0\0\1\0\0\0" : "\1\0\0\0\0\0\0\0", 8);
  EXPECT_EQ(layout_of(bytes + "xyz").layout.format, "opaque");
}

TEST(Records, LammpsAtomsOfSeveralLengthsAreNumbers) {
  std::string bytes = sample("lammps");
  const size_t second = bytes.find(std::string("\0\0\0\0\0\0\x26\x40", 8)) + 11 * 8;  // atom
  store_le(reinterpret_cast<std::byte*>(bytes.data() + second), std::bit_cast<uint64_t>(12.0));
  EXPECT_EQ(rows_of(layout_of(bytes).layout), (Rows{"/atoms/0 f8 55", "/atoms/1 f8 4 11"}));
}

TEST(Records, Fab) {
  const Layout layout = layout_of(sample("fab")).layout;
  EXPECT_EQ(rows_of(layout), (Rows{"/fab_0/component_0 f8 2 3 4", "/fab_0/component_1 f8 2 3 4",
                                   "/fab_1/component_0 f8 1 2 2", "/fab_1/component_1 f8 1 2 2"}));
  EXPECT_EQ(layout.variables[3].extents[0].end(), sample("fab").size());
}

TEST(Records, FabsThatCannotBeAreNone) {
  const std::string good = sample("fab");
  for (const auto& [from, to] : {std::pair{"3,2,1", "3,2,9999999999999"},
                                 {"(3,2,1", "(-3,2,1"},
                                 {"8 7 6", "8 6 7"},
                                 {"64 11", "64 99999999999999999999"},
                                 {")) 2", ")) 0"}}) {
    std::string bytes = good;
    bytes.replace(bytes.find(from), std::string(from).size(), to);
    EXPECT_EQ(layout_of(bytes).layout.format, "opaque") << to;
  }
}

TEST(Records, OpenFoam) {
  EXPECT_EQ(rows_of(layout_of(sample("openfoam_field")).layout),
            (Rows{"/U f8 4 3", "/U/boundaryField/out/value f8 2 3"}));
  EXPECT_EQ(rows_of(layout_of(sample("openfoam_faces")).layout), (Rows{"/faces i4 5", "/faces_1 i4 16"}));
}

TEST(Records, OpenFoamSaysHowItsNumbersAreStored) {
  std::string bytes = sample("openfoam_faces");
  bytes.replace(bytes.find("LSB;label=32"), 12, "MSB;label=64");
  bytes.replace(bytes.find("\n5\n"), 3, "\n2\n");
  bytes.insert(bytes.find("\n2\n") + 4 + 16, ")");
  EXPECT_EQ(rows_of(layout_of(bytes).layout), (Rows{"/faces >i8 2"}));
}

TEST(Records, OpenFoamInAsciiIsText) {
  std::string bytes = sample("openfoam_field");
  bytes.replace(bytes.find("binary"), 6, "ascii ");
  EXPECT_EQ(layout_of(bytes).layout.format, "opaque");
}

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

TEST(NumberProbe, FindsTheTypeOfNumbers) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> doubles(500), rounded(500);
  std::vector<float> floats(1000);
  std::vector<int32_t> integers(1000), places(1000);
  std::vector<int64_t> lengths(500);
  std::vector<uint64_t> noise(500);
  for (double& one : doubles) one = normal(random);
  for (double& one : rounded) one = static_cast<float>(normal(random));
  for (float& one : floats) one = static_cast<float>(normal(random));
  for (int32_t& one : integers) one = static_cast<int32_t>(random() % 3000);
  std::iota(places.begin(), places.end(), 0);
  for (int64_t& one : lengths) one = static_cast<int64_t>(random() % 3000);
  for (uint64_t& one : noise) one = random();
  EXPECT_EQ(probe_numbers(bytes_of(doubles), ByteOrder::little).name(), "f8");
  EXPECT_EQ(probe_numbers(bytes_of(rounded), ByteOrder::little).name(), "f8");
  EXPECT_EQ(probe_numbers(bytes_of(floats), ByteOrder::little).name(), "f4");
  EXPECT_EQ(probe_numbers(bytes_of(integers), ByteOrder::little).name(), "i4");
  EXPECT_EQ(probe_numbers(bytes_of(places), ByteOrder::little).name(), "i4");
  EXPECT_EQ(probe_numbers(bytes_of(lengths), ByteOrder::little).name(), "i8");
  EXPECT_EQ(probe_numbers(bytes_of(noise), ByteOrder::little), kBytes);
  EXPECT_EQ(probe_numbers(Bytes(1000), ByteOrder::little), kBytes);
  EXPECT_EQ(probe_numbers({}, ByteOrder::little), kBytes);
}

TEST(Window, GivesTheBytesOfEachPlace) {
  Bytes bytes(200'000);
  std::mt19937 random(1);
  for (std::byte& one : bytes) one = std::byte(random());
  const MemorySource source(bytes);
  Window window(source);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t offset = random() % 210'000;
    const size_t count = random() % (i % 10 == 0 ? 100'000 : 20);
    const auto got = window.at(offset, count);
    ASSERT_TRUE(got);
    const size_t there = offset < bytes.size() ? std::min<size_t>(count, bytes.size() - offset) : 0;
    ASSERT_EQ(got->size(), there);
    ASSERT_TRUE(std::equal(got->begin(), got->end(), bytes.begin() + static_cast<ptrdiff_t>(offset % bytes.size())) ||
                there == 0);
  }
}

}  // namespace
}  // namespace forebay::format
