#include "view/place/layout.h"

#include <random>

#include <gmock/gmock.h>

#include "view/place/test_files.h"

namespace forebay::view {
namespace {

using testing::HasSubstr;

TEST(LayoutText, TellsArrays) {
  const auto layout = parse_layout(
      "[[array]]\nname = \"T\"\nvariables = \"/f/T*\"\nfiles = \"*.h5\"\nranks = [2, 3]\norder = \"fortran\"\n"
      "ghosts = [1, 0]\n[[array]]\nname = \"u\"\nshape = [4, 5]\noffset = [\"/y0\", \"@x0\"]\nbase = 1\n");
  ASSERT_TRUE(layout) << layout.error().message();
  ASSERT_EQ(layout->size(), 2u);
  EXPECT_EQ((*layout)[0].variables, "/f/T*");
  EXPECT_EQ((*layout)[0].ranks, (Shape{2, 3}));
  EXPECT_TRUE((*layout)[0].is_fortran);
  EXPECT_EQ((*layout)[1].line, 8u);
  EXPECT_EQ((*layout)[1].variables, "/u");
  EXPECT_EQ((*layout)[1].offset, (std::vector<std::string>{"/y0", "@x0"}));
  EXPECT_EQ((*layout)[1].base, 1);
}

TEST(LayoutText, NamesLineAndKeyOfWhatIsWrong) {
  const auto what = [](const std::string& text) {
    const auto layout = parse_layout(text);
    return layout ? std::string() : layout.error().what;
  };
  const std::string begin = "[[array]]\nname = \"T\"\n";
  EXPECT_THAT(what(""), HasSubstr("there is no [[array]]"));
  EXPECT_THAT(what("x = 1\n" + begin), HasSubstr("line 1: 'x' is not a known key"));
  EXPECT_THAT(what("[[array]]\nranks = [1]\n"), HasSubstr("'name' is missing"));
  EXPECT_THAT(what(begin + "shpae = [1]\n"), HasSubstr("line 3: 'shpae' is not a known key"));
  EXPECT_THAT(what(begin + "ranks = [2, 0]\n"), HasSubstr("line 3: 'ranks' must be whole numbers from 1"));
  EXPECT_THAT(what(begin + "ranks = 3\n"), HasSubstr("line 3: 'ranks' must be a list"));
  EXPECT_THAT(what(begin + "ranks = [2]\noffset = \"@a\"\n"), HasSubstr("either 'ranks' or 'offset'"));
  EXPECT_THAT(what(begin + "offset = \"@a\"\n"), HasSubstr("must have a 'shape'"));
  EXPECT_THAT(what(begin + "shape = [2]\noffset = \"a\"\n"), HasSubstr("line 4: 'offset' must be"));
  EXPECT_THAT(what(begin + "ranks = [2, 2]\nshape = [4]\n"), HasSubstr("line 4: 'shape' has 1 dimensions"));
  EXPECT_THAT(what(begin + "ranks = [2]\norder = \"f\"\n"), HasSubstr("line 4: 'order'"));
  EXPECT_THAT(what(begin + "ranks = [281474976710656, 281474976710656]\n"), HasSubstr("too large"));
  EXPECT_THAT(what(begin + "ranks = [\n"), HasSubstr("layout, line "));
}

class Layouts : public PlacedTest {
 protected:
  // Cuts an array at random into blocks of ranks, with ghost cells, and writes each into a file.
  void write_blocks(uint32_t seed, bool is_fortran) {
    std::mt19937 random(seed);
    shape_ = {random() % 6 + 4, random() % 6 + 4, random() % 6 + 4};
    std::vector<std::vector<uint64_t>> cuts;
    for (size_t d = 0; d < 3; ++d) {
      ranks_.push_back(random() % 3 + 1);
      ghosts_.push_back(random() % 3);
      cuts.push_back(random_cuts(shape_[d], ranks_[d], random));
    }
    for_each_index(ranks_, [&](const Shape& at) {
      const uint64_t rank = is_fortran ? at[0] + ranks_[0] * (at[1] + ranks_[1] * at[2]) : place_in(ranks_, at);
      Shape stored, begin;
      std::vector<int64_t> start;
      for (size_t d = 0; d < 3; ++d) {
        begin.push_back(cuts[d][at[d]]);
        stored.push_back(cuts[d][at[d] + 1] - begin[d] + 2 * ghosts_[d]);
        start.push_back(static_cast<int64_t>(begin[d]) + 1);
      }
      std::vector<float> values;
      for_each_index(stored, [&](const Shape& index) {
        Shape element = index;
        bool is_ghost = false;
        for (size_t d = 0; d < 3; ++d) {
          is_ghost = is_ghost || index[d] < ghosts_[d] || index[d] >= stored[d] - ghosts_[d];
          element[d] += begin[d] - ghosts_[d];
        }
        values.push_back(is_ghost ? -7 : static_cast<float>(place_in(shape_, element)));
      });
      TestHdf5 file(tree_file(fmt::format("state.{:04}.h5", rank)));
      file.data("T", stored, values);
      file.data<int64_t>("start", {3}, start);
      file.attribute<int32_t>("/T", "k0", {static_cast<int32_t>(start[0])});
      file.attribute<int32_t>("/", "j0", {static_cast<int32_t>(start[1])});
      file.data<int64_t>("i0", {1}, {start[2]});
    });
  }

