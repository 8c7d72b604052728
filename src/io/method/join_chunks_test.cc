// Ranks that join their blocks, with threads as ranks.
#include "io/method/join_chunks.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "container/characteristics.h"
#include "io/method/block_notes.h"
#include "io/method/box_filler.h"

namespace forebay::io {
namespace {

// What an element of a global array is: different everywhere.
double value_at(uint64_t variable, uint64_t place) { return static_cast<double>(variable * 1000003 + place) / 8; }

// The places of the elements of a box in its global array, counted in C order.
std::vector<uint64_t> places_in(const Shape& global, const Shape& offsets, const Shape& shape) {
  std::vector<uint64_t> places;
  for (uint64_t i = 0; i < element_count(shape); ++i) {
    uint64_t place = 0, stride = 1, rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d], stride *= global[d])
      place += (offsets[d] + rest % shape[d]) * stride;
    places.push_back(place);
  }
  return places;
}

// What a rank wrote, with the memory of its values.
struct Written {
  std::vector<ProcessGroup> steps;
  std::vector<std::unique_ptr<std::vector<double>>> values;

  Block& add(uint64_t step, uint64_t variable, Shape global, Shape offsets, Shape shape) {
    if (steps.size() <= step) steps.resize(step + 1);
    auto& numbers = *values.emplace_back(std::make_unique<std::vector<double>>());
    for (const uint64_t place : places_in(global, offsets, shape)) numbers.push_back(value_at(variable, place));
    Block block;
    block.name = "v" + std::to_string(variable);
    block.type = ValueType::float64;
    block.is_array = true;
    block.shape = std::move(shape);
    block.global_shape = std::move(global);
    block.offsets = std::move(offsets);
    block.bytes = std::as_bytes(std::span(numbers));
    block.characteristics = container::characterise(data_type(block.type), block.bytes);
    block.breaks = {value_at(variable, 100)};
    block.histogram = {0, 0};
    for (const double number : numbers) ++block.histogram[number < block.breaks[0] ? 0 : 1];
    return steps[step].blocks.emplace_back(std::move(block));
  }
};

// That a block of add(), or one that such blocks became, is what it says.
void check_block(const Block& block) {
  const uint64_t variable = std::stoull(block.name.substr(1));
  std::vector<double> expected;
  for (const uint64_t place : places_in(block.global_shape, block.offsets, block.shape))
    expected.push_back(value_at(variable, place));
  ASSERT_EQ(block.bytes.size(), expected.size() * sizeof(double));
  EXPECT_EQ(std::memcmp(block.bytes.data(), expected.data(), block.bytes.size()), 0);
  const auto of_all = container::characterise(data_type(block.type), std::as_bytes(std::span(expected)));
  EXPECT_EQ(block.characteristics.count, of_all.count);
  EXPECT_EQ(block.characteristics.min, of_all.min);
  EXPECT_EQ(block.characteristics.max, of_all.max);
  EXPECT_EQ(block.characteristics.sum, of_all.sum);  // sums of eighths are exact
  const auto below = std::ranges::count_if(expected, [&](double number) { return number < block.breaks[0]; });
  EXPECT_EQ(block.histogram[0], static_cast<uint64_t>(below));
  EXPECT_EQ(block.histogram[0] + block.histogram[1], expected.size());
}

// A rank whose messages are looked at.
class Watched final : public Communicator {
 public:
  Watched(std::unique_ptr<Communicator> ranks, std::atomic<uint64_t>& longest)
      : ranks_(std::move(ranks)), longest_(longest) {}
  uint32_t rank() const override { return ranks_->rank(); }
  uint32_t size() const override { return ranks_->size(); }
  Result<void> send(std::span<const std::byte> message, uint32_t to) override {
    uint64_t longest = longest_;
    while (longest < message.size() && !longest_.compare_exchange_weak(longest, message.size())) {
    }
    return ranks_->send(message, to);
  }
  Result<Bytes> receive(uint32_t from) override { return ranks_->receive(from); }
  Result<std::unique_ptr<Communicator>> split(uint32_t colour, uint32_t key) override {
    return ranks_->split(colour, key);
  }

