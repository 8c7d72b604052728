#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "io/file/file_reader.h"
#include "io/file/testing.h"

namespace forebay::io {
namespace {

using testing::expect_sample;
using testing::open_file;
using testing::OwnedGroup;
using testing::sample_group;
using testing::TempDir;
using testing::write_part;

TEST(EncodedPart, RefusesWhatCannotBe) {
  OwnedGroup sample = sample_group(0, 1, 0);
  sample.group.blocks[2].shape = {5, 6};
  EXPECT_EQ(EncodedPart::make(sample.group, {}).error().code, Code::invalid_dimension);
  sample = sample_group(0, 1, 0);
  sample.group.blocks[2].offsets = {1};
  EXPECT_EQ(EncodedPart::make(sample.group, {}).error().code, Code::invalid_global_dimension);
  sample = sample_group(0, 1, 0);
  sample.group.blocks[2].transform = "zlibb";
  const auto unknown = EncodedPart::make(sample.group, {});
  EXPECT_EQ(unknown.error().code, Code::unknown_transform);
  EXPECT_EQ(unknown.error().error.hint, "did you mean zlib?");
}

TEST(EncodedPart, MayBeStoredForSomebodyLater) {
  const TempDir directory;
  const std::string path = directory.file("later.bp");
  const OwnedGroup sample = sample_group(1, 2, 0, true);
  {
    const auto file = GrowingFile::create(path);
    auto part = EncodedPart::make(sample.group, {.container_id = (*file)->container_id()},
                                  {.most_frame_bytes = 64 << 20, .are_transforms_done = false});
    ASSERT_TRUE(part);
    testing::write_part((*file)->fd(), (*file)->end(), *part);
    part->listing().shift((*file)->end());
    ASSERT_TRUE((*file)->commit(part->listing(), (*file)->end() + part->bytes(), false));
  }
  const auto reader = open_file(path);
  expect_sample(*reader, 0, 2, true);
  const auto part = reader->open_part(0);
  for (size_t i = 0; i < sample.group.blocks.size(); ++i) EXPECT_EQ(part->stored_bytes(i), part->bytes(i));
}

// What write() gives to a sink, put together.
Outcome<EncodedPart> write_to(Bytes& bytes, const ProcessGroup& group, const PartOptions& options) {
  std::vector<bool> is_there;
  auto part =
      EncodedPart::write(group, {.container_id = 7}, options, [&](auto pieces, uint64_t offset) -> Result<void> {
        for (const auto& piece : pieces) {
          bytes.resize(std::max(bytes.size(), offset + piece.size()));
          is_there.resize(bytes.size());
          std::ranges::copy(piece, bytes.begin() + static_cast<ptrdiff_t>(offset));
          for (size_t i = 0; i < piece.size(); ++i) {
            EXPECT_FALSE(is_there[offset + i]) << "byte " << offset + i << " comes twice";
            is_there[offset + i] = true;
          }
          offset += piece.size();
        }
        return {};
      });
  EXPECT_TRUE(std::ranges::all_of(is_there, [](bool there) { return there; }));
  return part;
}

TEST(EncodedPart, WrittenPieceByPieceHasTheSameBytes) {
  for (const bool large : {false, true})
    for (const PartOptions& options :
         {PartOptions{}, PartOptions{.most_frame_bytes = 64 << 20, .are_transforms_done = false}}) {
      OwnedGroup sample = sample_group(1, 2, 0, large);
      // Values that nobody has looked at become known on the way, and are in index and listing.
      for (Block& block : sample.group.blocks)
        if (block.is_array && element_bytes(block.type) > 0 && data_type(block.type).is_number()) {
          block.characteristics = {};
          block.is_characterised = false;
        }
      Bytes bytes;
      const auto part = write_to(bytes, sample.group, options);
      const auto expected = EncodedPart::make(sample.group, {.container_id = 7}, options);
      ASSERT_TRUE(part && expected);
      EXPECT_EQ(part->bytes(), bytes.size());
      EXPECT_TRUE(part->pieces().empty());
      EXPECT_TRUE(bytes == testing::bytes_of(*expected));
      EXPECT_EQ(*encode(part->listing()), *encode(expected->listing()));
    }
}

TEST(EncodedPart, ALargeBlockGoesOutAFewMegabytesAtATime) {
  std::vector<double> values(1'700'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 1000) - 500;
  ProcessGroup group;
  group.group = "fields";
  Block block;
  block.name = "x";
  block.type = ValueType::float64;
  block.is_array = true;
  block.is_characterised = false;
  block.shape = {17, 100'000};
  block.bytes = std::as_bytes(std::span(values));
  group.blocks = {block};
  Bytes bytes;
  const auto part = write_to(bytes, group, {});
  const auto expected = EncodedPart::make(group, {.container_id = 7});
  ASSERT_TRUE(part && expected);
  EXPECT_TRUE(bytes == testing::bytes_of(*expected));
  ASSERT_EQ(part->listing().variables.size(), 1u);
  uint64_t most = 0, calls = 0;
  const auto count = [&](auto pieces, uint64_t) -> Result<void> {
    uint64_t sum = 0;
    for (const auto& piece : pieces) sum += piece.size();
    most = std::max(most, sum);
    ++calls;
    return {};
  };
  ASSERT_TRUE(EncodedPart::write(group, {}, {}, count));
  EXPECT_GE(calls, 3u);
  EXPECT_LT(most, 5u << 20);
}

TEST(EncodedPart, LargePayloadsBeginAtMultiplesOfTheAlignment) {
  OwnedGroup sample = sample_group(0, 1, 0, true);
  const auto part = EncodedPart::make(sample.group, {});
  ASSERT_TRUE(part);
  uint64_t at = 0, large = 0;
  for (const auto& piece : part->pieces()) {
    if (piece.size() >= 16 << 10) {
      EXPECT_EQ(at % kPartAlignment, 0u);
      ++large;
    }
    at += piece.size();
  }
  EXPECT_GT(large, 3u);
}

TEST(EncodedPart, TellsOfASinkThatFails) {
  const OwnedGroup sample = sample_group(0, 1, 0, true);
  for (int good = 0;; ++good) {
    int left = good;
    const PartOptions options{.most_frame_bytes = 64 << 20, .are_transforms_done = false};  // frames of several pieces
    const auto part = EncodedPart::write(sample.group, {}, options, [&](auto, uint64_t) -> Result<void> {
      return left-- > 0 ? Result<void>() : fail(ErrorKind::no_space, "full");
    });
    if (part) {
      EXPECT_GT(good, 3);
      break;
    }
    EXPECT_EQ(part.error().error.kind, ErrorKind::no_space);
  }
}

TEST(EncodedPart, FitsIntoItsSlot) {
  for (const bool large : {false, true}) {
    const OwnedGroup sample = sample_group(3, 5, 2, large);
    uint64_t bytes = 0, other = 0, dimensions = 0;
    for (const Block& block : sample.group.blocks) {
      dimensions += block.shape.size();
      bytes += block.bytes.size();
      other += block.name.size() + block.transform.size() + 16 * block.histogram.size();
    }
    for (const AttributeValue& a : sample.group.attributes) other += a.name.size() + a.value.size() + a.variable.size();
    const auto part = EncodedPart::make(sample.group, {});
    ASSERT_TRUE(part);
    EXPECT_LE(part->bytes(), part_bound(bytes, sample.group.blocks.size(), dimensions, other));
  }
}

}  // namespace
}  // namespace forebay::io
