// Ghost zones and other copies inside a frame are found, cost nothing, and come back.
#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "codec/chain.h"
#include "codec/codec_ids.h"
#include "codec/halo/halo_copies.h"
#include "codec/recipe.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

using testing::Random;

// A cube of cells, periodic, cut into equal blocks with ghost zones.
struct Domain {
  int dimensions = 3;
  uint64_t blocks_per_axis = 3, cells_per_axis = 16;  // of a block, without ghosts
  uint64_t ghosts = 2;

  uint64_t side() const { return blocks_per_axis * cells_per_axis; }
  uint64_t power(uint64_t base) const {
    uint64_t result = 1;
    for (int i = 0; i < dimensions; ++i) result *= base;
    return result;
  }
};

// A field that a predictor likes, with noise that makes no two cells equal.
std::vector<double> field(const Domain& domain) {
  Random random(17);
  std::vector<double> values(domain.power(domain.side()));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto x = static_cast<double>(i % domain.side()), y = static_cast<double>(i / domain.side());
    values[i] = 1000 * std::sin(x / 5) + y / 3 + 1e-6 * static_cast<double>(random.next() % 65536);
  }
  return values;
}

uint64_t pattern(const DataType& type, double value) {
  return testing::bits_of(type, type.kind == Kind::floating ? value : value * 1e6);
}

// The blocks of the domain, row after row of blocks.
testing::Frame cut(const Domain& domain, const DataType& type, uint64_t ghosts) {
  const std::vector<double> values = field(domain);
  const uint64_t side = domain.side(), n = domain.cells_per_axis + 2 * ghosts;
  testing::Frame frame{"cut", {type, {}}, {}};
  Block unit;
  for (int i = 0; i < domain.dimensions; ++i) unit.dims[3 - i] = n;
  for (uint64_t block = 0; block < domain.power(domain.blocks_per_axis); ++block) {
    frame.shape.blocks.push_back(unit);
    for (uint64_t cell = 0; cell < unit.count(); ++cell) {
      uint64_t at = 0, rest_block = block, rest_cell = cell, stride = 1;
      for (int i = 0; i < domain.dimensions; ++i, stride *= side) {
        const uint64_t first = rest_block % domain.blocks_per_axis * domain.cells_per_axis;
        at += (side + first + rest_cell % n - ghosts) % side * stride;
        rest_block /= domain.blocks_per_axis, rest_cell /= n;
      }
      testing::append(frame.raw, type, pattern(type, values[at]));
    }
  }
  return frame;
}

DataType type_of(const char* name) { return *DataType::parse(name); }
const Codec& halo() { return *find_codec(kHaloId); }

Bytes fitted(const testing::Frame& frame, uint8_t level = 0) { return halo().fit({frame.shape, level, {}}, frame.raw); }

uint64_t covered_cells(const testing::Frame& frame, const Bytes& parameters) {
  if (parameters.empty()) return 0;
  const CellNumbers cells(frame.shape);
  const auto copies = decode_copies(cells, parameters);
  EXPECT_TRUE(copies);
  std::vector<uint8_t> covered(cells.total());
  for (const Copy& copy : *copies)
    cells.for_each_row(copy, [&](size_t, size_t to, size_t count) {
      std::fill_n(covered.begin() + static_cast<ptrdiff_t>(to), count, uint8_t{1});
      return true;
    });
  return static_cast<uint64_t>(std::ranges::count(covered, 1));
}

size_t packed_size(const char* chain, const testing::Frame& frame) {
  const Encoded encoded = encode(*parse_chain(chain), frame.shape, frame.raw);
  Bytes back(frame.raw.size());
  EXPECT_TRUE(decode(encoded.recipe, frame.shape, encoded.payload, back));
  EXPECT_EQ(back, frame.raw);
  return encoded.payload.size() + encoded.recipe.size();
}

void expect_round_trip(const testing::Frame& frame, const Bytes& parameters) {
  const Context context{frame.shape, 0, parameters};
  Bytes encoded(frame.raw.size()), back(frame.raw.size());
  encoded.resize(halo().encode(context, frame.raw, encoded));
  ASSERT_EQ(encoded.size(), testing::byte_count(*halo().output_shape(context)));
  ASSERT_TRUE(halo().decode(context, encoded, back));
  EXPECT_EQ(back, frame.raw);
}

