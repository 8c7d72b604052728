#include "view/source/bp_run.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "bp/index.h"
#include "view/read/filled.h"
#include "view/read/selection.h"

namespace forebay::view {
namespace {

// Files that the original library wrote.
std::string bp_file(const std::string& name) { return std::string(FOREBAY_SOURCE_DIR "/tests/fuzz/bp_fuzz/") + name; }

std::unique_ptr<Run> open_bp(const std::string& path) {
  auto run = open_run(
      path,
      {.resources = {.memory_bytes = 256 << 20, .threads = 2, .progress = {}}, .series = {}, .set = {}, .layout = {}});
  EXPECT_TRUE(run) << (run ? "" : run.error().message());
  return run ? *std::move(run) : nullptr;
}

Outcome read_bp(const Step& step, size_t array, Selection selection, std::span<std::byte> out) {
  const Request request{&step, array, std::move(selection), out};
  return read({&request, 1}).outcomes[0];
}

// The file `name` with 2^43 added to one of the numbers (0: local size, 1: global size) of each block of a variable of
// two dimensions, in its slower one; what it had must be `was`.
std::string with_a_huge_dimension(const std::string& name, size_t number, uint64_t was) {
  const std::string path = bp_file(name);
  const auto source = *FileSource::open(path);
  const bp::Footer footer = **bp::read_footer(*source);
  Bytes bytes(source->size());
  EXPECT_TRUE(source->read_at(0, bytes));
  size_t changed = 0;
  for (uint64_t at = footer.variables; at + 4 + 48 < footer.attributes; ++at) {
    // A characteristic of dimensions: its kind, how many, and how many bytes.
    if (bytes[at] != std::byte{4} || bytes[at + 1] != std::byte{2} || load_le<uint16_t>(&bytes[at + 2]) != 48) continue;
    if (load_le<uint64_t>(&bytes[at + 4 + 8 * number]) != was) continue;
    bytes[at + 4 + 8 * number + 5] = std::byte{8};
    ++changed;
  }
  EXPECT_GT(changed, 0u);
  std::string made = (std::filesystem::temp_directory_path() / "forebay-bp-XXXXXX").string();
  const int fd = ::mkstemp(made.data());
  EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::close(fd);
  return made;
}

TEST(BpRun, ShapesThatTheFileCannotFillAreDamage) {
  const auto whole_run = open_bp(bp_file("global"));
  const auto whole = *whole_run->step(0);
  const Shape shape = whole->arrays()[*find_array(*whole, "temperature")].shape;
  for (const size_t number : {size_t{0}, size_t{1}}) {
    const std::string path = with_a_huge_dimension("global", number, number == 0 ? 1 : shape[0]);
    const auto run = open_bp(path);
    ASSERT_TRUE(run);
    const auto step = *run->step(0);
    const size_t array = *find_array(*step, "temperature");
    Result<void> checked;
    const auto blocks = *step->blocks(array);
    if (step->arrays()[array].form != Form::global)
      checked = check_stored(*step, array, blocks);
    else
      checked = check_filled(*step, array, {engine::whole_box(step->arrays()[array].shape), {}});
    ASSERT_FALSE(checked) << number;
    EXPECT_EQ(checked.error().kind, ErrorKind::corrupt);
    EXPECT_NE(checked.error().message().find("'temperature'"), std::string::npos) << checked.error().message();
    std::filesystem::remove(path);
  }
}

TEST(BpRun, HasGlobalArraysScalarsAndAttributes) {
  const auto run = open_bp(bp_file("global"));
  ASSERT_TRUE(run);
  ASSERT_EQ(run->steps().size(), 1u);
  const auto step = *run->step(0);
  const size_t number = *find_array(*step, "temperature");
  const Array& temperature = step->arrays()[number];
  EXPECT_EQ(temperature.form, Form::global);
  ASSERT_EQ(temperature.shape.size(), 2u);
  EXPECT_EQ(temperature.blocks, temperature.shape[0]);
  std::vector<double> values(element_count(temperature.shape)), expected(values.size());
  std::iota(expected.begin(), expected.end(), 0.0);
  const Outcome outcome = read_bp(*step, number, Strided{engine::whole_box(temperature.shape), {}},
                                  std::as_writable_bytes(std::span(values)));
  EXPECT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_EQ(values, expected);
  double two[2] = {};
  EXPECT_FALSE(read_bp(*step, number, Points{2, {1, 3, 0, 7}}, std::as_writable_bytes(std::span(two))).error);
  EXPECT_EQ(two[0], expected[temperature.shape[1] + 3]);
  EXPECT_EQ(two[1], 7);
  int32_t size = 0;
  const size_t scalar = *find_array(*step, "size");
  EXPECT_FALSE(read_bp(*step, scalar, WrittenBlock{1, {}}, std::as_writable_bytes(std::span(&size, 1))).error);
  EXPECT_EQ(static_cast<uint64_t>(size), temperature.shape[0]);
  EXPECT_EQ(step->arrays()[scalar].characteristics->max, size);
  EXPECT_EQ((*step->blocks(number))[1].rank, 1u);
  EXPECT_EQ(run->step(1).error().kind, ErrorKind::invalid_argument);

  const auto others = *open_bp(bp_file("attributes"))->step(0);
  EXPECT_FALSE(others->attributes().empty());
  EXPECT_TRUE(std::ranges::none_of(
      others->attributes(), [](const Attribute& attribute) { return attribute.name.starts_with("/__adios__"); }));
}

TEST(BpRun, ReadsStrings) {
  const auto step = *open_bp(bp_file("scalars"))->step(0);
  const size_t number = *find_array(*step, "var_string");
  const auto blocks = step->blocks(number);
  ASSERT_TRUE(blocks);
  std::string text(element_count((*blocks)[0].place.count), '?');
  ASSERT_FALSE(text.empty());
  EXPECT_FALSE(read_bp(*step, number, WrittenBlock{0, {}}, std::as_writable_bytes(std::span(text))).error);
  EXPECT_EQ(text.find('?'), std::string::npos);
}

TEST(BpRun, TellsWhichSubfileIsMissing) {
  const auto step = *open_bp(bp_file("subfiles"))->step(0);
  const size_t number = *find_array(*step, "temperature");
  EXPECT_EQ(step->arrays()[number].form, Form::global);
  const auto blocks = step->blocks(number);
  ASSERT_FALSE(blocks);
  EXPECT_EQ(blocks.error().kind, ErrorKind::not_found);
  EXPECT_NE(blocks.error().path.find("subfiles.dir/subfiles.0"), std::string::npos) << blocks.error().message();
}

std::string text_of_file(const std::string& name) {
  std::ifstream file(bp_file(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A file with some other content, which is removed in the end.
class ChangedFile {
 public:
  explicit ChangedFile(const std::string& text)
      : path_(testing::TempDir() + "forebay-bp-" + std::to_string(::getpid())) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~ChangedFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The file has the transform that changes nothing; then it claims another one.
TEST(BpRun, RefusesTransformsByName) {
  const auto read_all = [](const std::string& path) {
    const auto step = *open_bp(path)->step(0);
    const size_t number = *find_array(*step, "temperature");
    const Array& array = step->arrays()[number];
    std::vector<double> values(element_count(array.shape));
    Outcome outcome =
        read_bp(*step, number, Strided{engine::whole_box(array.shape), {}}, std::as_writable_bytes(std::span(values)));
    return std::pair(std::move(outcome), values);
  };
  const auto [good, values] = read_all(bp_file("transforms"));
  EXPECT_FALSE(good.error) << good.error->message();
  EXPECT_EQ(values[13], 13);
  std::string text = text_of_file("transforms");
  for (size_t at = 0; (at = text.find("identity", at)) != std::string::npos;) text.replace(at, 8, "zlibzlib");
  const auto bad = read_all(ChangedFile(text).path()).first;
  ASSERT_TRUE(bad.error);
  EXPECT_EQ(bad.error->kind, ErrorKind::unsupported);
  EXPECT_NE(bad.error->what.find("step 0: 'temperature' of rank"), std::string::npos) << bad.error->message();
  EXPECT_NE(bad.error->what.find("'zlibzlib'"), std::string::npos);
}

// Files that ADIOS 1.13 has written, of two steps of one rank, in which variables have 24 elements a dimension.
class Transforms : public testing::TestWithParam<const char*> {
 protected:
  static constexpr uint64_t kSide = 24;

  static Result<std::vector<double>> read_box(const Step& step, const Box& box) {
    const size_t number = *find_array(step, "temperature");
    std::vector<double> values(element_count(box.count));
    Outcome outcome = read_bp(step, number, Strided{box, {}}, std::as_writable_bytes(std::span(values)));
    if (outcome.error) return std::unexpected(*std::move(outcome.error));
    return values;
  }
};
INSTANTIATE_TEST_SUITE_P(All, Transforms, testing::Values("zlib", "bzip2", "lz4"));

TEST_P(Transforms, AreUndone) {
  const auto run = open_bp(bp_file(GetParam()));
  ASSERT_EQ(run->steps().size(), 2u);
  for (uint64_t step = 0; step < 2; ++step)
    for (const Box& box : {Box{{0, 0}, {kSide, kSide}}, {{5, 7}, {1, 3}}, {{kSide - 1, kSide - 1}, {1, 1}}}) {
      const auto opened = *run->step(step);
      const auto values = read_box(*opened, box);
      ASSERT_TRUE(values) << values.error().message();
      for (uint64_t i = 0; i < values->size(); ++i) {
        const uint64_t row = box.begin[0] + i / box.count[1], column = box.begin[1] + i % box.count[1];
        EXPECT_EQ((*values)[i], static_cast<double>(row * 10 + column / 8 + step));
      }
    }
}

TEST_P(Transforms, AreUndoneOnceForAllWhoWantABlockAtATime) {
  const auto run = open_bp(bp_file(GetParam()));
  const auto step = *run->step(0);
  const size_t number = *find_array(*step, "temperature");
  std::atomic<uint64_t> decoded_bytes = 0;
  {
    std::vector<std::jthread> readers(8);
    for (std::jthread& reader : readers)
      reader = std::jthread([&] {
        std::vector<double> values(kSide * kSide);
        const Request request{step.get(), number, Strided{{{0, 0}, {kSide, kSide}}, {}},
                              std::as_writable_bytes(std::span(values))};
        const ReadResult result = read({&request, 1});
        EXPECT_FALSE(result.outcomes[0].error);
        decoded_bytes += result.cost.decoded_bytes;
      });
  }
  EXPECT_EQ(decoded_bytes, kSide * kSide * sizeof(double));
}

// Some formats have no checksum, so that other values may come; nothing else may.
TEST_P(Transforms, OfDamagedBlocksAreErrorsOrOtherValues) {
  const std::string text = text_of_file(GetParam());
  const auto index = bp::read_index(MemorySource(as_bytes(text)), 1 << 20);
  ASSERT_TRUE(index);
  for (const bp::Variable& variable : index->variables) {
    if (variable.name != "temperature") continue;
    const bp::Entry& entry = variable.entries.front();
    ASSERT_GT(entry.stored_bytes, 0u);
    int errors = 0;
    for (uint64_t at = 0; at < entry.stored_bytes; ++at) {
      std::string bad = text;
      bad[entry.payload + at] = static_cast<char>(bad[entry.payload + at] ^ 0x10);
      const ChangedFile file(bad);
      const auto values = read_box(**open_bp(file.path())->step(0), {{0, 0}, {kSide, kSide}});
      if (values) continue;
      ++errors;
      EXPECT_EQ(values.error().kind, ErrorKind::corrupt) << values.error().message();
    }
    EXPECT_GT(errors, 0);
  }
}

// Offsets that point outside: of the file's end, and of the array.
TEST(BpRun, FailsWhatIsDamagedAndNothingElse) {
  std::string text = text_of_file("global");
  const auto index = bp::read_index(MemorySource(as_bytes(text)), 1 << 20);
  ASSERT_TRUE(index);
  for (const bp::Variable& variable : index->variables) {
    if (variable.name != "temperature") continue;
    uint64_t payload = variable.entries[1].payload;
    const std::string_view stored(reinterpret_cast<const char*>(&payload), sizeof payload);
    const size_t at = text.find(stored, index->footer.variables);
    ASSERT_NE(at, std::string::npos);
    payload = uint64_t{1} << 62;
    text.replace(at, sizeof payload, reinterpret_cast<const char*>(&payload), sizeof payload);
  }
  const ChangedFile file(text);
  const auto step = *open_bp(file.path())->step(0);
  const size_t number = *find_array(*step, "temperature");
  const uint64_t columns = step->arrays()[number].shape[1];
  std::vector<double> row(columns);
  const auto out = std::as_writable_bytes(std::span(row));
  EXPECT_FALSE(read_bp(*step, number, Strided{{{0, 0}, {1, columns}}, {}}, out).error);
  const Outcome bad = read_bp(*step, number, Strided{{{1, 0}, {1, columns}}, {}}, out);
  ASSERT_TRUE(bad.error);
  EXPECT_EQ(bad.error->kind, ErrorKind::corrupt);
  EXPECT_NE(bad.error->what.find("step 0: 'temperature' of rank 1"), std::string::npos) << bad.error->message();
}

// Bytes of a file of a machine that is not this one.
class Foreign {
 public:
  template <std::integral T>
  Foreign& number(T value) {
    for (size_t i = sizeof value; i-- > 0;) bytes_ += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
    return *this;
  }
  Foreign& text(std::string_view text) {
    number(static_cast<uint16_t>(text.size())).bytes_ += text;
    return *this;
  }
  template <std::integral Length>
  Foreign& with_length(const Foreign& inner) {
    number(static_cast<Length>(inner.bytes_.size())).bytes_ += inner.bytes_;
    return *this;
  }
  uint64_t size() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// One process group of rank 3, with four numbers of an array and a scalar.
std::string foreign_file(bool has_subfiles) {
  Foreign file;
  for (const int32_t value : {10, -20, 30, 40}) file.number(value);
  const uint64_t groups = file.size();
  Foreign group;
  group.text("g").number('n').number(uint32_t{3}).text("").number(uint32_t{1}).number(uint64_t{0});
  file.number(uint64_t{1}).number(uint64_t{0}).with_length<uint16_t>(group);
  const uint64_t variables = file.size();
  const auto place = [](Foreign& set) {
    set.number(uint8_t{3}).number(uint64_t{0}).number(uint8_t{6}).number(uint64_t{0});
    set.number(uint8_t{7}).number(uint32_t{0}).number(uint8_t{8}).number(uint32_t{1});
  };
  Foreign array, array_set, scalar, scalar_set;
  place(array_set);
  array_set.number(uint8_t{4}).number(uint8_t{1}).number(uint16_t{24});
  for (const uint64_t size : {4, 4, 0}) array_set.number(size);
  array.number(uint32_t{1}).text("g").text("a").text("/p/").number(uint8_t{2}).number(uint64_t{1}).number(uint8_t{5});
  array.with_length<uint32_t>(array_set);
  place(scalar_set);
  scalar_set.number(uint8_t{0}).number(std::bit_cast<uint64_t>(2.5));
  scalar.number(uint32_t{2}).text("g").text("s").text("").number(uint8_t{6}).number(uint64_t{1}).number(uint8_t{5});
  scalar.with_length<uint32_t>(scalar_set);
  file.number(uint32_t{2}).number(uint64_t{0}).with_length<uint32_t>(array).with_length<uint32_t>(scalar);
  const uint64_t attributes = file.size();
  file.number(uint32_t{0}).number(uint64_t{0});
  for (int i = 0; i < 28; ++i) file.number(' ');
  file.number(groups).number(variables).number(attributes).number(has_subfiles ? 0x80000303u : 0x80000203u);
  return file.bytes();
}

TEST(BpRun, ReadsFilesOfTheOtherByteOrderAndSubfiles) {
  for (const bool has_subfiles : {false, true}) {
    const ChangedFile file(foreign_file(has_subfiles));
    const std::filesystem::path directory = file.path() + ".dir";
    if (has_subfiles) {
      std::filesystem::create_directory(directory);
      std::ofstream(bp::subfile_path(file.path(), 0), std::ios::binary) << foreign_file(false);
    }
    const auto step = *open_bp(file.path())->step(0);
    std::vector<int32_t> values(4);
    const size_t array = *find_array(*step, "/p/a");
    EXPECT_EQ(step->arrays()[array].form, Form::global);
    const Outcome outcome = read_bp(*step, array, Strided{{{0}, {4}}, {}}, std::as_writable_bytes(std::span(values)));
    EXPECT_FALSE(outcome.error) << outcome.error->message();
    EXPECT_EQ(values, (std::vector<int32_t>{10, -20, 30, 40}));
    EXPECT_EQ((*step->blocks(array))[0].rank, 3u);
    const size_t scalar = *find_array(*step, "s");
    EXPECT_EQ(step->arrays()[scalar].characteristics->max, 2.5);
    std::filesystem::remove_all(directory);
  }
}

}  // namespace
}  // namespace forebay::view