 private:
  std::unique_ptr<Communicator> ranks_;
  std::atomic<uint64_t>& longest_;
};

class JoinChunks : public testing::Test {
 protected:
  using Settings = std::function<JoinSettings(uint32_t rank)>;

  // Joins what the ranks wrote; what their steps are then, each with its memory.
  void join(std::vector<Written>& written, const Settings& settings) {
    auto ranks = thread_ranks(static_cast<uint32_t>(written.size()));
    bytes_.resize(written.size());
    std::vector<std::jthread> threads;
    for (uint32_t rank = 0; rank < written.size(); ++rank)
      threads.emplace_back([&, rank, own = std::make_unique<Watched>(std::move(ranks[rank]), longest_)] {
        auto joined = join_chunks(*own, written[rank].steps, settings(rank));
        ASSERT_TRUE(joined) << joined.error().error.message();
        bytes_[rank] = std::move(*joined);
      });
  }

  static JoinSettings everything(uint32_t) { return {.chunk_bytes = UINT64_MAX, .spare_bytes = UINT64_MAX}; }

  static std::vector<Written> quarters() {
    std::vector<Written> written(4);
    for (uint32_t rank = 0; rank < 4; ++rank) written[rank].add(0, 0, {4, 6}, {rank / 2 * 2, rank % 2 * 3}, {2, 3});
    return written;
  }

  std::atomic<uint64_t> longest_ = 0;
  std::vector<JoinedBytes> bytes_;
};

size_t blocks_of(const std::vector<Written>& written) {
  size_t blocks = 0;
  for (const Written& rank : written)
    for (const ProcessGroup& step : rank.steps) blocks += step.blocks.size();
  return blocks;
}

TEST_F(JoinChunks, FourQuartersAreOneBlockOfTheFirstRank) {
  auto written = quarters();
  join(written, everything);
  ASSERT_EQ(blocks_of(written), 1u);
  const Block& block = written[0].steps[0].blocks.at(0);
  EXPECT_EQ(block.shape, (Shape{4, 6}));
  EXPECT_EQ(block.offsets, (Shape{0, 0}));
  EXPECT_TRUE(block.hashes.empty());
  check_block(block);
}

