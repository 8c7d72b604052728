#include "engine/inspect/extract.h"

#include <cmath>
#include <random>

#include "engine/set/stream_frames.h"
#include "engine/set/test_boxes.h"
#include "engine/test_sets.h"

namespace forebay::engine {
namespace {

Catalogue random_catalogue(std::mt19937& random) {
  Catalogue catalogue;
  for (int file = 0; file < 5; ++file) {
    Layout layout{.format = "test", .variables = {}};
    std::vector<std::string> keys;
    uint64_t at = random() % 50;
    for (int i = 0; i < 6; ++i) {
      const uint64_t elements = 1 + random() % 3000;
      layout.variables.push_back({.path = "/v" + std::to_string(i),
                                  .type = {Kind::floating, ByteOrder::little, 4},
                                  .shape = {elements},
                                  .extents = {{at, elements * 4}}});
      keys.push_back("/v" + std::to_string(i % 4));
      at += elements * 4 + random() % 100;
    }
    catalogue.add({.name = "f" + std::to_string(file), .size = at + random() % 100}, layout, keys);
  }
  return catalogue;
}

TEST(StreamFrames, FindsTheFramesThatHoldARange) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const Catalogue catalogue = random_catalogue(random);
    for (const Scheme scheme : {Scheme::agnostic, Scheme::agnostic_block, Scheme::aware, Scheme::aware_block}) {
      const PlanSpec spec{.scheme = scheme, .block_bytes = 512, .frame_bytes = 4096, .share_bytes = 2048};
      const auto plan = merge::Plan::make(catalogue, spec);
      ASSERT_TRUE(plan.has_value());
      const StreamFrames locator(*plan);
      for (const merge::FrameGroup& group : plan->groups()) {
        for (const merge::Stream& stream : group.streams) {
          const uint64_t begin = random() % stream.bytes, length = 1 + random() % (stream.bytes - begin);
          std::vector<uint32_t> expected;
          for (uint32_t number = 0; number < plan->frames().size(); ++number)
            for (const merge::Slice& slice : plan->slices(plan->frames()[number]))
              if (slice.stream == stream && slice.begin < begin + length && begin < slice.begin + slice.length &&
                  (expected.empty() || expected.back() != number))
                expected.push_back(number);
          EXPECT_EQ(locator.holding({stream, begin, length, 0}), expected);
        }
      }
    }
  }
}

class ExtractTest : public SetTest {};

TEST_F(ExtractTest, GivesBackArraysUnderEveryScheme) {
  write_ranks(4, 100, 70);
  for (const char* scheme : kSchemes) {
    PackOptions pack_options = options(scheme);
    pack_options.name = scheme;
    pack_options.scheme.frame_bytes = 64 << 10;
    pack_options.scheme.block_bytes = 4 << 10;
    pack_ok(pack_options);
    const OpenSet set = open(scheme);
    const auto found = find_variables(set, "/data", std::nullopt);
    ASSERT_EQ(found.size(), 4u) << scheme;
    SetReader reader(set, 16 << 20);
    uint64_t frames_read = 0;
    for (int rank = 0; rank < 4; ++rank) {
      const auto extracted = extract(set, found[static_cast<size_t>(rank)], 16 << 20);
      ASSERT_TRUE(extracted.has_value()) << extracted.error().message();
      EXPECT_EQ(extracted->shape, (Shape{100, 70}));
      EXPECT_EQ(extracted->type.name(), "f8");
      EXPECT_EQ(as_text(extracted->bytes), to_text(field(rank, 7000))) << scheme << " rank " << rank;
      const auto again = extract(reader, found[static_cast<size_t>(rank)], 16 << 20);
      ASSERT_TRUE(again.has_value());
      EXPECT_EQ(again->bytes, extracted->bytes);
      frames_read += again->frames;
    }
    EXPECT_LE(frames_read, set.containers[0].index().frames.size()) << "shared frames are read once";
  }
}

TEST_F(ExtractTest, ReadsOnlyTheFramesOfTheVariable) {
  write_ranks(8, 100, 70);
  PackOptions pack_options = options("aware");
  pack_options.scheme.frame_bytes = 56000;  // one array each
  pack_ok(pack_options);
  const OpenSet set = open();
  const auto found = find_variables(set, "/data", 5);
  ASSERT_EQ(found.size(), 1u);
  const auto extracted = extract(set, found[0], 16 << 20);
  ASSERT_TRUE(extracted.has_value());
  EXPECT_EQ(extracted->frames, 1u);
  EXPECT_EQ(as_text(extracted->bytes), to_text(field(5, 7000)));
}

// What `box` is of an array of these values.
std::vector<double> cut(const std::vector<double>& values, const Shape& shape, const Box& box) {
  std::vector<double> result;
  for (const uint64_t place : places_of({.shape = shape, .block = shape, .element_bytes = 1}, box))
    result.push_back(values[place]);
  return result;
}