  std::string text_of(const char* key, const Shape& numbers) const {
    return fmt::format("{} = [{}, {}, {}]\n", key, numbers[0], numbers[1], numbers[2]);
  }

  void expect_all(const std::string& layout) {
    const auto step =
        packed_step("[[array]]\nname = \"T\"\nfiles = \"state.*\"\n" + text_of("ghosts", ghosts_) + layout);
    const auto values = all_of<float>(*step, "T", shape_);
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(i));
    EXPECT_TRUE(find_array(*step, "start"));  // what the layout does not name is there as it is stored
    std::filesystem::remove_all(store_path());
  }

  std::string failure_of(const std::string& layout) {
    try {
      packed_step(layout);
    } catch (const std::runtime_error& error) {
      std::filesystem::remove_all(store_path());
      return error.what();
    }
    return {};
  }

  Shape shape_, ranks_, ghosts_;
};

TEST_F(Layouts, PutTogetherWhatWasCutAtRandom) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    const bool is_fortran = seed % 2 == 1;
    std::filesystem::remove_all(tree());
    std::filesystem::create_directory(tree());
    ranks_.clear(), ghosts_.clear();
    write_blocks(seed, is_fortran);
    expect_all(text_of("ranks", ranks_) + (is_fortran ? "order = \"fortran\"\n" : ""));
    expect_all(text_of("ranks", ranks_) + text_of("shape", shape_) + (is_fortran ? "order = \"fortran\"\n" : ""));
    expect_all(text_of("shape", shape_) + "offset = \"/start\"\nbase = 1\n");
    expect_all(text_of("shape", shape_) + "offset = [\"/T@k0\", \"@j0\", \"/i0\"]\nbase = 1\n");
  }
}

TEST_F(Layouts, SayWhereTheSetDisagrees) {
  write_blocks(3, false);
  const std::string begin = "[[array]]\nname = \"T\"\n" + text_of("ghosts", ghosts_), shape = text_of("shape", shape_);
  EXPECT_THAT(failure_of(begin + "ranks = [1, 1, 97]\n"), HasSubstr("'ranks' has places for 97"));
  EXPECT_THAT(failure_of("[[array]]\nname = \"nothing\"\nranks = [1]\n"), HasSubstr("no variable is called /nothing"));
  EXPECT_THAT(failure_of("[[array]]\nname = \"T\"\nranks = [1]\n"), HasSubstr("has 3 dimensions, not 1"));
  EXPECT_THAT(failure_of(begin + shape + "offset = \"/start\"\nbase = 100\n"), HasSubstr("before 'base'"));
  EXPECT_THAT(failure_of(begin + shape + "offset = \"/start\"\nbase = -100\n"), HasSubstr("lies outside of the array"));
  EXPECT_THAT(failure_of(begin + shape + "offset = \"@none\"\n"), HasSubstr("has no attribute @none"));
  EXPECT_THAT(failure_of(begin + shape + "offset = [\"/i0\", \"/i0\", \"/start\"]\n"), HasSubstr("is not one number"));
  EXPECT_THAT(failure_of(begin + "ranks = ["), HasSubstr("layout, line "));
}

TEST_F(Layouts, StepsHaveTheAttributesOfTheirFiles) {
  write_blocks(1, false);
  const auto step = packed_step();
  const auto& attributes = step->attributes();
  const auto found = std::ranges::find(attributes, "/T/k0", &Attribute::name);
  ASSERT_NE(found, attributes.end());
  EXPECT_EQ(found->count, 1u);
  EXPECT_EQ(to_string(found->type), "int32");
  EXPECT_EQ(load_le<int32_t>(found->value.data()), 1);  // of the first rank
  EXPECT_NE(std::ranges::find(attributes, "/j0", &Attribute::name), attributes.end());
}

}  // namespace
}  // namespace forebay::view