TEST_F(JoinChunks, WhatCannotJoinStaysAndTheOrderDoes) {
  std::vector<Written> written(2);
  for (uint32_t rank = 0; rank < 2; ++rank) {
    Written& own = written[rank];
    own.add(0, 0, {2}, {rank}, {1}).transform = "zlib:5";
    own.add(0, 1, {2}, {rank}, {1}).transform = "none";
    own.add(0, 2, {4}, {0}, {1});  // both write the same
    Block& local = own.add(0, 3, {2}, {rank}, {1});
    local.global_shape = local.offsets = {};
    Block& scalar = own.add(0, 4, {1}, {0}, {1});
    scalar.is_array = false;
    scalar.shape = scalar.global_shape = scalar.offsets = {};
    own.add(0, 5, {3}, {2 * rank}, {1});  // with a hole
    Block& text = own.add(0, 6, {16}, {8 * rank}, {8});
    text.type = ValueType::string;
    text.bytes = text.bytes.first(8);
    own.add(0, 7, {8000}, {4000 * rank}, {4000});
    Block& wrong = own.add(0, 8, {2}, {rank}, {1});
    wrong.bytes = wrong.bytes.first(4);
    own.add(0, 9, {2}, {rank}, {1}).type = rank == 0 ? ValueType::float64 : ValueType::int64;
  }
  written[1].add(0, 10, {2}, {0}, {1});
  written[1].add(0, 10, {2}, {1}, {1});
  join(written, [](uint32_t) { return JoinSettings{.chunk_bytes = 32000, .spare_bytes = UINT64_MAX}; });
  std::vector<std::vector<std::string>> names(2);
  for (uint32_t rank = 0; rank < 2; ++rank)
    for (const Block& block : written[rank].steps[0].blocks) names[rank].push_back(block.name);
  EXPECT_EQ(names[0], (std::vector<std::string>{"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10"}));
  EXPECT_EQ(names[1], (std::vector<std::string>{"v0", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"}));
  check_block(written[0].steps[0].blocks[1]);
  check_block(written[0].steps[0].blocks[10]);
}

TEST_F(JoinChunks, StepsDoNotMix) {
  std::vector<Written> written(2);
  written[0].add(0, 0, {4}, {0}, {2});
  written[1].add(1, 0, {4}, {2}, {2});
  written[0].add(1, 1, {4}, {0}, {2});
  written[1].add(1, 1, {4}, {2}, {2});
  join(written, everything);
  EXPECT_EQ(blocks_of(written), 3u);
  EXPECT_EQ(written[0].steps[1].blocks.at(0).shape, Shape{4});
}

TEST_F(JoinChunks, MessagesAreBoundedAndLargeBlocksArriveInPieces) {
  std::vector<Written> written(3);
  for (uint32_t rank = 0; rank < 3; ++rank) {
    written[rank].add(0, 0, {300, 701}, {0, 200 * rank}, {300, rank == 2 ? 301u : 200u});
    for (uint64_t variable = 1; variable < 3000; ++variable) written[rank].add(0, variable, {9}, {3 * rank}, {3});
  }
  join(written, everything);
  EXPECT_EQ(blocks_of(written), 3000u);
  for (const Block& block : written[0].steps[0].blocks) check_block(block);
  EXPECT_LE(longest_, kJoinMessageBytes);
  EXPECT_GT(longest_, kJoinMessageBytes / 2);
}

TEST_F(JoinChunks, WhatDoesNotFitIntoMemoryStays) {
  for (const uint64_t spare : {0u, 1000u, 200u << 10, 300u << 10, 400u << 10, 600u << 10, 2u << 20}) {
    std::vector<Written> written(4);
    for (uint32_t rank = 0; rank < 4; ++rank)
      for (uint64_t variable = 0; variable < 20; ++variable)
        written[rank].add(0, variable, {4000 + 400 * variable}, {rank * (1000 + 100 * variable)},
                          {1000 + 100 * variable});
    join(written, [&](uint32_t rank) {
      return JoinSettings{.chunk_bytes = UINT64_MAX, .spare_bytes = rank == 0 ? spare : UINT64_MAX};
    });
    uint64_t joined_bytes = 0, joined = 0;
    for (const Block& block : written[0].steps[0].blocks) {
      check_block(block);
      if (block.shape != block.global_shape) continue;
      joined_bytes += block.bytes.size();
      ++joined;
    }
    EXPECT_LE(joined_bytes, spare);
    EXPECT_EQ(blocks_of(written), 80 - 3 * joined);
    EXPECT_EQ(joined > 0, spare >= 600 << 10) << spare;
    EXPECT_EQ(joined == 20, spare >= 2 << 20) << spare;
  }
}

TEST_F(JoinChunks, OneRankWithoutMemoryOrThatMayNotKeepsAllFromJoining) {
  for (const bool may_join : {true, false}) {
    auto written = quarters();
    join(written, [&](uint32_t rank) {
      const bool is_it = rank == 2;
      return JoinSettings{.chunk_bytes = UINT64_MAX,
                          .spare_bytes = is_it && may_join ? 100 : UINT64_MAX,
                          .may_join = !is_it || may_join};
    });
    EXPECT_EQ(blocks_of(written), 4u);
  }
}

TEST_F(JoinChunks, NobodyWaitsForARankThatIsGone) {
  for (uint32_t gone = 0; gone < 4; ++gone) {
    auto written = quarters();
    auto ranks = thread_ranks(4);
    std::vector<std::jthread> threads;
    for (uint32_t rank = 0; rank < 4; ++rank)
      threads.emplace_back([&, rank, own = std::move(ranks[rank])] {
        if (rank == gone) return;
        const auto joined = join_chunks(*own, written[rank].steps, everything(rank));
        ASSERT_FALSE(joined);
        EXPECT_EQ(joined.error().code, Code::disconnected);
      });
  }
}

// Ranks own blocks of random tilings, some of which are not written, or written twice.
TEST_F(JoinChunks, EveryElementIsWhereItWasInTilingsOfAllKinds) {
  std::mt19937 random(3);
  size_t before = 0, after = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<Written> written(1 + random() % 8);
    for (Written& rank : written) rank.steps.resize(2);
    std::map<std::pair<uint64_t, std::string>, uint64_t> elements;
    for (uint64_t variable = 0; variable < 6; ++variable) {
      const size_t dimensions = 1 + random() % 3;
      Shape cell(dimensions), cells(dimensions), global(dimensions);
      for (size_t d = 0; d < dimensions; ++d) {
        cell[d] = 1 + random() % 4;
        cells[d] = 1 + random() % 3;
        global[d] = cell[d] * cells[d];
      }
      for (uint64_t at = 0; at < element_count(cells); ++at) {
        Shape offsets(dimensions);
        uint64_t rest = at;
        for (size_t d = dimensions; d-- > 0; rest /= cells[d]) offsets[d] = rest % cells[d] * cell[d];
        for (uint64_t copies = random() % 10 == 0 ? random() % 3 : 1; copies-- > 0;)
          written[random() % written.size()].add(variable % 2, variable, global, offsets, cell);
      }
    }
    const auto count_elements = [&] {
      std::map<std::pair<uint64_t, std::string>, uint64_t> found;
      for (const Written& rank : written)
        for (uint64_t step = 0; step < rank.steps.size(); ++step)
          for (const Block& block : rank.steps[step].blocks) found[{step, block.name}] += element_count(block.shape);
      return found;
    };
    elements = count_elements();
    before += blocks_of(written);
    join(written, everything);
    after += blocks_of(written);
    EXPECT_EQ(count_elements(), elements);
    for (const Written& rank : written)
      for (const ProcessGroup& step : rank.steps)
        for (const Block& block : step.blocks) check_block(block);
  }
  EXPECT_LT(after, before / 2);
}

TEST(BoxFiller, PiecesOfAnyLengthFindTheirPlace) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    Shape box_shape, place, shape;
    for (size_t d = 0; d < 1 + random() % 4; ++d) {
      box_shape.push_back(1 + random() % 6);
      shape.push_back(1 + random() % box_shape.back());
      place.push_back(random() % (box_shape.back() - shape.back() + 1));
    }
    const std::vector<uint64_t> places = places_in(box_shape, place, shape);
    std::vector<uint32_t> values(places.size()), box(element_count(box_shape)), expected(box.size());
    std::iota(values.begin(), values.end(), 1);
    for (size_t i = 0; i < places.size(); ++i) expected[places[i]] = values[i];
    BoxFiller filler(std::as_writable_bytes(std::span(box)), box_shape, place, shape, sizeof(uint32_t));
    for (auto left = std::as_bytes(std::span(values)); !left.empty();) {
      const auto piece = left.first(std::min<size_t>(left.size(), 1 + random() % 40));
      filler.put(piece);
      left = left.subspan(piece.size());
    }
    EXPECT_EQ(box, expected);
  }
}