TEST(Halo, FindsAllGhostCellsOfAPeriodicDomain) {
  struct Case {
    Domain domain;
    const char* type;
  };
  const Case cases[] = {
      {{3, 3, 16, 1}, "f8"},  {{3, 3, 16, 2}, "f4"}, {{3, 3, 12, 4}, ">f8"}, {{3, 2, 10, 4}, "f8"},
      {{3, 1, 24, 3}, "f8"},  {{2, 4, 20, 1}, "i8"}, {{2, 5, 16, 2}, ">f4"}, {{2, 4, 30, 4}, "f8"},
      {{2, 1, 30, 4}, ">i8"}, {{2, 2, 70, 2}, "i4"}, {{1, 6, 40, 4}, "f8"},  {{1, 9, 50, 8}, ">f4"},
      {{1, 2, 60, 4}, "f8"},  {{1, 1, 90, 4}, "f8"},
  };
  for (const auto& [domain, type] : cases) {
    const testing::Frame frame = cut(domain, type_of(type), domain.ghosts);
    const Bytes parameters = fitted(frame);
    ASSERT_FALSE(parameters.empty()) << domain.dimensions << type << domain.blocks_per_axis;
    const uint64_t copies = frame.shape.element_total() - domain.power(domain.side());
    EXPECT_EQ(covered_cells(frame, parameters), copies)
        << domain.dimensions << " dimensions, " << domain.blocks_per_axis << " blocks, " << domain.ghosts << " ghosts";
    expect_round_trip(frame, parameters);
  }
}

// A frame cut from a line of random values in rows: block after block its first row, its rows and its length.
testing::Frame overlapping(const DataType& type, std::initializer_list<std::array<uint64_t, 3>> blocks) {
  constexpr uint64_t kRows = 60, kLength = 400;
  Random random(31);
  std::vector<uint64_t> values(kRows * kLength);
  for (uint64_t& value : values) value = random.next();
  testing::Frame frame{"overlapping", {type, {}}, {}};
  for (const auto& [first, rows, length] : blocks) {
    frame.shape.blocks.push_back(Block{{1, 1, rows, length}});
    for (uint64_t row = first; row < first + rows; ++row)
      for (uint64_t x = 0; x < length; ++x) testing::append(frame.raw, type, values[row * kLength + x]);
  }
  return frame;
}

TEST(Halo, FindsNeighboursOfOtherSizes) {
  const testing::Frame frame = overlapping(type_of("f8"), {{0, 20, 400}, {17, 30, 300}, {0, 5, 400}, {40, 20, 350}});
  const Bytes parameters = fitted(frame);
  EXPECT_EQ(covered_cells(frame, parameters), 3u * 300 + 5 * 400 + 7 * 300);
  expect_round_trip(frame, parameters);
}

TEST(Halo, FindsGhostsWithoutCorners) {
  const Domain domain{2, 4, 32, 2};
  testing::Frame frame = cut(domain, type_of("f8"), domain.ghosts);
  const uint64_t n = domain.cells_per_axis + 2 * domain.ghosts;
  Random random(37);
  uint64_t ghosts_with_origin = 0;
  for (uint64_t block = 0; block < frame.shape.blocks.size(); ++block)
    for (uint64_t y = 0; y < n; ++y)
      for (uint64_t x = 0; x < n; ++x) {
        const auto is_ghost = [&](uint64_t at) { return at < domain.ghosts || at >= n - domain.ghosts; };
        if (is_ghost(y) && is_ghost(x))
          frame.raw[((block * n + y) * n + x) * 8] = static_cast<std::byte>(random.next());
        ghosts_with_origin += is_ghost(y) != is_ghost(x);
      }
  const Bytes parameters = fitted(frame);
  // At a corner of a block, cells may lie in the ghost zones of two neighbours, which are no neighbours of each other.
  const uint64_t at_corners = frame.shape.blocks.size() * domain.ghosts * domain.ghosts;
  EXPECT_GE(covered_cells(frame, parameters) + at_corners, ghosts_with_origin);
  expect_round_trip(frame, parameters);
}

// Lines, each of them one of some patterns, too many for all copies to be listed.
testing::Frame many_copies() {
  testing::Frame frame{"many", {type_of("f8"), {}}, {}};
  Random random(41);
  std::vector<Bytes> patterns;
  for (int i = 0; i < 5000; ++i) patterns.push_back(testing::random_bytes(8 * 8, random.next()));
  for (int i = 0; i < 30000; ++i) {
    const Bytes& pattern = patterns[random.next() % patterns.size()];
    frame.shape.blocks.push_back(Block{{1, 1, 1, 8}});
    frame.raw.insert(frame.raw.end(), pattern.begin(), pattern.end());
  }
  return frame;
}