TEST_F(ExtractTest, GivesAnyBoxUnderEveryScheme) {
  write_ranks(4, 100, 70);
  std::mt19937 random(5);
  for (const char* scheme : kSchemes) {
    PackOptions pack_options = options(scheme, "none");
    pack_options.name = scheme;
    pack_options.scheme.frame_bytes = 8 << 10;
    pack_options.scheme.block_bytes = 1 << 10;
    pack_ok(pack_options);
    const OpenSet set = open(scheme);
    const auto found = find_variables(set, "/data", std::nullopt);
    ASSERT_EQ(found.size(), 4u) << scheme;
    SetReader reader(set, 16 << 20);
    for (int round = 0; round < 20; ++round) {
      const int rank = round % 4;
      const Box box = random_box(random, {100, 70});
      const uint64_t memory = round % 2 == 0 ? 16 << 20 : 100 << 10;
      Bytes bytes;
      const auto read = extract(reader, found[static_cast<size_t>(rank)], box, memory, [&](auto piece) -> Result<void> {
        EXPECT_LE(piece.size(), memory);
        bytes.insert(bytes.end(), piece.begin(), piece.end());
        return {};
      });
      ASSERT_TRUE(read.has_value()) << read.error().message();
      EXPECT_EQ(as_text(bytes), to_text(cut(field(rank, 7000), {100, 70}, box))) << scheme << " rank " << rank;
    }
  }
}

TEST_F(ExtractTest, ReadsOnlyTheFramesOfTheBox) {
  write_ranks(4, 100, 128);
  PackOptions pack_options = options("aware");
  pack_options.scheme.frame_bytes = 10 << 10;  // ten rows of 1024 bytes each
  pack_ok(pack_options);
  const OpenSet set = open();
  const Found found = find_variables(set, "/data", 2).at(0);
  const auto frames_of = [&](const Box& box) {
    SetReader reader(set, 16 << 20);
    const auto read = extract(reader, found, box, 16 << 20, [](auto) -> Result<void> { return {}; });
    return read.value_or(UINT64_MAX);
  };
  EXPECT_EQ(frames_of({{0, 0}, {100, 128}}), 10u);
  EXPECT_EQ(frames_of({{20, 5}, {10, 1}}), 1u);
  EXPECT_EQ(frames_of({{19, 0}, {2, 128}}), 2u);
  EXPECT_EQ(frames_of({{99, 127}, {1, 1}}), 1u);
}

TEST_F(ExtractTest, GivesWhatIsLargerThanTheMemoryInSlabs) {
  write_ranks(1, 500, 500);
  PackOptions pack_options = options("aware", "none");
  pack_options.scheme.frame_bytes = 32 << 10;
  pack_ok(pack_options);
  const OpenSet set = open();
  const Found found = find_variables(set, "/data", 0).at(0);
  constexpr uint64_t kMemory = 400 << 10;
  SetReader reader(set, kMemory);
  Bytes bytes;
  int pieces = 0;
  const auto read = extract(reader, found, whole_box({500, 500}), kMemory, [&](auto piece) -> Result<void> {
    ++pieces;
    EXPECT_LE(piece.size(), kMemory);
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return {};
  });
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_GT(pieces, 5);
  EXPECT_EQ(as_text(bytes), to_text(field(0, 250'000)));
  EXPECT_LE(*read, set.containers[0].index().frames.size()) << "frames that two slabs share are read once";
  const auto whole = extract(reader, found, kMemory);
  ASSERT_FALSE(whole.has_value());
  EXPECT_EQ(whole.error().kind, ErrorKind::limit);
}

TEST_F(ExtractTest, KeepsOnlyFramesThatHoldMore) {
  write_ranks(2, 100, 128);
  PackOptions pack_options = options("aware");
  pack_options.scheme.frame_bytes = 10 << 10;  // ten rows of 1024 bytes each
  pack_ok(pack_options);
  const OpenSet set = open();
  SetReader reader(set, 16 << 20);
  ASSERT_TRUE(extract(reader, find_variables(set, "/data", 0).at(0), 16 << 20).has_value());
  EXPECT_EQ(reader.kept_bytes(), 0u) << "or the variable is held twice";
  const auto nothing = [](auto) -> Result<void> { return {}; };
  ASSERT_TRUE(extract(reader, find_variables(set, "/data", 1).at(0), {{0, 0}, {100, 1}}, 16 << 20, nothing));
  EXPECT_GT(reader.kept_bytes(), 0u);
}

TEST_F(ExtractTest, DecodesOnlyTheEntriesOfTheBox) {
  constexpr uint64_t kPlanes = 72, kPlane = 9000;
  std::vector<double> values(kPlanes * kPlane);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i) / 1e4);
  write(tree() + "/field.npy", npy_file(values, {kPlanes, 100, 90}));
  pack_ok(options("aware", "balanced"));
  const OpenSet set = open();
  SetReader reader(set, 64 << 20);
  Bytes bytes;
  const auto read = extract(reader, find_variables(set, "*", std::nullopt).at(0), {{7, 0, 0}, {1, 100, 90}}, 64 << 20,
                            [&](auto piece) -> Result<void> {
                              bytes.insert(bytes.end(), piece.begin(), piece.end());
                              return {};
                            });
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(as_text(bytes), to_text(std::vector(values.begin() + 7 * kPlane, values.begin() + 8 * kPlane)));
  EXPECT_GT(reader.kept_bytes(), kPlane * sizeof(double));
  EXPECT_LT(reader.kept_bytes(), values.size() * sizeof(double) / 2);
}

TEST_F(ExtractTest, StopsWhenNobodyTakesTheArray) {
  write_ranks(1, 10, 10);
  pack_ok(options());
  const OpenSet set = open();
  SetReader reader(set, 1 << 20);
  const auto read = extract(reader, find_variables(set, "/data", 0).at(0), whole_box({10, 10}), 1 << 20,
                            [](auto) -> Result<void> { return fail(ErrorKind::no_space, "full"); });
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().kind, ErrorKind::no_space);
}