TEST(BlockNotes, AreWhatTheyWereAndDamageIsRefused) {
  Written written;
  written.add(1, 7, {4, 6}, {2, 3}, {2, 3});
  const auto notes = notes_of(written.steps, UINT64_MAX);
  const Bytes bytes = encode_notes(notes);
  EXPECT_LE(bytes.size(), notes_bound(written.steps));
  const auto decoded = decode_notes(bytes);
  ASSERT_TRUE(decoded);
  ASSERT_EQ(decoded->size(), 1u);
  const BlockNote& note = decoded->at(0);
  EXPECT_EQ(std::tuple(note.step, note.block, note.may_join), std::tuple(1u, 0u, true));
  EXPECT_EQ(note.head.name, "v7");
  EXPECT_EQ(note.head.shape, (Shape{2, 3}));
  EXPECT_EQ(note.head.characteristics, notes[0].head.characteristics);
  EXPECT_EQ(note.head.breaks, notes[0].head.breaks);
  for (size_t length = 1; length < bytes.size(); ++length)
    EXPECT_FALSE(decode_notes(std::span(bytes).first(length))) << length;
  Bytes wrong = bytes;
  for (size_t at = 32; at + 8 <= bytes.size(); at += 8) {
    store_le(wrong.data() + at, uint64_t{1} << 60);
    (void)decode_notes(wrong);
  }
}

}  // namespace
}  // namespace forebay::io