TEST(Halo, KeepsWhatSavesMostOfTooManyCopies) {
  const testing::Frame frame = many_copies();
  const Bytes parameters = fitted(frame, 1);
  ASSERT_FALSE(parameters.empty());
  EXPECT_LE(parameters.size(), kMaxParameterBytes);
  expect_round_trip(frame, parameters);
}

TEST(Halo, LeavesRoomInTheRecipe) {
  const testing::Frame frame = many_copies();
  const Encoded encoded = encode(*parse_chain("halo:1,halo:1,halo:1,zstd:1"), frame.shape, frame.raw);
  EXPECT_GT(encoded.recipe.size(), kMaxRecipeBytes / 2);
  EXPECT_LE(encoded.recipe.size(), kMaxRecipeBytes);
  Bytes back(frame.raw.size());
  ASSERT_TRUE(decode(encoded.recipe, frame.shape, encoded.payload, back));
  EXPECT_EQ(back, frame.raw);
}

TEST(Halo, GhostZonesCostNextToNothing) {
  for (const Domain& domain : {Domain{3, 2, 24, 2}, Domain{3, 2, 16, 4}, Domain{2, 3, 90, 3}}) {
    const size_t stripped = packed_size("lorenzo,shuffle,zstd:1", cut(domain, type_of("f8"), 0));
    const size_t with_ghosts = packed_size("halo,lorenzo,shuffle,zstd:1", cut(domain, type_of("f8"), domain.ghosts));
    EXPECT_LT(static_cast<double>(with_ghosts), 1.02 * static_cast<double>(stripped));
  }
}

TEST(Halo, LeavesFramesWithoutCopiesAlone) {
  const FrameShape shape{type_of("f8"), std::vector<Block>(8, Block{{1, 20, 20, 20}})};
  for (const uint8_t level : std::initializer_list<uint8_t>{0, 1}) {
    EXPECT_TRUE(fitted({"random", shape, testing::random_bytes(testing::byte_count(shape), 5)}, level).empty());
    EXPECT_TRUE(fitted({"constant", shape, Bytes(testing::byte_count(shape), std::byte{7})}, level).empty());
  }
}

TEST(Halo, FindsWholeBlocksThatAreEqual) {
  testing::Frame frame{"equal", {type_of("f4"), {}}, {}};
  for (int i = 0; i < 5; ++i) {
    const FrameShape one{frame.shape.type, {Block{{1, 9, 10, 11}}}};
    const Bytes cells = testing::random_bytes(testing::byte_count(one), i == 2 ? 1 : 2);
    frame.shape.blocks.push_back(one.blocks.front());
    frame.raw.insert(frame.raw.end(), cells.begin(), cells.end());
  }
  const Bytes parameters = fitted(frame);
  EXPECT_EQ(covered_cells(frame, parameters), 3u * 9 * 10 * 11);
  expect_round_trip(frame, parameters);
}

// Boxes copied at random between and within random blocks, over and over: whatever is found must be true.
TEST(Halo, GivesBackAnyCopies) {
  Random random(29);
  const auto below = [&](uint64_t bound) { return static_cast<uint32_t>(random.next() % bound); };
  for (int round = 0; round < 200; ++round) {
    const char* const kTypes[] = {"f8", ">f4", "u2", "i4"};
    testing::Frame frame{"random copies", {type_of(kTypes[round % 4]), {}}, {}};
    for (uint32_t blocks = 1 + below(6); blocks > 0; --blocks)
      frame.shape.blocks.push_back(Block{{1 + below(3), 1 + below(9), 1 + below(12), 1 + below(20)}});
    frame.raw = testing::random_bytes(testing::byte_count(frame.shape), random.next());
    const size_t width = frame.shape.type.size;
    const CellNumbers cells(frame.shape);
    for (uint32_t copies = below(12); copies > 0; --copies) {
      Copy copy{.from_block = below(frame.shape.blocks.size()), .to_block = below(frame.shape.blocks.size())};
      for (size_t axis = 0; axis < 4; ++axis) {
        const auto from_dim = static_cast<uint32_t>(frame.shape.blocks[copy.from_block].dims[axis]);
        const auto to_dim = static_cast<uint32_t>(frame.shape.blocks[copy.to_block].dims[axis]);
        copy.extent[axis] = 1 + below(std::min(from_dim, to_dim));
        copy.from[axis] = below(2) * (from_dim - copy.extent[axis]);
        copy.to[axis] = below(2) * (to_dim - copy.extent[axis]);
      }
      cells.for_each_row(copy, [&](size_t from, size_t to, size_t count) {
        std::memmove(&frame.raw[to * width], &frame.raw[from * width], count * width);
        return true;
      });
    }
    if (const Bytes parameters = fitted(frame); !parameters.empty()) expect_round_trip(frame, parameters);
  }
}

