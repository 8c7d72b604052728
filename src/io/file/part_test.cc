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
