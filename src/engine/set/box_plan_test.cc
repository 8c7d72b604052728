#include "engine/set/box_plan.h"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "engine/set/test_boxes.h"

namespace forebay::engine {
namespace {

constexpr Scheme kEveryScheme[] = {Scheme::agnostic, Scheme::agnostic_block, Scheme::aware, Scheme::aware_block};

struct TestFiles {
  Catalogue catalogue;
  std::vector<TestArray> arrays;  // per variable
  std::vector<Bytes> contents;    // per file
};

TestFiles random_files(std::mt19937& random) {
  TestFiles files;
  for (int file = 0; file < 4; ++file) {
    Layout layout{.format = "test", .variables = {}};
    std::vector<std::string> keys;
    uint64_t at = random() % 50;
    for (int i = 0; i < 5; ++i) {
      TestArray array = random_array(random);
      array.element_bytes = 4;
      for (size_t d = 0; d < array.shape.size() && random() % 2 == 0; ++d) {
        const uint64_t times = 1 + random() % 8;
        array.shape[d] *= times;
        if (random() % 2 == 0 || array.shape == array.block) array.block[d] *= times;
      }
      const uint64_t blocks = block_count(array.shape, array.block), bytes = element_count(array.block) * 4;
      Variable variable{.path = "/v" + std::to_string(i),
                        .type = {Kind::floating, ByteOrder::little, 4},
                        .shape = array.shape,
                        .block = array.block,
                        .extents = {}};
      for (uint64_t block = 0; block < blocks; ++block) {
        variable.extents.push_back({at, bytes});
        at += bytes + random() % 2 * (random() % 30);
      }
      std::ranges::shuffle(variable.extents, random);  // chunks lie in any order
      layout.variables.push_back(std::move(variable));
      keys.push_back("/v" + std::to_string(i % 3));
      files.arrays.push_back(std::move(array));
    }
    const uint64_t size = at + random() % 100;
    files.catalogue.add({.name = "f" + std::to_string(file), .size = size, .link_target = {}, .format = {}}, layout,
                        keys);
    Bytes content(size);
    for (std::byte& byte : content) byte = static_cast<std::byte>(random());
    files.contents.push_back(std::move(content));
  }
  return files;
}

TEST(FileParts, EveryRangeOfAFileIsMadeOfPartsOfStreams) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const TestFiles files = random_files(random);
    for (const Scheme scheme : kEveryScheme) {
      const auto plan = merge::Plan::make(files.catalogue, {.scheme = scheme});
      ASSERT_TRUE(plan);
      const StreamFrames frames(*plan);
      for (uint32_t file = 0; file < files.contents.size(); ++file) {
        const FileParts parts(*plan, file);
        const uint64_t size = files.contents[file].size();
        const uint64_t begin = random() % size, length = random() % (size - begin + 1);
        uint64_t at = 0;
        for (const StreamPart& part : parts.within(begin, length)) {
          EXPECT_EQ(part.target, at);  // in the order of the file, without gaps
          EXPECT_GT(part.length, 0u);
          EXPECT_FALSE(frames.holding(part).empty());
          uint64_t in_file = 0;
          plan->for_each_extent({part.stream, part.begin, 1}, [&](uint64_t offset, uint64_t) { in_file = offset; });
          EXPECT_EQ(in_file, begin + at);
          at += part.length;
        }
        EXPECT_EQ(at, length);
      }
    }
  }
}

// The raw bytes of a frame, and the ranges of files that they are.
struct TestFrame {
  std::vector<merge::Slice> slices;
  Bytes raw;
  std::vector<std::pair<uint32_t, Extent>> ranges;
};

TestFrame gather(const TestFiles& files, const merge::Plan& plan, uint32_t number) {
  TestFrame frame;
  frame.slices = plan.slices(plan.frames()[number]);
  for (const merge::Slice& slice : frame.slices)
    plan.for_each_extent(slice, [&](uint64_t offset, uint64_t length) {
      const auto bytes = std::span(files.contents[slice.stream.file]).subspan(offset, length);
      frame.raw.insert(frame.raw.end(), bytes.begin(), bytes.end());
      frame.ranges.push_back({slice.stream.file, {offset, length}});
    });
  return frame;
}

// The place in its file of each byte of a box.
std::vector<uint64_t> file_places(const TestFiles& files, uint32_t variable, const Box& box) {
  const TestArray& array = files.arrays[variable];
  const auto extents = files.catalogue.extents_of(files.catalogue.variables[variable]);
  const uint64_t block_bytes = element_count(array.block) * array.element_bytes;
  std::vector<uint64_t> places = places_of(array, box);
  for (uint64_t& place : places) place = extents[place / block_bytes].offset + place % block_bytes;
  return places;
}

