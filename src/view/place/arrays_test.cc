#include "view/place/arrays.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "view/place/test_files.h"

namespace forebay::view {
namespace {

class ArraysOfFiles : public PlacedTest {
 protected:
  // `count` times the number `value`, as NumPy saves them.
  void write_npy(const std::string& name, double value, size_t count = 10) const {
    std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}", count);
    header += std::string(117 - header.size(), ' ') + '\n';
    const std::vector<double> values(count, value);
    std::filesystem::create_directories(std::filesystem::path(tree_file(name)).parent_path());
    std::ofstream(tree_file(name), std::ios::binary)
        << std::string("\x93NUMPY\1\0\x76\0", 10) << header
        << std::string_view(reinterpret_cast<const char*>(values.data()), count * sizeof(double));
  }

  // "NAME BLOCKS" of each array.
  std::vector<std::string> arrays() { return arrays(*packed_step()); }
  static std::vector<std::string> arrays(const Step& step) {
    std::vector<std::string> rows;
    for (const Array& array : step.arrays()) rows.push_back(fmt::format("{} {}", array.name, array.blocks));
    return rows;
  }
};

using testing::ElementsAre;

TEST_F(ArraysOfFiles, AreCalledAsTheFilesWhereARankHasSeveralKinds) {
  for (int rank = 0; rank < 3; ++rank) {
    write_npy(fmt::format("rho.{:04}.npy", rank), rank);
    write_npy(fmt::format("temp_{:04}.npy", rank), rank + 10);
  }
  const auto step = packed_step();
  EXPECT_THAT(arrays(*step), ElementsAre("rho 3", "temp 3"));
  EXPECT_EQ(step->arrays()[*find_array(*step, "temp")].characteristics->min, 10);
}

TEST_F(ArraysOfFiles, AreOneWhereNumbersAloneDiffer) {
  for (int rank = 0; rank < 3; ++rank)
    for (int part = 0; part < 2; ++part) write_npy(fmt::format("part{}/rho.{:04}.npy", part, rank), rank);
  EXPECT_THAT(arrays(), ElementsAre("data 6"));
}

TEST_F(ArraysOfFiles, AreOneWhereEachFileIsARank) {
  for (const char* name : {"left.npy", "middle.npy", "right.npy"}) write_npy(name, 1);
  EXPECT_THAT(arrays(), ElementsAre("data 3"));
}

TEST_F(ArraysOfFiles, KeepTheirNamesBehindThoseOfTheFiles) {
  for (int rank = 0; rank < 2; ++rank)
    for (const char* kind : {"fluid", "solid"}) {
      TestHdf5 file(tree_file(fmt::format("{}.{}.h5", kind, rank)));
      file.data<double>("/u", {3}, {1, 2, 3});
      if (kind[0] == 'f') file.data<double>("/p", {3}, {1, 2, 3});
    }
  EXPECT_THAT(arrays(), ElementsAre("fluid/u 2", "p 2", "solid/u 2"));
}

TEST_F(ArraysOfFiles, AreCalledByWhatTheirFilesHaveInCommon) {
  for (int rank = 0; rank < 2; ++rank)
    for (const char* name : {"dump.cpu{:04}", "{:04}.npy", "a-0000/0000_vel.x.{:04}"})
      write_npy(fmt::format(fmt::runtime(name), rank), 1);
  EXPECT_THAT(arrays(), ElementsAre("a/vel.x 2", "data 2", "dump.cpu 2"));
}

}  // namespace
}  // namespace forebay::view
