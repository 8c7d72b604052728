#include "view/place/recogniser.h"

#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "view/place/test_files.h"

namespace forebay::view {
namespace {

// What an element of a field is, wherever it was stored.
double truth(uint64_t field, uint64_t level, const Shape& at) {
  double value = static_cast<double>(field * 100 + level * 10);
  for (const uint64_t index : at) value = value * 64 + static_cast<double>(index);
  return value;
}

template <class T = double>
std::vector<T> true_values(uint64_t field, uint64_t level, const Shape& shape) {
  std::vector<T> values;
  for_each_index(shape, [&](const Shape& at) { values.push_back(static_cast<T>(truth(field, level, at))); });
  return values;
}

// Appends a box of a field with `ghosts` cells around it, which hold -7.
template <class T>
void append_box(std::vector<T>& out, uint64_t field, uint64_t level, const Box& box, uint64_t ghosts) {
  Shape grown = box.count;
  for (uint64_t& count : grown) count += count == 1 ? 0 : 2 * ghosts;
  for_each_index(grown, [&](const Shape& index) {
    Shape at = index;
    bool is_ghost = false;
    for (size_t d = 0; d < at.size(); ++d) {
      const uint64_t around = box.count[d] == 1 ? 0 : ghosts;
      is_ghost = is_ghost || at[d] < around || at[d] >= around + box.count[d];
      at[d] += box.begin[d] - around;
    }
    out.push_back(is_ghost ? T(-7) : static_cast<T>(truth(field, level, at)));
  });
}

class Recognisers : public PlacedTest {};

// Root blocks in any order, of which one is refined in eight.
struct Tree {
  std::vector<uint64_t> level;
  std::vector<Shape> at;  // in blocks of its level, z first
};

Tree random_tree(const Shape& root, std::mt19937& random) {
  Tree tree;
  for_each_index(root, [&](const Shape& at) { tree.level.push_back(0), tree.at.push_back(at); });
  for_each_index({2, 2, 2}, [&](const Shape& at) { tree.level.push_back(1), tree.at.push_back(at); });
  std::vector<size_t> order(tree.level.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::shuffle(order, random);
  Tree mixed;
  for (const size_t i : order) mixed.level.push_back(tree.level[i]), mixed.at.push_back(tree.at[i]);
  return mixed;
}

TEST_F(Recognisers, PlaceBlocksOfFlash) {
  std::mt19937 random(1);
  const Shape cells{4, 2, 6};  // z, y, x of a block
  const Tree tree = random_tree({2, 3, 1}, random);
  const uint64_t blocks = tree.level.size();
  std::vector<int32_t> levels, types;
  std::vector<float> boxes;
  std::vector<double> density, pressure;
  for (size_t b = 0; b < blocks; ++b) {
    levels.push_back(static_cast<int32_t>(tree.level[b]) + 1);
    types.push_back(1);
    const double width[3] = {0.5, 0.25, 2};  // z, y, x of a root block
    Box box{{}, cells};
    for (size_t d = 0; d < 3; ++d) box.begin.push_back(tree.at[b][d] * cells[d]);
    for (size_t d = 3; d-- > 0;) {
      const double size = width[d] / (tree.level[b] == 0 ? 1 : 2), low = -1 + size * static_cast<double>(tree.at[b][d]);
      boxes.push_back(static_cast<float>(low));
      boxes.push_back(static_cast<float>(low + size));
    }
    append_box(density, 0, tree.level[b], box, 0);
    append_box(pressure, 1, tree.level[b], box, 0);
  }
  {
    TestHdf5 file(tree_file("chk_0001"));
    file.data("bounding box", {blocks, 3, 2}, boxes);
    file.data("refine level", {blocks}, levels);
    file.data("node type", {blocks}, types);
    file.opaque("unknown names", {2, 1}, 4, "denspres");
    file.data("dens", {blocks, 4, 2, 6}, density);
    file.data("pres", {blocks, 4, 2, 6}, pressure);
  }
  const auto step = packed_step();
  EXPECT_EQ(all_of<double>(*step, "dens", {8, 6, 6}), true_values(0, 0, {8, 6, 6}));
  EXPECT_EQ(all_of<double>(*step, "pres", {8, 6, 6}), true_values(1, 0, {8, 6, 6}));
  const auto fine = all_of<double>(*step, "dens@1", {16, 12, 12});
  size_t at = 0, covered = 0;
  for_each_index({16, 12, 12}, [&](const Shape& index) {
    const bool is_fine = index[0] < 8 && index[1] < 4;
    covered += is_fine;
    EXPECT_EQ(fine[at++], is_fine ? truth(0, 1, index) : -1);
  });
  EXPECT_EQ(covered, 8u * 4 * 12);
  EXPECT_TRUE(find_array(*step, "bounding box"));
}

TEST_F(Recognisers, PlaceBlocksOfAthenaWithGhostCells) {
  for (const uint64_t ghosts : {0, 2}) {
    std::mt19937 random(2);
    const Tree tree = random_tree({1, 2, 3}, random);
    const uint64_t blocks = tree.level.size();
    const Shape cells{1, 4, 6};
    std::vector<int32_t> levels;
    std::vector<int64_t> locations;
    std::vector<float> values;
    std::vector<size_t> planar;
    for (size_t b = 0; b < blocks; ++b)
      if (tree.at[b][0] == 0) planar.push_back(b);  // two dimensions
    for (const size_t b : planar) {
      levels.push_back(static_cast<int32_t>(tree.level[b]));
      for (size_t d = 3; d-- > 0;) locations.push_back(static_cast<int64_t>(tree.at[b][d]));
    }
    for (uint64_t field = 0; field < 2; ++field)
      for (const size_t b : planar)
        append_box(values, field, tree.level[b], {{0, tree.at[b][1] * 4, tree.at[b][2] * 6}, cells}, ghosts);
    {
      TestHdf5 file(tree_file("out.athdf"));
      file.texts("/", "DatasetNames", {"prim"});
      file.texts("/", "VariableNames", {"rho", "press"});
      file.attribute<int32_t>("/", "NumVariables", {2});
      file.attribute<int32_t>("/", "NumMeshBlocks", {static_cast<int32_t>(planar.size())});
      file.attribute<int32_t>("/", "MeshBlockSize", {6, 4, 1});
      file.attribute<int32_t>("/", "RootGridSize", {18, 8, 1});
      file.attribute<double>("/", "Time", {0.75});
      file.data("Levels", {planar.size()}, levels);
      file.data("LogicalLocations", {planar.size(), 3}, locations);
      file.data("prim", {2, planar.size(), 1, 4 + 2 * ghosts, 6 + 2 * ghosts}, values);
    }
    const auto step = packed_step();
    EXPECT_EQ(step->info().time, 0.75);
    EXPECT_EQ(all_of<float>(*step, "rho", {1, 8, 18}), true_values<float>(0, 0, {1, 8, 18}));
    EXPECT_EQ(all_of<float>(*step, "press", {1, 8, 18}), true_values<float>(1, 0, {1, 8, 18}));
    EXPECT_EQ(step->arrays()[*find_array(*step, "rho@1")].blocks, 4u);
    std::filesystem::remove_all(store_path());
  }
}

TEST_F(Recognisers, PlaceComponentsOfCarpet) {
  std::mt19937 random(3);
  const Shape shape{9, 11, 13};
  const auto z = random_cuts(9, 2, random), y = random_cuts(11, 3, random);
  int number = 0;
  for (size_t i = 0; i + 1 < z.size(); ++i)
    for (size_t j = 0; j + 1 < y.size(); ++j, ++number) {
      Box box{{z[i], y[j], 0}, {z[i + 1] - z[i], y[j + 1] - y[j], 13}};
      std::vector<int32_t> edges(6, 1);  // x, y, z: low, high
      for (size_t d = 0; d < 2; ++d) {
        const bool low = box.begin[d] == 0, high = box.begin[d] + box.count[d] == shape[d];
        edges[2 * (2 - d)] = low;
        edges[2 * (2 - d) + 1] = high;
      }
      // With a ghost point towards other components.
      std::vector<double> values;
      Shape stored = box.count, origin = box.begin;
      for (size_t d = 0; d < 2; ++d) {
        if (edges[2 * (2 - d)] == 0) --origin[d], ++stored[d];
        if (edges[2 * (2 - d) + 1] == 0) ++stored[d];
      }
      for_each_index(stored, [&](const Shape& index) {
        Shape at = index;
        bool is_ghost = false;
        for (size_t d = 0; d < 3; ++d) {
          at[d] += origin[d];
          is_ghost = is_ghost || at[d] < box.begin[d] || at[d] >= box.begin[d] + box.count[d];
        }
        values.push_back(is_ghost ? -7 : truth(0, 0, at));
      });
      TestHdf5 file(tree_file("rho.file_" + std::to_string(number) + ".h5"));
      const std::string name = "/HYDRO::rho it=0 tl=0 m=0 rl=0 c=" + std::to_string(number);
      file.data(name, stored, values);
      file.attribute<int32_t>(
          name, "iorigin",
          {static_cast<int32_t>(origin[2]), static_cast<int32_t>(origin[1]), static_cast<int32_t>(origin[0])});
      file.attribute<int32_t>(name, "cctk_nghostzones", {1, 1, 1});
      file.attribute<int32_t>(name, "cctk_bbox", edges);
    }
  const auto step = packed_step();
  EXPECT_EQ(all_of<double>(*step, "HYDRO::rho", shape), true_values(0, 0, shape));
}

TEST_F(Recognisers, PlaceBoxesOfAmrexInHdf5) {
  for (const uint64_t ghosts : {0, 1}) {
    std::mt19937 random(4);
    const auto y = random_cuts(12, 3, random), x = random_cuts(10, 2, random);
    std::vector<int32_t> corners;
    std::vector<int64_t> offsets{0};
    std::vector<double> values;
    for (size_t i = 0; i + 1 < y.size(); ++i)
      for (size_t j = 0; j + 1 < x.size(); ++j) {
        // The domain begins at -2, 5 (x, y).
        corners.insert(corners.end(), {static_cast<int32_t>(x[j]) - 2, static_cast<int32_t>(y[i]) + 5,
                                       static_cast<int32_t>(x[j + 1]) - 3, static_cast<int32_t>(y[i + 1]) + 4});
        for (uint64_t field = 0; field < 2; ++field) {
          const Box box{{y[i], x[j]}, {y[i + 1] - y[i], x[j + 1] - x[j]}};
          for_each_index({box.count[0] + 2 * ghosts, box.count[1] + 2 * ghosts}, [&](const Shape& at) {
            const bool is_ghost =
                at[0] < ghosts || at[1] < ghosts || at[0] >= ghosts + box.count[0] || at[1] >= ghosts + box.count[1];
            values.push_back(
                is_ghost ? -7 : truth(field, 0, {at[0] + box.begin[0] - ghosts, at[1] + box.begin[1] - ghosts}));
          });
        }
        offsets.push_back(static_cast<int64_t>(values.size()));
      }
    {
      TestHdf5 file(tree_file("plt00000.h5"));
      file.attribute<int32_t>("/", "num_components", {2});
      file.texts("/", "component_0", {"density"});
      file.texts("/", "component_1", {"Temp"});
      file.attribute<double>("/", "time", {1.5});
      file.group("/level_0");
      file.box("/level_0", "prob_domain", {-2, 5, 7, 16});
      file.opaque("/level_0/boxes", {corners.size() / 4}, 16, corners.data());
      file.data("/level_0/data:offsets=0", {offsets.size()}, offsets);
      file.data("/level_0/data:datatype=0", {values.size()}, values);
    }
    const auto step = packed_step();
    EXPECT_EQ(step->info().time, 1.5);
    EXPECT_EQ(all_of<double>(*step, "density", {12, 10}), true_values(0, 0, {12, 10}));
    EXPECT_EQ(all_of<double>(*step, "Temp", {12, 10}), true_values(1, 0, {12, 10}));
    std::filesystem::remove_all(store_path());
  }
}

// A file of boxes, and the lines that say where they are.
struct Fabs {
  std::string bytes, boxes, places;
  uint64_t count = 0;

  // Of fields 0 and 1, whose domain begins at `origin`.
  void add(const std::string& file, uint64_t level, const Box& box, uint64_t ghosts, int64_t origin) {
    const auto corner = [&](const Shape& at, int64_t more, uint64_t around) {
      return fmt::format("({},{})", static_cast<int64_t>(at[1]) + more - static_cast<int64_t>(around) + origin,
                         static_cast<int64_t>(at[0]) + more - static_cast<int64_t>(around) + origin);
    };
    const Shape end{box.begin[0] + box.count[0], box.begin[1] + box.count[1]};
    boxes += fmt::format("({} {} (0,0))\n", corner(box.begin, 0, 0), corner(end, -1, 0));
    places += fmt::format("FabOnDisk: {} {}\n", file, bytes.size());
    bytes += fmt::format("FAB ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))({} {} (0,0)) 2\n",
                         "(" + corner(box.begin, 0, ghosts), corner(end, static_cast<int64_t>(2 * ghosts) - 1, ghosts));
    std::vector<double> values;
    for (uint64_t field = 0; field < 2; ++field) append_box(values, field, level, box, ghosts);
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    ++count;
  }

  std::string header(uint64_t ghosts) const {
    return fmt::format("1\n1\n2\n{}\n({} 0\n{})\n{}\n{}\n", ghosts, count, boxes, count, places);
  }
};

TEST_F(Recognisers, PlaceBoxesOfPlotfilesOfAmrex) {
  const Box kFine{{4, 6}, {8, 5}};
  const auto write = [&](const std::string& name, const std::string& bytes) {
    const std::string path = tree_file("plt00010/" + name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  };
  for (const uint64_t ghosts : {0, 2}) {
    const std::vector<uint64_t> y{0, 5, 8, 12}, x{0, 4, 10};
    Fabs coarse, fine;
    for (size_t i = 0; i + 1 < y.size(); ++i)
      for (size_t j = 0; j + 1 < x.size(); ++j)
        coarse.add("Cell_D_00000", 0, Box{{y[i], x[j]}, {y[i + 1] - y[i], x[j + 1] - x[j]}}, ghosts, -3);
    fine.add("Cell_D_00007", 1, kFine, ghosts, -6);
    write("Header",
          "HyperCLaw-V1.1\n2\ndensity\nTemp\n2\n1.5\n1\n0 0\n1 1\n2\n((-3,-3) (6,8) (0,0)) ((-6,-6) (13,17) (0,0))\n");
    write("Level_0/Cell_H", coarse.header(ghosts));
    write("Level_0/Cell_D_00000", coarse.bytes);
    write("Level_1/Cell_H", fine.header(ghosts));
    write("Level_1/Cell_D_00007", fine.bytes);
    const auto step = packed_step();
    EXPECT_EQ(step->info().time, 1.5);
    EXPECT_EQ(all_of<double>(*step, "density", {12, 10}), true_values(0, 0, {12, 10}));
    EXPECT_EQ(all_of<double>(*step, "Temp", {12, 10}), true_values(1, 0, {12, 10}));
    std::vector<double> wanted(24 * 20, -1), values;
    append_box(values, 1, 1, kFine, 0);
    for_each_index(kFine.count, [&, i = size_t{0}](const Shape& at) mutable {
      wanted[(kFine.begin[0] + at[0]) * 20 + kFine.begin[1] + at[1]] = values[i++];
    });
    EXPECT_EQ(all_of<double>(*step, "Temp@1", {24, 20}), wanted);
    std::filesystem::remove_all(store_path());
  }
}

// A field of OpenFOAM, in binary form.
std::string foam_field(const std::string& name, uint64_t cells, uint64_t first) {
  std::vector<double> values;
  for (uint64_t i = 0; i < 3 * cells; ++i) values.push_back(static_cast<double>(3 * first + i));
  return fmt::format(
             "FoamFile\n{{\n format binary;\n class volVectorField;\n object {};\n}}\ninternalField nonuniform "
             "List<vector>\n{}\n(",
             name, cells) +
         std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)) + ");\n";
}

TEST_F(Recognisers, PutCellsOfOpenFoamOneProcessorBehindTheOther) {
  const auto write = [&](const std::string& name, uint64_t cells, uint64_t first) {
    const std::string path = tree_file(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << foam_field("U", cells, first);
  };
  write("processor10/0.25/U", 5, 26);
  for (uint64_t i = 0; i < 10; ++i)
    write(fmt::format("processor{}/0.25/U", i), i == 3 ? 8 : 2, 2 * i + (i > 3 ? 6 : 0));
  std::vector<double> wanted(3 * 31);
  std::iota(wanted.begin(), wanted.end(), 0.0);
  {
    const auto step = packed_step();
    EXPECT_EQ(step->info().time, 0.25);
    EXPECT_EQ(all_of<double>(*step, "U", {31, 3}), wanted);
  }
  std::filesystem::remove_all(store_path());
  write("processor0/0.5/U", 2, 0);  // two times in one set: which one is meant is not known
  {
    const auto step = packed_step();
    EXPECT_EQ(step->arrays()[*find_array(*step, "U")].form, Form::local);
  }
  std::filesystem::remove_all(store_path());
  std::filesystem::remove_all(tree_file("processor0"));
  {
    const auto step = packed_step();
    EXPECT_EQ(step->arrays()[*find_array(*step, "U")].form, Form::local);
  }
}

TEST_F(Recognisers, CallArraysOfOpenPmdWithoutTheirIteration) {
  const auto write = [&](const std::string& name, const std::string& iteration) {
    TestHdf5 file(tree_file(name));
    file.texts("/", "openPMD", {"1.1.0"});
    file.texts("/", "meshesPath", {"fields/"});
    for (const std::string group : {"", "/fields", "/fields/E", "/particles", "/particles/e"}) {
      if (group.empty()) file.group("/data");
      file.group("/data/" + iteration + group);
    }
    file.attribute<double>("/data/" + iteration, "time", {1.5});
    file.attribute<double>("/data/" + iteration, "timeUnitSI", {2});
    file.data<double>("/data/" + iteration + "/fields/E/x", {2, 3}, true_values(0, 0, {2, 3}));
    file.data<double>("/data/" + iteration + "/particles/e/weighting", {4}, {1, 2, 3, 4});
  };
  write("data100.h5", "100");
  {
    const auto step = packed_step();
    EXPECT_EQ(step->info().time, 3.0);
    EXPECT_EQ(all_of<double>(*step, "E/x", {2, 3}), true_values(0, 0, {2, 3}));
    EXPECT_EQ(all_of<double>(*step, "e/weighting", {4}), (std::vector<double>{1, 2, 3, 4}));
  }
  std::filesystem::remove_all(store_path());
  write("data200.h5", "200");  // of two iterations in one set nobody says which one is meant
  EXPECT_TRUE(find_array(*packed_step(), "data/100/fields/E/x"));
}

// Tiles of two dimensions behind one that all have whole.
template <class Write>
void write_tiles(std::mt19937& random, const Write& write) {
  const auto y = random_cuts(9, 2, random), x = random_cuts(12, 3, random);
  int number = 0;
  for (size_t i = 0; i + 1 < y.size(); ++i)
    for (size_t j = 0; j + 1 < x.size(); ++j, ++number)
      write(number, Box{{0, y[i], x[j]}, {3, y[i + 1] - y[i], x[j + 1] - x[j]}});
}

std::vector<int32_t> ints(std::initializer_list<uint64_t> values) {
  std::vector<int32_t> numbers;
  for (const uint64_t value : values) numbers.push_back(static_cast<int32_t>(value));
  return numbers;
}

TEST_F(Recognisers, PlaceTilesOfWrf) {
  std::mt19937 random(5);
  write_tiles(random, [&](int number, const Box& box) {
    // The last tile has the last face, too.
    const bool is_last = box.begin[2] + box.count[2] == 12;
    Box faces = box;
    faces.count[2] += is_last;
    TestNetcdf file;
    file.dimensions = {{"bottom_top", 3},
                       {"south_north", box.count[1]},
                       {"west_east", box.count[2]},
                       {"west_east_stag", faces.count[2]}};
    file.attributes = {{"WEST-EAST_PATCH_START_UNSTAG", ints({box.begin[2] + 1})},
                       {"WEST-EAST_PATCH_END_UNSTAG", ints({box.begin[2] + box.count[2]})},
                       {"WEST-EAST_PATCH_START_STAG", ints({box.begin[2] + 1})},
                       {"WEST-EAST_PATCH_END_STAG", ints({box.begin[2] + faces.count[2]})},
                       {"SOUTH-NORTH_PATCH_START_UNSTAG", ints({box.begin[1] + 1})},
                       {"SOUTH-NORTH_PATCH_END_UNSTAG", ints({box.begin[1] + box.count[1]})}};
    std::vector<float> cells, winds;
    append_box(cells, 0, 0, box, 0);
    append_box(winds, 1, 0, faces, 0);
    file.variables = {{"T", {"bottom_top", "south_north", "west_east"}, cells},
                      {"U", {"bottom_top", "south_north", "west_east_stag"}, winds}};
    write(tree() + fmt::format("/wrfout_d01_{:04}", number), file.bytes());
  });
  const auto step = packed_step();
  EXPECT_EQ(all_of<float>(*step, "T", {3, 9, 12}), true_values<float>(0, 0, {3, 9, 12}));
  EXPECT_EQ(all_of<float>(*step, "U", {3, 9, 13}), true_values<float>(1, 0, {3, 9, 13}));
}

TEST_F(Recognisers, PlaceTilesOfNemo) {
  for (const uint64_t base : {0, 1}) {
    std::mt19937 random(6);
    write_tiles(random, [&](int number, const Box& box) {
      TestNetcdf file;
      file.dimensions = {{"deptht", 3}, {"y", box.count[1]}, {"x", box.count[2]}};
      file.attributes = {{"DOMAIN_size_global", ints({12, 9})},
                         {"DOMAIN_size_local", ints({box.count[2], box.count[1]})},
                         {"DOMAIN_position_first", ints({box.begin[2] + base, box.begin[1] + base})}};
      std::vector<float> values;
      append_box(values, 0, 0, box, 0);
      file.variables = {{"votemper", {"deptht", "y", "x"}, values}};
      write(tree() + fmt::format("/restart_{:04}.nc", number), file.bytes());
    });
    const auto step = packed_step();
    EXPECT_EQ(all_of<float>(*step, "votemper", {3, 9, 12}), true_values<float>(0, 0, {3, 9, 12}));
    std::filesystem::remove_all(store_path());
  }
}

TEST_F(Recognisers, PlaceSubfilesOfPnetcdf) {
  std::mt19937 random(7);
  TestNetcdf master;
  master.variables = {{"t", {}, {0}}};
  write_tiles(random, [&](int number, const Box& box) {
    TestNetcdf file;
    const std::string names[] = {"z", "y", "x"};
    for (size_t d = 0; d < 3; ++d) {
      file.dimensions.push_back({names[d] + ".t", box.count[d]});
      master.variables[0].attributes.push_back(
          {fmt::format("_PnetCDF_SubFiling.range({}).subfile.{}", names[d], number),
           ints({box.begin[d], box.begin[d] + box.count[d] - 1})});
    }
    std::vector<float> values;
    append_box(values, 0, 0, box, 0);
    file.variables = {{"t", {"z.t", "y.t", "x.t"}, values}};
    write(tree() + fmt::format("/out.nc.subfile_{}.nc", number), file.bytes());
  });
  write(tree() + "/out.nc", master.bytes());
  const auto step = packed_step();
  const auto blocks = find_array(*step, "t");
  ASSERT_TRUE(blocks);
  EXPECT_EQ(step->arrays()[*blocks].blocks, 6u);
  EXPECT_EQ(all_of<float>(*step, "t", {3, 9, 12}), true_values<float>(0, 0, {3, 9, 12}));
}

TEST_F(Recognisers, LeaveWhatContradictsItself) {
  {
    TestHdf5 file(tree_file("chk_0001"));
    file.data<float>("bounding box", {2, 3, 2}, {0, 1, 0, 1, 0, 1, 1.3F, 2.3F, 0, 1, 0, 1});  // between cells
    file.data<int32_t>("refine level", {2}, {1, 1});
    file.opaque("unknown names", {1, 1}, 4, "dens");
    file.data("dens", {2, 2, 2, 2}, std::vector<double>(16, 1));
  }
  const auto step = packed_step();
  const auto array = find_array(*step, "dens");
  ASSERT_TRUE(array);
  EXPECT_EQ(step->arrays()[*array].shape, (Shape{2, 2, 2, 2}));
}

}  // namespace
}  // namespace forebay::view
