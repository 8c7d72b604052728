#include "view/source/growing_run.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/file/file_reader.h"
#include "io/file/growing_file.h"
#include "io/file/part.h"
#include "view/read/filled.h"
#include "view/read/selection.h"
#include "view/source/growing_arrays.h"

namespace forebay::view {
namespace {

using io::ValueType;

// A file in a directory of its own, to which steps are added.
class GrowingTest : public testing::Test {
 protected:
  GrowingTest() {
    std::string name = (std::filesystem::temp_directory_path() / "forebay-view-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = (directory_ / "run.bp").string();
    file_ = *io::GrowingFile::create(path_);
  }
  ~GrowingTest() override { std::filesystem::remove_all(directory_); }

  template <class T>
  static io::Block block(std::string name, ValueType type, Shape shape, const std::vector<T>& values) {
    io::Block made{.name = std::move(name), .type = type, .is_array = !shape.empty(), .shape = std::move(shape)};
    made.bytes = std::as_bytes(std::span(values));
    made.characteristics = container::characterise(io::data_type(type), made.bytes);
    return made;
  }

  static double value(uint64_t step, uint64_t row, uint64_t column) {
    return static_cast<double>(10000 * step + 100 * row + column);
  }

  // A global array of 4 rows, of which each rank has `columns_` columns; a local one; a scalar in even steps; a string.
  void add_step(uint32_t ranks, uint64_t step, bool is_listed = true) {
    io::Listing all;
    uint64_t offset = file_->end();
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      std::vector<double> field;
      for (uint64_t row = 0; row < 4; ++row)
        for (uint64_t column = 0; column < columns_; ++column)
          field.push_back(value(step, row, rank * columns_ + column));
      const std::vector<int32_t> own(rank + 1, static_cast<int32_t>(rank)), number{static_cast<int32_t>(7 + step)};
      const std::string text = "step " + std::to_string(step);
      const std::vector<char> title(text.begin(), text.end());
      io::ProcessGroup group{.group = "g", .time_index_name = "", .rank = rank, .step = step};
      group.time_index = static_cast<uint32_t>(step + 1);
      group.blocks.push_back(block("/field", ValueType::float64, {4, columns_}, field));
      group.blocks.back().global_shape = {4, claimed_columns_.value_or(columns_ * ranks)};
      group.blocks.back().offsets = {0, columns_ * rank};
      if (rank == 1) group.blocks.back().transform = "zlib:5";
      group.blocks.push_back(block("own", ValueType::int32, {rank + 1}, own));
      if (step % 2 == 0 || has_always_number_) group.blocks.push_back(block("number", ValueType::int32, {}, number));
      group.blocks.push_back(block("title", ValueType::string, {}, title));
      const std::string unit = step < 2 ? "K" : "eV";
      group.attributes.push_back({.name = "/field/unit",
                                  .type = ValueType::string,
                                  .value = Bytes(as_bytes(unit).begin(), as_bytes(unit).end()),
                                  .variable = {}});
      auto part = io::EncodedPart::make(group, {.container_id = file_->container_id()});
      ASSERT_TRUE(part) << part.error().error.message();
      uint64_t at = offset;
      for (const auto piece : part->pieces()) {
        ASSERT_EQ(::pwrite(file_->fd(), piece.data(), piece.size(), static_cast<off_t>(at)),
                  static_cast<ssize_t>(piece.size()));
        at += piece.size();
      }
      part->listing().shift(offset);
      all.merge(part->listing());
      offset = at + 50;
    }
    if (!is_listed) all.forget_places();
    ASSERT_TRUE(file_->commit(std::move(all), offset, false));
  }

  std::unique_ptr<view::Run> open() {
    auto run = open_run(path_, {.resources = {.memory_bytes = 256 << 20, .threads = 2, .progress = {}},
                                .series = {},
                                .set = {},
                                .layout = {}});
    EXPECT_TRUE(run) << (run ? "" : run.error().message());
    return run ? *std::move(run) : nullptr;
  }

  static size_t number_of_array(const Step& step, const std::string& name) {
    for (size_t i = 0; i < step.arrays().size(); ++i)
      if (step.arrays()[i].name == name) return i;
    ADD_FAILURE() << name << " is not there";
    return 0;
  }

