#include "engine/inspect/extract.h"

#include <random>

#include "engine/inspect/unblock.h"
#include "engine/set/stream_frames.h"
#include "engine/test_sets.h"

namespace forebay::engine {
namespace {

TEST(NpyHeader, IsWhatNumPyWrites) {
  const std::string header = npy_header({Kind::floating, ByteOrder::big, 4}, {3, 5});
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(static_cast<size_t>(static_cast<unsigned char>(header[8])) + 10, header.size());
  EXPECT_TRUE(header.substr(10).starts_with("{'descr': '>f4', 'fortran_order': False, 'shape': (3, 5), }"));
  EXPECT_EQ(header.back(), '\n');
  EXPECT_NE(
      npy_header({Kind::signed_int, ByteOrder::little, 1}, {7}).find("'|i1', 'fortran_order': False, 'shape': (7,)"),
      std::string::npos);
  EXPECT_NE(npy_header({Kind::opaque, ByteOrder::little, 24}, {}).find("'|V24', 'fortran_order': False, 'shape': ()"),
            std::string::npos);
}

TEST(Unblock, CountsBlocks) {
  EXPECT_EQ(block_count({}, {}), 1u);
  EXPECT_EQ(block_count({10, 10}, {4, 5}), 6u);
  EXPECT_EQ(block_count({10, 0}, {4, 5}), 0u);
  EXPECT_EQ(block_count({UINT64_MAX, UINT64_MAX}, {1, 1}), UINT64_MAX);
}

// Blocks of random arrays, cut into pieces of random length, against a loop over coordinates.
TEST(Unblock, PutsEveryElementInItsPlace) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Shape shape(1 + random() % 4), block(shape.size());
    for (uint64_t& dim : shape) dim = 1 + random() % 6;
    for (size_t i = 0; i < shape.size(); ++i) block[i] = 1 + random() % (shape[i] + 2);
    const uint64_t blocks = block_count(shape, block), in_block = element_count(block);
    std::vector<uint16_t> stored(blocks * in_block, 0), expected(element_count(shape)), actual(expected.size(), 0);
    for (uint64_t index = 0; index < expected.size(); ++index) {
      expected[index] = static_cast<uint16_t>(1 + index);
      uint64_t rest = index, number = 0, within = 0, block_stride = 1, within_stride = 1;
      for (size_t i = shape.size(); i-- > 0;) {
        const uint64_t at = rest % shape[i];
        rest /= shape[i];
        number += at / block[i] * block_stride;
        within += at % block[i] * within_stride;
        block_stride *= (shape[i] + block[i] - 1) / block[i];
        within_stride *= block[i];
      }
      stored[number * in_block + within] = expected[index];
    }
    for (size_t begin = 0; begin < stored.size();) {
      const size_t count = std::min<size_t>(1 + random() % 20, stored.size() - begin);
      unblock(shape, block, 2, begin * 2, std::as_bytes(std::span(stored).subspan(begin, count)),
              std::as_writable_bytes(std::span(actual)));
      begin += count;
    }
    EXPECT_EQ(actual, expected);
  }
}

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
    for (int rank = 0; rank < 4; ++rank) {
      const auto extracted = extract(set, found[static_cast<size_t>(rank)], 16 << 20);
      ASSERT_TRUE(extracted.has_value()) << extracted.error().message();
      EXPECT_EQ(extracted->shape, (Shape{100, 70}));
      EXPECT_EQ(extracted->type.name(), "f8");
      EXPECT_EQ(as_text(extracted->bytes), to_text(field(rank, 7000))) << scheme << " rank " << rank;
      const auto again = extract(reader, found[static_cast<size_t>(rank)], 16 << 20);
      ASSERT_TRUE(again.has_value());
      EXPECT_EQ(again->bytes, extracted->bytes);
    }
    EXPECT_LE(reader.frames_read(), set.containers[0].index().frames.size()) << "shared frames are read once";
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