void expect_reads(const TestFiles& files, const merge::Plan& plan, std::span<const TestFrame> frames, uint32_t file,
                  uint32_t variable, const Box& box) {
  const StreamFrames locator(plan);
  const auto box_plan = BoxPlan::make(locator, file, variable, box);
  ASSERT_TRUE(box_plan.has_value()) << box_plan.error().message();
  const std::vector<uint64_t> places = file_places(files, variable, box);
  std::vector<uint64_t> wanted = places;
  std::ranges::sort(wanted);
  const auto holds_wanted = [&](const auto& range) {
    const auto first = std::ranges::lower_bound(wanted, range.second.offset);
    return range.first == file && first != wanted.end() && *first < range.second.end();
  };
  std::vector<uint32_t> needed;
  for (uint32_t number = 0; number < frames.size(); ++number)
    if (std::ranges::any_of(frames[number].ranges, holds_wanted)) needed.push_back(number);
  EXPECT_EQ(std::vector(box_plan->frames().begin(), box_plan->frames().end()), needed);

  ASSERT_EQ(box_plan->bytes(), places.size());
  Bytes actual(places.size()), expected;
  uint64_t copied = 0;
  for (const uint32_t number : box_plan->frames())
    box_plan->for_each_piece(frames[number].slices, [&](uint64_t from, uint64_t to, uint64_t length) {
      ASSERT_LE(from + length, frames[number].raw.size());
      ASSERT_LE(to + length, actual.size());
      std::memcpy(actual.data() + to, frames[number].raw.data() + from, length);
      copied += length;
    });
  for (const uint64_t place : places) expected.push_back(files.contents[file][place]);
  EXPECT_EQ(copied, expected.size());
  EXPECT_EQ(actual, expected);
}

TEST(BoxPlan, GivesTheBoxThatIsCutFromTheWholeUnderEveryScheme) {
  std::mt19937 random(11);
  for (int round = 0; round < 4; ++round) {
    const TestFiles files = random_files(random);
    ASSERT_TRUE(files.catalogue.validate().has_value());
    for (const Scheme scheme : kEveryScheme) {
      const auto plan = merge::Plan::make(
          files.catalogue,
          {.scheme = scheme, .block_bytes = 200, .frame_bytes = 4096, .share_bytes = 1024, .key_block_bytes = {}});
      ASSERT_TRUE(plan.has_value());
      std::vector<TestFrame> frames;
      for (uint32_t number = 0; number < plan->frames().size(); ++number)
        frames.push_back(gather(files, *plan, number));
      for (uint32_t file = 0; file < files.catalogue.files.size(); ++file) {
        const FileRow& row = files.catalogue.files[file];
        for (uint32_t i = row.first_variable; i < row.first_variable + row.variable_count; ++i) {
          expect_reads(files, *plan, frames, file, i, random_box(random, files.arrays[i].shape));
          expect_reads(files, *plan, frames, file, i, whole_box(files.arrays[i].shape));
        }
      }
    }
  }
}

TEST(BoxPlan, RefusesWhatIsNoArray) {
  const auto refusal = [](Variable variable, const Box& box) {
    Catalogue catalogue;
    catalogue.add({.name = "f", .size = 1000, .link_target = {}, .format = {}},
                  {.format = "test", .variables = {std::move(variable)}}, std::vector<std::string>{"v"});
    const auto plan = merge::Plan::make(catalogue, {.block_bytes = 512, .frame_bytes = 4096, .key_block_bytes = {}});
    const StreamFrames locator(*plan);
    const auto box_plan = BoxPlan::make(locator, 0, 0, box);
    return box_plan ? "" : box_plan.error().message();
  };
  const Variable good{.path = "/v", .type = {}, .shape = {10}, .block = {5}, .extents = {{0, 5}, {10, 5}}};
  EXPECT_EQ(refusal(good, {{0}, {10}}), "");
  const std::string outside = refusal(good, {{0}, {11}});
  EXPECT_NE(outside.find("/v of f"), std::string::npos) << outside;
  EXPECT_NE(outside.find("dimension 0"), std::string::npos) << outside;
  Variable bad = good;
  bad.extents.pop_back();
  EXPECT_NE(refusal(bad, {{0}, {10}}).find("do not cover"), std::string::npos);
  bad = good;
  bad.partial = true;
  EXPECT_NE(refusal(bad, {{0}, {10}}).find("never allocated"), std::string::npos);
  bad = good;
  bad.filtered = true;
  EXPECT_NE(refusal(bad, {{0}, {10}}).find("filters"), std::string::npos);
}

}  // namespace
}  // namespace forebay::engine