  static Outcome read_one(const Step& step, size_t array, Selection selection, std::span<std::byte> out) {
    const Request request{&step, array, std::move(selection), out};
    return read({&request, 1}).outcomes[0];
  }

  void expect_field(const Step& step, uint64_t number) {
    const size_t array = number_of_array(step, "/field");
    const Array& field = step.arrays()[array];
    EXPECT_EQ(field.form, Form::global);
    const Shape shape = field.shape;
    ASSERT_EQ(shape.size(), 2u);
    std::vector<double> out(3 * (shape[1] - 2), -1);
    const Strided box{{{1, 1}, {3, shape[1] - 2}}, {}};
    const Outcome outcome = read_one(step, array, box, std::as_writable_bytes(std::span(out)));
    ASSERT_FALSE(outcome.error) << outcome.error->message();
    for (uint64_t row = 1; row < 4; ++row)
      for (uint64_t column = 1; column + 1 < shape[1]; ++column)
        ASSERT_EQ(out[(row - 1) * (shape[1] - 2) + column - 1], value(number, row, column)) << row << ' ' << column;
  }

  std::filesystem::path directory_;
  std::string path_;
  bool has_always_number_ = false;
  std::unique_ptr<io::GrowingFile> file_;
  uint64_t columns_ = 5;
  std::optional<uint64_t> claimed_columns_;  // of the global array
};

TEST_F(GrowingTest, AShapeThatItsBlocksCannotFillIsNotWrittenOut) {
  const uint64_t most = (uint64_t{1} << 30) / sizeof(double) / 4;
  for (const uint64_t columns : {uint64_t{10}, most, most + 1, uint64_t{1} << 43}) {
    claimed_columns_ = columns;
    const auto number = static_cast<uint64_t>(file_->steps());
    add_step(2, number);
    const auto run = open();
    const auto step = *run->step(number);
    const size_t array = number_of_array(*step, "/field");
    const auto checked = check_filled(*step, array, {engine::whole_box(step->arrays()[array].shape), {}});
    EXPECT_EQ(checked.has_value(), columns <= most) << columns;
    if (!checked) {
      EXPECT_EQ(checked.error().kind, ErrorKind::corrupt);
    }
    EXPECT_TRUE(check_filled(*step, array, {{{0, 0}, {4, 10}}, {}}));
  }
}

TEST_F(GrowingTest, HasStepsArraysBlocksAndAttributes) {
  for (uint64_t step = 0; step < 3; ++step) add_step(3, step);
  const auto run = open();
  ASSERT_EQ(run->steps().size(), 3u);
  EXPECT_EQ(run->steps()[1].time_index, 2u);
  const auto even = run->step(2);
  const auto odd = run->step(1);
  ASSERT_TRUE(even && odd);
  std::vector<std::string> names;
  for (const Array& array : (*even)->arrays()) names.push_back(array.name);
  EXPECT_EQ(names, (std::vector<std::string>{"/field", "number", "own", "title"}));
  EXPECT_EQ((*odd)->arrays().size(), 3u);
  const Array& field = (*even)->arrays()[0];
  EXPECT_EQ(field.shape, (Shape{4, 15}));
  EXPECT_EQ(field.blocks, 3u);
  EXPECT_EQ(field.group, "g");
  ASSERT_TRUE(field.characteristics);
  EXPECT_EQ(field.characteristics->max, value(2, 3, 14));
  EXPECT_EQ((*even)->arrays()[2].form, Form::local);
  const auto blocks = (*even)->characterised_blocks(0);
  ASSERT_TRUE(blocks);
  ASSERT_EQ(blocks->size(), 3u);
  EXPECT_EQ((*blocks)[1].place.begin, (Shape{0, 5}));
  EXPECT_EQ((*blocks)[1].rank, 1u);
  EXPECT_EQ((*blocks)[1].characteristics->min, value(2, 0, 5));
  EXPECT_EQ((*blocks)[1].characteristics->max, value(2, 3, 9));
  EXPECT_EQ(as_text((*odd)->attributes().at(0).value), "K");
  EXPECT_EQ(as_text((*even)->attributes().at(0).value), "eV");
}

TEST_F(GrowingTest, ReadsBoxesScalarsStringsAndLocalBlocks) {
  for (uint64_t step = 0; step < 3; ++step) add_step(3, step);
  const auto run = open();
  const auto step = *run->step(2);
  expect_field(*step, 2);
  int32_t number = 0;
  EXPECT_FALSE(read_one(*step, 1, WrittenBlock{2, {}}, std::as_writable_bytes(std::span(&number, 1))).error);
  EXPECT_EQ(number, 9);
  std::string title(6, ' ');
  EXPECT_FALSE(read_one(*step, 3, WrittenBlock{1, {}}, std::as_writable_bytes(std::span(title))).error);
  EXPECT_EQ(title, "step 2");
  std::vector<int32_t> own(2);
  EXPECT_FALSE(read_one(*step, 2, WrittenBlock{2, Box{{1}, {2}}}, std::as_writable_bytes(std::span(own))).error);
  EXPECT_EQ(own, (std::vector<int32_t>{2, 2}));
  double points[2];
  EXPECT_FALSE(read_one(*step, 0, Points{2, {3, 14, 0, 6}}, std::as_writable_bytes(std::span(points))).error);
  EXPECT_EQ(points[0], value(2, 3, 14));
  EXPECT_EQ(points[1], value(2, 0, 6));
}

// Blocks of several frames, of which a read decodes what it needs.
TEST_F(GrowingTest, DecodesOnlyTheFramesOfABox) {
  columns_ = 70'000;
  add_step(2, 0);
  const auto run = open();
  const auto step = *run->step(0);
  expect_field(*step, 0);
  std::vector<double> out(10);
  const Request request{step.get(), 0, Strided{{{2, 60'000}, {1, 10}}, {}}, std::as_writable_bytes(std::span(out))};
  const ReadResult result = read({&request, 1});
  ASSERT_FALSE(result.outcomes[0].error);
  EXPECT_EQ(out[3], value(0, 2, 60'003));
  EXPECT_EQ(result.cost.frames, 1u);
  EXPECT_LE(result.cost.decoded_bytes, columns_ * 8 * 2);
}

TEST_F(GrowingTest, FindsPlacesThatTheListDoesNotHave) {
  add_step(3, 0, false);
  const auto run = open();
  const auto step = *run->step(0);
  expect_field(*step, 0);
}

TEST_F(GrowingTest, SeesStepsThatAreAdded) {
  add_step(2, 0);
  const auto run = open();
  EXPECT_EQ(*run->refresh(), 0u);
  const auto first = *run->step(0);
  add_step(2, 1);
  EXPECT_EQ(run->steps().size(), 1u);
  EXPECT_EQ(*run->refresh(), 1u);
  expect_field(**run->step(1), 1);
  expect_field(*first, 0);
  EXPECT_EQ(run->step(2).error().kind, ErrorKind::invalid_argument);
}

TEST_F(GrowingTest, NamesWhatADamagedBlockBelongsTo) {
  columns_ = 1000;
  add_step(2, 0);
  const auto listing = (*io::FileReader::open(path_, 64 << 20))->listing();
  const io::ListedPart& part = listing.parts[0];
  // The values of the first rank, which are stored as they are, begin behind the head of the process group.
  const char bad = 42;
  ASSERT_EQ(::pwrite(file_->fd(), &bad, 1, static_cast<off_t>(part.offset + (part.bytes - part.index_bytes) / 2)), 1);
  const auto run = open();
  const auto step = *run->step(0);
  std::vector<double> left(4 * 1000), right(4 * 1000);
  const Request requests[] = {
      {step.get(), 0, Strided{{{0, 0}, {4, 1000}}, {}}, std::as_writable_bytes(std::span(left))},
      {step.get(), 0, Strided{{{0, 1000}, {4, 1000}}, {}}, std::as_writable_bytes(std::span(right))}};
  const ReadResult result = read(requests);
  ASSERT_TRUE(result.outcomes[0].error);
  EXPECT_EQ(result.outcomes[0].error->kind, ErrorKind::corrupt);
  EXPECT_NE(result.outcomes[0].error->what.find("step 0: '/field' of rank 0"), std::string::npos)
      << result.outcomes[0].error->message();
  EXPECT_FALSE(result.outcomes[1].error);
}

TEST_F(GrowingTest, RefusesWhatIsNoRun) {
  const std::string other = (directory_ / "other").string();
  std::ofstream(other) << "text";
  EXPECT_EQ(open_run(other, {}).error().kind, ErrorKind::unsupported);
  EXPECT_EQ(open_run((directory_ / "none").string(), {}).error().kind, ErrorKind::not_found);
}

// As many process groups and variables as the largest files have, in the list alone.
TEST(GrowingArrays, OfManyProcessGroupsAreQuick) {
  io::Listing listing;
  listing.files = {{}};
  listing.groups = {{"g", "", false}};
  io::Pattern pattern;
  pattern.slots = {{1, true}};
  for (uint32_t v = 0; v < 1000; ++v) {
    listing.variables.push_back({0, "v" + std::to_string(v), ValueType::float64, true, {}});
    pattern.writes.push_back({v, 0});
  }
  listing.patterns = {pattern};
  constexpr uint64_t kParts = 100'000;
  for (uint32_t p = 0; p < kParts; ++p) {
    listing.parts.push_back({.rank = p, .first_place = listing.places.size()});
    listing.places.insert(listing.places.end(), {10, 10 * kParts, 10 * p});
  }
  const LookUp none = [](const WriteOf&) -> Result<BlockPlace> { return fail(ErrorKind::internal, "not listed"); };
  const auto made = growing_arrays(listing, 0, none);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->arrays.size(), 1000u);
  EXPECT_EQ(made->arrays[0].blocks, kParts);
  EXPECT_EQ(made->arrays[0].shape, (Shape{10 * kParts}));
  const auto blocks = growing_blocks(listing, PatternWrites(listing), 0, made->variables[5], made->arrays[5], none);
  ASSERT_TRUE(blocks);
  EXPECT_EQ(blocks->back().place.begin, (Shape{10 * (kParts - 1)}));
}

// What is looked up of another step is right of this one, whichever is opened first.
TEST_F(GrowingTest, StepsThatAreAlike) {
  has_always_number_ = true;
  for (uint64_t step = 0; step < 6; ++step) {
    if (step == 3) columns_ += 1;
    add_step(2, step, step != 5);
  }
  const auto run = open();
  std::vector<uint64_t> alike;
  for (uint64_t step = 0; step < 6; ++step) alike.push_back(run->first_alike(step));
  EXPECT_EQ(alike, (std::vector<uint64_t>{0, 0, 0, 3, 3, 5}));
  for (const uint64_t number : {2, 4, 0, 5, 1, 3}) {
    SCOPED_TRACE(number);
    const auto step = run->step(number);
    ASSERT_TRUE(step) << step.error().message();
    const size_t field = number_of_array(**step, "/field"), own = number_of_array(**step, "own");
    EXPECT_EQ((*step)->array(field).shape, (*step)->arrays()[field].shape);
    EXPECT_EQ((*step)->array(own).shape, (*step)->arrays()[own].shape);
    EXPECT_EQ((*step)->arrays()[field].shape[1], 2 * (number < 3 ? columns_ - 1 : columns_));
    EXPECT_EQ((*step)->blocks(field)->size(), 2u);
    expect_field(**step, number);
    const auto unit = std::ranges::find((*step)->attributes(), "/field/unit", &Attribute::name);
    ASSERT_NE(unit, (*step)->attributes().end());
    EXPECT_EQ(as_text(unit->value), number < 2 ? "K" : "eV");
    if (const auto& values = (*step)->arrays()[field].characteristics) {
      EXPECT_EQ(values->min, value(number, 0, 0));
    }
  }
}

TEST(GrowingArrays, AreCalledByTheirTypesWhereNamesAreNotUnique) {
  io::Listing listing;
  listing.files = {{}};
  listing.groups = {{"g", "", false}, {"h", "", false}};
  listing.variables = {{0, "a", ValueType::float64, false, {}},
                       {0, "a", ValueType::int32, false, {}},
                       {1, "a", ValueType::float64, false, {}}};
  io::Pattern g, h;
  g.writes = {{0, 0}, {1, 0}, {0, 0}};
  h.group = 1;
  h.writes = {{2, 0}};
  g.slots = h.slots = {{0, false}};
  listing.patterns = {g, h};
  listing.parts = {{.pattern = 0}, {.pattern = 1}};
  const auto made = growing_arrays(listing, 0, {});
  ASSERT_TRUE(made);
  std::vector<std::string> names;
  for (const Array& array : made->arrays) names.push_back(array.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "a:h", "a:int32"}));
}

}  // namespace
}  // namespace forebay::view