TEST_F(ExtractTest, FindsByPathPatternAndRank) {
  write_ranks(3, 4, 4);
  pack_ok(options());
  const OpenSet set = open();
  EXPECT_EQ(find_variables(set, "/data", std::nullopt).size(), 3u);
  EXPECT_EQ(find_variables(set, "/d*", 1).size(), 1u);
  EXPECT_EQ(find_variables(set, "/data_f8_Array2D", std::nullopt).size(), 3u) << "a key";
  EXPECT_TRUE(find_variables(set, "/none", std::nullopt).empty());
  EXPECT_TRUE(find_variables(set, "/data", 3).empty());
}

TEST_F(ExtractTest, RefusesWhatDoesNotFitInMemory) {
  write_ranks(1, 100, 100);
  pack_ok(options());
  const OpenSet set = open();
  const auto extracted = extract(set, find_variables(set, "/data", 0)[0], 79999);
  ASSERT_FALSE(extracted.has_value());
  EXPECT_EQ(extracted.error().kind, ErrorKind::limit);
}

TEST_F(ExtractTest, NamesTheDamagedFrame) {
  write_ranks(2, 64, 64);
  pack_ok(options("aware", "none"));
  const uint64_t offset = open().containers[0].index().frames[0].record_offset;
  flip_bit(container_path("set", 0), offset + 2000, 3);
  const OpenSet set = open();
  const auto extracted = extract(set, find_variables(set, "/data", 0)[0], 16 << 20);
  ASSERT_FALSE(extracted.has_value());
  EXPECT_EQ(extracted.error().kind, ErrorKind::corrupt);
  EXPECT_NE(extracted.error().what.find("frame 0"), std::string::npos) << extracted.error().message();
}

void put_word(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

// A netCDF classic file with two record variables, whose records alternate: a(time, x: 3) and b(time), both float32.
std::string record_file(uint32_t records) {
  std::string file("CDF\x01", 4);
  const auto put_name = [&](const std::string& name) {
    put_word(file, static_cast<uint32_t>(name.size()));
    file += name;
    file.append(-name.size() % 4, '\0');
  };
  put_word(file, records);
  put_word(file, 10);  // dimensions
  put_word(file, 2);
  put_name("time");
  put_word(file, 0);
  put_name("x");
  put_word(file, 3);
  put_word(file, 0);  // no attributes
  put_word(file, 0);
  put_word(file, 11);  // variables
  put_word(file, 2);
  constexpr uint32_t kFloat = 5;
  const auto put_variable = [&](const std::string& name, std::vector<uint32_t> dimensions, uint32_t size,
                                uint32_t begin) {
    put_name(name);
    put_word(file, static_cast<uint32_t>(dimensions.size()));
    for (const uint32_t dimension : dimensions) put_word(file, dimension);
    put_word(file, 0);
    put_word(file, 0);
    put_word(file, kFloat);
    put_word(file, size);
    put_word(file, begin);
  };
  const auto header = static_cast<uint32_t>(file.size()) + 40 + 36;
  put_variable("a", {0, 1}, 12, header);
  put_variable("b", {0}, 4, header + 12);
  EXPECT_EQ(file.size(), header);
  for (uint32_t record = 0; record < records; ++record)
    for (uint32_t i = 0; i < 4; ++i) put_word(file, i < 3 ? 3 * record + i : 1000000 + record);
  return file;
}

TEST_F(ExtractTest, PutsRecordsTogether) {
  write(tree() + "/history.nc", record_file(50));
  pack_ok(options());
  const OpenSet set = open();
  const auto a = extract(set, find_variables(set, "/a", std::nullopt).at(0), 16 << 20);
  const auto b = extract(set, find_variables(set, "/b", std::nullopt).at(0), 16 << 20);
  ASSERT_TRUE(a.has_value() && b.has_value());
  EXPECT_EQ(a->shape, (Shape{50, 3}));
  EXPECT_EQ(a->type.name(), ">f4");
  ASSERT_EQ(a->bytes.size(), 600u);
  ASSERT_EQ(b->bytes.size(), 200u);
  for (uint32_t i = 0; i < 150; ++i) EXPECT_EQ(load_be<uint32_t>(a->bytes.data() + 4 * i), i);
  for (uint32_t i = 0; i < 50; ++i) EXPECT_EQ(load_be<uint32_t>(b->bytes.data() + 4 * i), 1000000 + i);
}

}  // namespace
}  // namespace forebay::engine
