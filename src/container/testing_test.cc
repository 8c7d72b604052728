#include "container/testing.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/checksum.h"

namespace forebay::container::testing {

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "forebay-container-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const auto bytes = as_bytes(text);
  return Bytes(bytes.begin(), bytes.end());
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

namespace {

Variable contiguous(std::string path, DataType type, Shape shape, uint64_t offset) {
  const uint64_t bytes = element_count(shape) * type.size;
  return {.path = std::move(path), .type = type, .shape = std::move(shape), .block = {}, .extents = {{offset, bytes}}};
}

// Makes a frame of every 1000 bytes or so of all variables; the payload is anything.
void add_frames(Sample& sample, size_t count, std::mt19937_64& random) {
  static const char* const kChains[] = {"lorenzo+shuffle+zstd:3", "zstd:3", "none"};
  for (size_t i = 0; i < count; ++i) {
    Sample::Frame frame{.raw_bytes = 1000 + random() % 100,
                        .raw_hash = random(),
                        .recipe = std::string(i % 3 * 7, static_cast<char>('a' + i % 26)),
                        .chain = kChains[i % 3],
                        .payload = std::string(i % 5 == 4 ? 0 : 20 + random() % 200, '\0'),
                        .references = {},
                        .lossy = {}};
    for (char& c : frame.payload) c = static_cast<char>(random());
    if (i % 4 == 3) frame.references = {static_cast<uint32_t>(i - 3), static_cast<uint32_t>(i - 1)};
    sample.frames.push_back(std::move(frame));
  }
}

void add_checks(Sample& sample, std::mt19937_64& random) {
  for (size_t i = 0; i < sample.catalogue.files.size(); ++i) sample.file_crcs.push_back(random());
  for (const VariableRow& row : sample.catalogue.variables) {
    Characteristics values;
    if (row.type.is_number() && !row.filtered) {
      values.nans = random() % 8 == 0 ? 1 : 0;
      values.count = sample.catalogue.bytes_of(row) / row.type.size - values.nans;
    }
    if (values.count > 0) {
      const auto number = [&] { return static_cast<double>(static_cast<float>(random() % 4294967296) / 1000); };
      values.min = -number();
      values.max = number();
      values.sum = number() * 1.1;
      values.sum_of_squares = number() * 1.3;
    }
    sample.characteristics.push_back(values);
  }
}

FileRow special(std::string name, FileKind kind, std::string target = {}) {
  return {.name = std::move(name),
          .kind = kind,
          .mode = 0755,
          .mtime_s = -1,
          .link_target = std::move(target),
          .format = {}};
}

}  // namespace

Sample small_sample() {
  std::mt19937_64 random(1);
  Sample sample;
  constexpr DataType kF4{Kind::floating, ByteOrder::little, 4}, kBigI8{Kind::signed_int, ByteOrder::big, 8};
  Layout layout{.format = "hdf5", .variables = {}};
  layout.variables.push_back(contiguous("/Grid00000001/Density", kF4, {10, 20}, 2048));
  layout.variables.push_back(contiguous("/Grid00000001/particle_index", kBigI8, {7}, 512));
  layout.variables.push_back(
      {.path = "/chunked", .type = kF4, .shape = {10}, .block = {4}, .extents = {{3000, 16}, {2900, 16}, {3200, 16}}});
  layout.variables.push_back({.path = "/filtered",
                              .type = {Kind::opaque, ByteOrder::little, 1},
                              .shape = {100},
                              .block = {50},
                              .extents = {{4000, 13}, {4020, 71}},
                              .filtered = true,
                              .partial = true});
  layout.variables.push_back(contiguous("/scalar", {Kind::floating, ByteOrder::little, 8}, {}, 100));
  const std::vector<std::string> keys = {"/Grid*/Density f4 2", "/Grid*/particle_index >i8 1", "/chunked f4 1", "x",
                                         "y"};
  sample.catalogue.add({.name = "DD0001/data.cpu0000",
                        .mtime_s = 1'700'000'000,
                        .mtime_ns = 123,
                        .size = 5000,
                        .link_target = {},
                        .format = {}},
                       layout, keys);
  sample.catalogue.add({.name = "DD0001/data.cpu0001",
                        .mtime_s = 1'700'000'007,
                        .mtime_ns = 999'999'999,
                        .size = 5001,
                        .link_target = {},
                        .format = {},
                        .rank = 1},
                       layout, keys);
  sample.catalogue.add(special("DD0001", FileKind::directory), {.format = "opaque", .variables = {}}, {});
  sample.catalogue.add(special("DD0001/a link\n\xff", FileKind::symlink, "../anywhere"),
                       {.format = "opaque", .variables = {}}, {});
  sample.catalogue.add({.name = "...", .mode = 07777, .size = 0, .link_target = {}, .format = {}},
                       {.format = "opaque", .variables = {}}, {});
  sample.plan = {.scheme = Scheme::aware,
                 .block_bytes = 4096,
                 .frame_bytes = 1 << 20,
                 .share_bytes = 1000,
                 .key_block_bytes = {0, 65536, 0, 0, 1}};
  add_frames(sample, 6, random);
  add_checks(sample, random);
  return sample;
}

Sample random_sample(uint32_t seed) {
  std::mt19937_64 random(seed);
  const DataType types[] = {{Kind::floating, ByteOrder::little, 4},
                            {Kind::floating, ByteOrder::big, 8},
                            {Kind::signed_int, ByteOrder::little, 2},
                            {Kind::unsigned_int, ByteOrder::little, 1},
                            {Kind::opaque, ByteOrder::little, 24}};
  Sample sample;
  const size_t files = random() % 5;
  for (size_t f = 0; f < files; ++f) {
    Layout layout{.format = f % 2 == 0 ? "netcdf" : "npy", .variables = {}};
    std::vector<std::string> keys;
    uint64_t at = 0;
    const size_t count = random() % 60;
    for (size_t v = 0; v < count; ++v) {
      at += random() % 1000;
      const DataType type = types[random() % 5];
      Variable variable = contiguous("/g" + std::to_string(random() % 9) + "/v" + std::to_string(v), type,
                                     Shape(random() % 4, 1 + random() % 6), at);
      if (random() % 5 == 0 && !variable.shape.empty()) {
        variable.block = variable.shape;
        variable.extents.push_back({variable.extents[0].end() + random() % 3, variable.extents[0].length});
      }
      if (random() % 5 == 0) {
        variable.filtered = true;
        for (Extent& extent : variable.extents) extent.length = 1 + random() % extent.length;
      }
      at = variable.extents.back().end();
      keys.push_back("key" + std::to_string(random() % 7));
      if (v % 4 == 1) variable.meaning = "fill " + std::to_string(v % 3);
      layout.variables.push_back(std::move(variable));
    }
    std::string name = "file" + std::to_string(f);
    for (size_t i = random() % 20; i > 0; --i) name += static_cast<char>('0' + random() % 200);
    sample.catalogue.add({.name = std::move(name),
                          .mtime_s = static_cast<int32_t>(random()),
                          .size = at + random() % 99,
                          .link_target = {},
                          .format = {},
                          .rank = static_cast<uint32_t>(random() % 100)},
                         layout, keys);
  }
  sample.plan.scheme = static_cast<Scheme>(random() % 4);
  add_frames(sample, random() % 30, random);
  for (size_t i = seed % 3; i < sample.frames.size(); i += 1 + seed % 4)
    sample.frames[i].lossy = LossyNote{.bound = {static_cast<BoundKind>(1 + i % 3), 1.0 + static_cast<double>(i)},
                                       .error = static_cast<double>(i) / 3};
  if (random() % 4 != 0) add_checks(sample, random);
  return sample;
}

Sample large_sample(size_t files, size_t variables) {
  std::mt19937_64 random(7);
  Sample sample;
  for (size_t f = 0; f < files; ++f) {
    Layout layout{.format = "hdf5", .variables = {}};
    std::vector<std::string> keys;
    for (size_t v = 0; v < variables; ++v) {
      layout.variables.push_back(
          contiguous("/Grid" + std::to_string(10'000'000 + f * 1000 + v / 10) + "/field" + std::to_string(v % 10),
                     {Kind::floating, ByteOrder::little, static_cast<uint16_t>(v % 2 == 0 ? 4 : 8)},
                     {v % 2 == 0 ? 250u : 125u, 9}, 2048 + v * 9300));
      keys.push_back("/Grid*/field" + std::to_string(v % 10));
    }
    sample.catalogue.add({.name = "data.cpu" + std::to_string(f),
                          .mtime_s = 1'700'000'000,
                          .size = 2048 + variables * 9300,
                          .link_target = {},
                          .format = {},
                          .rank = static_cast<uint32_t>(f)},
                         layout, keys);
  }
  add_frames(sample, files * variables * 9000 >> 22, random);
  std::lognormal_distribution<double> value;
  for (const VariableRow& row : sample.catalogue.variables) {
    const bool narrow = row.type.size == 4;
    const auto number = [&] { return narrow ? static_cast<double>(static_cast<float>(value(random))) : value(random); };
    sample.characteristics.push_back({.count = 9000u / row.type.size,
                                      .min = number(),
                                      .max = number() + 5,
                                      .sum = value(random) * 2250,
                                      .sum_of_squares = value(random) * 4000});
  }
  // Narrow maxima must be binary32 numbers.
  for (size_t i = 0; i < sample.characteristics.size(); ++i)
    if (sample.catalogue.variables[i].type.size == 4)
      sample.characteristics[i].max = static_cast<double>(static_cast<float>(sample.characteristics[i].max));
  sample.file_crcs.assign(files, 0x123456789abcdef);
  return sample;
}

Sample placed_sample() {
  constexpr DataType kF8{Kind::floating, ByteOrder::little, 8};
  std::mt19937_64 random(3);
  Sample sample;
  for (uint32_t rank = 0; rank < 3; ++rank) {
    Layout layout{.format = "pg", .variables = {}};
    layout.variables.push_back(contiguous("/density", kF8, {4, 6}, 0));
    layout.variables.back().global_shape = {12, 6};
    layout.variables.back().global_offset = {4 * rank, 0};
    layout.variables.push_back(contiguous("/steps", {Kind::signed_int, ByteOrder::little, 4}, {}, 192));
    layout.variables.push_back(contiguous("/x", kF8, {4}, 200));
    layout.variables.back().global_shape = {12};
    layout.variables.back().global_offset = {4 * rank};
    sample.catalogue.add(
        {.name = "pg" + std::to_string(rank), .size = 232, .link_target = {}, .format = {}, .rank = rank}, layout,
        std::vector<std::string>{"density", "steps", "x"});
  }
  sample.moment = {.step = 10, .time = 1.25};
  sample.plan.frame_bytes = 4096;
  add_frames(sample, 4, random);
  for (size_t i = 0; i < sample.frames.size(); ++i) sample.frames[i].raw_bytes = 1000 + i;
  add_checks(sample, random);
  return sample;
}

namespace {

Result<void> append_frame(Writer& writer, const Sample& sample, uint32_t number) {
  const Sample::Frame& frame = sample.frames[number];
  return writer.append({.number = number,
                        .raw_bytes = frame.raw_bytes,
                        .raw_hash = frame.raw_hash,
                        .recipe = as_bytes(frame.recipe),
                        .chain = frame.chain,
                        .references = frame.references,
                        .payload = as_bytes(frame.payload),
                        .lossy = frame.lossy});
}

}  // namespace

Result<std::unique_ptr<Writer>> create_file(const std::string& path, const Catalogue& catalogue, const PlanSpec& plan,
                                            const Moment& moment) {
  FOREBAY_TRY(auto sink, FileSink::create(path));
  return Writer::create(std::move(sink), catalogue, plan, moment);
}

Result<void> write_sample(const Sample& sample, const std::string& path, std::vector<uint32_t> order) {
  if (order.empty()) {
    order.resize(sample.frames.size());
    std::iota(order.begin(), order.end(), 0);
  }
  FOREBAY_TRY(const auto writer, create_file(path, sample.catalogue, sample.plan, sample.moment));
  for (const uint32_t number : order) FOREBAY_CHECK(append_frame(*writer, sample, number));
  FOREBAY_CHECK(writer->finish(sample.file_crcs, sample.characteristics));
  return {};
}

Bytes sample_bytes(const Sample& sample) {
  const TempDir dir;
  const auto written = write_sample(sample, dir.file("sample.fbc"));
  EXPECT_TRUE(written) << written.error().message();
  return read_file(dir.file("sample.fbc"));
}

Result<std::unique_ptr<Reader>> open_bytes(Bytes bytes, uint64_t max_index_bytes) {
  return Reader::open(std::make_unique<OwnedSource>(std::move(bytes)), max_index_bytes);
}

Result<void> verify(std::unique_ptr<ByteSource> source) {
  FOREBAY_TRY(const auto reader, Reader::open(std::move(source), kIndexLimit));
  FOREBAY_CHECK(reader->verify_structure());
  for (uint32_t number = 0; number < reader->index().frames.size(); ++number) FOREBAY_CHECK(reader->read(number));
  return {};
}

FrameSizes sizes_of(const Sample& sample) {
  std::vector<uint64_t> sizes;
  for (const auto& frame : sample.frames) sizes.push_back(frame.raw_bytes);
  return [sizes](const Catalogue&, const PlanSpec&) -> Result<std::vector<uint64_t>> { return sizes; };
}

LossyOfRecipe lossy_of(const Sample& sample) {
  return [&sample](std::span<const std::byte> recipe) -> std::optional<LossyNote> {
    for (const auto& frame : sample.frames)
      if (as_text(recipe) == frame.recipe) return frame.lossy;
    return std::nullopt;
  };
}

void expect_equal(const Catalogue& a, const Catalogue& b) {
  ASSERT_EQ(a.files.size(), b.files.size());
  for (size_t i = 0; i < a.files.size(); ++i) {
    const FileRow &x = a.files[i], &y = b.files[i];
    EXPECT_EQ(std::tie(x.name, x.kind, x.mode, x.mtime_s, x.mtime_ns, x.size, x.link_target, x.format, x.rank,
                       x.first_variable, x.variable_count),
              std::tie(y.name, y.kind, y.mode, y.mtime_s, y.mtime_ns, y.size, y.link_target, y.format, y.rank,
                       y.first_variable, y.variable_count))
        << "file " << i;
  }
  ASSERT_EQ(a.variables.size(), b.variables.size());
  for (size_t i = 0; i < a.variables.size(); ++i) {
    const VariableRow &x = a.variables[i], &y = b.variables[i];
    ASSERT_EQ(std::tie(x.path, x.key, x.shape, x.block, x.first_extent, x.extent_count, x.type, x.filtered, x.partial),
              std::tie(y.path, y.key, y.shape, y.block, y.first_extent, y.extent_count, y.type, y.filtered, y.partial))
        << "variable " << i;
  }
  EXPECT_EQ(a.extents, b.extents);
  EXPECT_EQ(a.paths.values(), b.paths.values());
  EXPECT_EQ(a.keys.values(), b.keys.values());
  EXPECT_EQ(a.shapes.values(), b.shapes.values());
  EXPECT_EQ(a.globals, b.globals);
  EXPECT_EQ(a.are_meanings_known, b.are_meanings_known);
  EXPECT_EQ(a.with_meanings, b.with_meanings);
  EXPECT_EQ(a.meanings.values(), b.meanings.values());
}

void expect_equal(const PlanSpec& a, const PlanSpec& b) {
  EXPECT_EQ(a.scheme, b.scheme);
  EXPECT_EQ(a.block_bytes, b.block_bytes);
  EXPECT_EQ(a.frame_bytes, b.frame_bytes);
  EXPECT_EQ(a.share_bytes, b.share_bytes);
  EXPECT_EQ(a.key_block_bytes, b.key_block_bytes);
}

void expect_describes(const Index& index, const Sample& sample) {
  expect_equal(index.catalogue, sample.catalogue);
  expect_equal(index.plan, sample.plan);
  ASSERT_EQ(index.frames.size(), sample.frames.size());
  for (size_t i = 0; i < index.frames.size(); ++i) {
    const FrameEntry& entry = index.frames[i];
    const Sample::Frame& frame = sample.frames[i];
    EXPECT_EQ(entry.raw_bytes, frame.raw_bytes);
    EXPECT_EQ(entry.raw_hash, frame.raw_hash);
    EXPECT_EQ(entry.encoded_bytes, frame.payload.size());
    EXPECT_EQ(entry.encoded_hash, hash64(as_bytes(frame.payload)));
    EXPECT_EQ(entry.references, frame.references);
    EXPECT_EQ(entry.lossy, frame.lossy);
    EXPECT_EQ(index.chains[entry.chain], frame.chain);
  }
  EXPECT_EQ(index.file_crcs, sample.file_crcs);
  EXPECT_EQ(index.characteristics, sample.characteristics);
  EXPECT_EQ(index.part.moment, sample.moment);
}

}  // namespace forebay::container::testing