TEST(Halo, RefusesParametersThatAreNotTrue) {
  const Domain domain{2, 2, 16, 2};
  testing::Frame frame = cut(domain, type_of("f8"), domain.ghosts);
  const Bytes parameters = fitted(frame);
  Bytes out(frame.raw.size());
  frame.raw.back() ^= std::byte{1};
  EXPECT_EQ(halo().encode({frame.shape, 0, parameters}, frame.raw, out), 0u);

  // A source that a later copy restores.
  const FrameShape line{type_of("f8"), {Block{{1, 1, 1, 30}}}};
  const Copy first{.from = {0, 0, 0, 10}, .to = {0, 0, 0, 20}, .extent = {1, 1, 1, 10}};
  const Copy second{.from = {0, 0, 0, 0}, .to = {0, 0, 0, 10}, .extent = {1, 1, 1, 10}};
  const CellNumbers cells(line);
  const Bytes constant(240, std::byte{1});
  const auto encoded = [&](std::initializer_list<Copy> copies) {
    return halo().encode({line, 0, encode_copies(cells, copies)}, constant, std::span(out).first(240));
  };
  EXPECT_EQ(encoded({first, second}), 0u);
  EXPECT_EQ(encoded({second, first}), 80u);
  const auto decoded = [&](std::initializer_list<Copy> copies) {
    return halo().decode({line, 0, encode_copies(cells, copies)}, std::span(constant).first(80),
                         std::span(out).first(240));
  };
  EXPECT_FALSE(decoded({first, second}));
  EXPECT_TRUE(decoded({second, first}));
}

TEST(HaloCopies, ReadsWhatItWritesAndNothingElse) {
  const FrameShape shape{type_of("f8"), {Block{{1, 8, 8, 8}}, Block{{1, 8, 8, 9}}}};
  const CellNumbers cells(shape);
  const Copy good{.from_block = 0, .to_block = 1, .from = {0, 4, 0, 1}, .to = {0, 0, 0, 2}, .extent = {1, 4, 8, 7}};
  EXPECT_EQ(*decode_copies(cells, encode_copies(cells, {{good}})), std::vector{good});
  const auto is_bad = [&](const std::function<void(Copy&)>& change) {
    Copy bad = good;
    change(bad);
    const auto result = decode_copies(cells, encode_copies(cells, {{bad}}));
    return !result && result.error().kind == ErrorKind::corrupt;
  };
  EXPECT_TRUE(is_bad([](Copy& copy) { copy.from[1] = 5; }));
  EXPECT_TRUE(is_bad([](Copy& copy) { copy.to[3] = 3; }));
  EXPECT_TRUE(is_bad([](Copy& copy) { copy.extent[2] = 0; }));
  EXPECT_TRUE(is_bad([](Copy& copy) { copy.from_block = 1, copy.to_block = 0; }));
  EXPECT_TRUE(is_bad([](Copy& copy) { copy.from_block = 1, copy.from = {0, 2, 0, 1}; }));
  EXPECT_FALSE(decode_copies(cells, encode_copies(cells, std::vector(20, good))));
  EXPECT_FALSE(decode_copies(cells, Bytes{}));
  EXPECT_FALSE(decode_copies(cells, Bytes{std::byte{2}, std::byte{2}, std::byte{0}}));  // to a third block
}

TEST(Halo, LeavesTheDomainWithoutGhosts) {
  const Domain domain{3, 3, 16, 2};
  const testing::Frame frame = cut(domain, type_of(">f8"), domain.ghosts);
  const auto after = halo().output_shape({frame.shape, 0, fitted(frame)});
  ASSERT_TRUE(after);
  EXPECT_EQ(after->type, frame.shape.type);
  EXPECT_EQ(after->element_total(), domain.power(domain.side()));
}

}  // namespace
}  // namespace forebay::codec
