#include <array>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include "base/byte_source.h"
#include "base/checksum.h"
#include "container/format.h"
#include "io/file/file_reader.h"
#include "io/file/tail.h"
#include "io/file/testing.h"

namespace forebay::io {
namespace {

using testing::bytes_of;
using testing::expect_sample;
using testing::expect_samples;
using testing::kMemory;
using testing::open_file;
using testing::OwnedGroup;
using testing::read_file;
using testing::sample_group;
using testing::TempDir;
using testing::write_file;
using testing::write_part;
using testing::write_step;

TEST(GrowingFile, GrowsStepByStep) {
  const TempDir directory;
  const std::string path = directory.file("grows.bp");
  constexpr uint32_t kRanks = 3;
  for (uint64_t step = 0; step < 11; ++step) {
    auto file = step == 0 ? GrowingFile::create(path) : GrowingFile::append(path);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ((*file)->steps(), step);
    EXPECT_EQ((*file)->last_time_index(), step);
    write_step(**file, kRanks, step);
    const auto reader = open_file(path);
    ASSERT_TRUE(reader);
    EXPECT_FALSE(reader->is_torn());
    expect_samples(*reader, kRanks, step + 1);
  }
  const auto reader = open_file(path);
  const Listing& listing = reader->listing();
  EXPECT_EQ(listing.groups.size(), 1u);
  EXPECT_EQ(listing.variables.size(), 6u);
  EXPECT_EQ(listing.patterns.size(), 3u);  // of rank 0; of rank 2, where two places happen to be one; of others
  EXPECT_EQ(listing.attributes.size(), 2u);
  ASSERT_EQ(listing.characteristics.size(), 6u * 11);
  const auto& field = listing.characteristics[6 * 4 + 2];
  EXPECT_EQ(listing.variables[field.variable].name, "field");
  EXPECT_EQ(field.step, 4u);
  EXPECT_EQ(field.blocks, kRanks);
  EXPECT_EQ(field.values.min, 4);
  EXPECT_EQ(field.values.max, 0.5 * 23 + 200 + 4);
  EXPECT_EQ(field.values.count, 24u * kRanks);
}

// What is written anew and what is followed grows with the logarithm of the steps.
TEST(GrowingFile, ListsTakeInThoseBeforeThem) {
  const TempDir directory;
  const std::string path = directory.file("lists.bp");
  for (uint64_t step = 0; step < 20; ++step) {
    write_step(**(step == 0 ? GrowingFile::create(path) : GrowingFile::append(path)), 1, step);
    const auto source = FileSource::open(path);
    const auto trailer = find_trailer(**source);
    ASSERT_TRUE(trailer);
    int lists = 0;
    uint64_t expected = step + 1;
    RecordPlace place = trailer->last;
    while (place.is_there()) {
      const auto list = find_list(**source, place, trailer->container_id);
      ASSERT_TRUE(list);
      EXPECT_EQ(list->meta.number, expected);
      EXPECT_EQ(read_list(**source, *list, kMemory)->parts.size(), list->meta.covers);
      expected -= list->meta.covers;
      place = list->meta.previous;
      ++lists;
    }
    EXPECT_EQ(expected, 0u);
    EXPECT_EQ(lists, std::popcount(step + 1)) << step;
  }
}

TEST(GrowingFile, LargeBlocksHaveSeveralFrames) {
  const TempDir directory;
  const std::string path = directory.file("large.bp");
  write_step(**GrowingFile::create(path), 2, 0, true);
  const auto reader = open_file(path);
  ASSERT_TRUE(reader);
  expect_sample(*reader, 0, 2, true);
  expect_sample(*reader, 1, 2, true);
  const auto part = reader->open_part(1);
  const OwnedGroup sample = sample_group(1, 2, 0, true);
  Bytes some(1 << 20);
  ASSERT_TRUE(part->read(1, 600'000, some));
  EXPECT_TRUE(std::ranges::equal(some, sample.group.blocks[1].bytes.subspan(600'000, some.size())));
  EXPECT_LT(part->stored_bytes(3), part->bytes(3) / 2);
  EXPECT_FALSE(part->read(1, part->bytes(1), some));
}

TEST(GrowingFile, GivenHashesAreThoseOfTheFrames) {
  OwnedGroup sample = sample_group(0, 1, 0, true);
  const auto computed = EncodedPart::make(sample.group, {.container_id = 7});
  for (Block& block : sample.group.blocks) {
    const uint64_t step = hashed_bytes(block.type, block.shape);
    for (uint64_t at = 0; at < block.bytes.size(); at += step)
      block.hashes.push_back(hash64(block.bytes.subspan(at, std::min(step, block.bytes.size() - at))));
  }
  const auto given = EncodedPart::make(sample.group, {.container_id = 7});
  ASSERT_TRUE(computed && given);
  EXPECT_TRUE(testing::bytes_of(*computed) == testing::bytes_of(*given));
  sample.group.blocks[2].hashes[1] ^= 1;
  EXPECT_FALSE(testing::bytes_of(*computed) ==
               testing::bytes_of(*EncodedPart::make(sample.group, {.container_id = 7})));
}

TEST(GrowingFile, SeveralFilesAreReadThroughOne) {
  const TempDir directory;
  std::filesystem::create_directory(directory.file("top.bp.dir"));
  Listing all;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const std::string name = "top.bp.dir/top.bp." + std::to_string(rank);
    const auto file = GrowingFile::create(directory.file(name));
    ASSERT_TRUE(file);
    const OwnedGroup sample = sample_group(rank, 2, 0);
    auto part = EncodedPart::make(sample.group, {.container_id = (*file)->container_id()});
    ASSERT_TRUE(part);
    testing::write_part((*file)->fd(), (*file)->end(), *part);
    Listing own = part->listing();
    own.shift((*file)->end());
    ASSERT_TRUE((*file)->commit(own, (*file)->end() + part->bytes(), true));
    own.rename(name);
    all.merge(std::move(own));
  }
  const auto top = GrowingFile::create(directory.file("top.bp"));
  ASSERT_TRUE(top);
  ASSERT_TRUE((*top)->commit(all, (*top)->end(), true));
  expect_samples(*open_file(directory.file("top.bp")), 2, 1);
  expect_sample(*open_file(directory.file("top.bp.dir/top.bp.1")), 0, 2);
  // Another container in the place of one of them is not taken for it.
  std::filesystem::remove(directory.file("top.bp.dir/top.bp.1"));
  write_step(**GrowingFile::create(directory.file("top.bp.dir/top.bp.1")), 2, 0);
  const auto reader = open_file(directory.file("top.bp"));
  EXPECT_FALSE(reader->open_part(1));
}

TEST(GrowingFile, MoreOfTheLastStepBelongsToIt) {
  const TempDir directory;
  const std::string path = directory.file("update.bp");
  write_step(**GrowingFile::create(path), 2, 0);
  {
    const auto file = GrowingFile::append(path);
    ASSERT_TRUE(file);
    OwnedGroup more = sample_group(1, 2, 0);
    auto part = EncodedPart::make(more.group, {.container_id = (*file)->container_id(), .salt = (*file)->end()});
    testing::write_part((*file)->fd(), (*file)->end(), *part);
    part->listing().shift((*file)->end());
    ASSERT_TRUE((*file)->commit(part->listing(), (*file)->end() + part->bytes(), false));
    EXPECT_EQ((*file)->steps(), 1u);
    write_step(**file, 2, 1);
    OwnedGroup late = sample_group(0, 2, 0);
    const auto refused = (*file)->commit(EncodedPart::make(late.group, {})->listing(), (*file)->end(), false);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::invalid_argument);
  }
  const auto reader = open_file(path);
  EXPECT_EQ(reader->steps(), 2u);
  ASSERT_EQ(reader->listing().parts.size(), 5u);
  EXPECT_EQ(reader->listing().parts[2].step, 0u);
  expect_sample(*reader, 2, 2);
}

TEST(GrowingFile, OnlyOneProcessAdds) {
  const TempDir directory;
  const std::string path = directory.file("one.bp");
  const auto file = GrowingFile::create(path);
  write_step(**file, 1, 0);
  const auto second = GrowingFile::append(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::exists);
  EXPECT_FALSE(GrowingFile::create(path));
  EXPECT_FALSE(GrowingFile::append(directory.file("none.bp")));
}

// However much an append has written before it was caught, readers need not look through it.
TEST(GrowingFile, TheLastStepIsFoundWithoutASearch) {
  const TempDir directory;
  const std::string path = directory.file("far.bp");
  for (uint64_t step = 0; step < 3; ++step) {
    write_step(**(step == 0 ? GrowingFile::create(path) : GrowingFile::append(path)), 1, step);
    const uint64_t size = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, size + 2 * kSearchedBytes);  // a hole
    const auto reader = open_file(path);
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->steps(), step + 1);
    EXPECT_TRUE(reader->is_torn());
  }
}

// Whoever reads while steps are appended sees whole steps only, and never fewer than before.
TEST(GrowingFile, IsReadWhileItGrows) {
  const TempDir directory;
  const std::string path = directory.file("live.bp");
  constexpr uint64_t kSteps = 40;
  write_step(**GrowingFile::create(path), 2, 0);
  std::thread writer([&] {
    for (uint64_t step = 1; step < kSteps; ++step) {
      const auto file = GrowingFile::append(path);
      // What a rank has written that is still at work.
      ASSERT_EQ(::ftruncate((*file)->fd(), static_cast<off_t>((*file)->end() + 70'000)), 0);
      write_step(**file, 2, step);
    }
  });
  for (uint64_t seen = 1; seen < kSteps;) {
    const auto reader = open_file(path);
    if (!reader) break;
    EXPECT_GE(reader->steps(), seen);
    seen = reader->steps();
    EXPECT_EQ(reader->listing().parts.size(), 2 * seen);
    EXPECT_TRUE(reader->open_part(2 * seen - 1));
  }
  writer.join();
}

// A reader that was held up between its looks at the two copies, while two steps were added: the one copy is of the
// step before the last that it can see, the other one of a step behind the end of what it sees.
TEST(GrowingFile, NeverGoesBackWhereCopiesAreOfStepsThatCameLater) {
  const TempDir directory;
  const std::string path = directory.file("live.bp");
  write_step(**GrowingFile::create(path), 2, 0);
  for (uint64_t step = 1; step < 9; ++step) write_step(**GrowingFile::append(path), 2, step);
  Bytes seen = read_file(path);
  for (uint64_t step = 9; step < 11; ++step) write_step(**GrowingFile::append(path), 2, step);
  const Bytes later = read_file(path);
  const auto first = find_first_part(**FileSource::open(path));
  ASSERT_TRUE(first);
  const auto copy = [&](const Bytes& of, uint64_t slot) {
    return std::span(of).subspan(first->end + slot * container::kTrailerBytes).first<container::kTrailerBytes>();
  };
  const auto of_newest = [&](uint64_t slot) {
    return container::parse_trailer(copy(seen, slot))->file_bytes == seen.size();
  };
  ASSERT_NE(of_newest(0), of_newest(1));
  const uint64_t slot = of_newest(0) ? 0 : 1;
  std::ranges::copy(copy(later, slot),
                    seen.begin() + static_cast<ptrdiff_t>(first->end + slot * container::kTrailerBytes));
  seen.resize(seen.size() + 100);  // a part of what was being written then
  ASSERT_LT(seen.size(), later.size());
  write_file(path, seen);
  const auto reader = open_file(path);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->steps(), 9u);
}

constexpr const char* kGolden = FOREBAY_SOURCE_DIR "/tests/golden/v1-groups.fbc";

// Files that earlier builds wrote can be read for ever. FOREBAY_WRITE_GOLDEN=1 writes a new one.
TEST(GrowingFile, GoldenFileIsRead) {
  const TempDir directory;
  const std::string path = directory.file("golden.fbc");
  const std::array<std::byte, 16> number{std::byte{7}};
  write_step(**GrowingFile::create(path, number), 2, 0);
  for (uint64_t step = 1; step < 3; ++step) write_step(**GrowingFile::append(path), 2, step);
  const Bytes bytes = read_file(path);
  if (std::getenv("FOREBAY_WRITE_GOLDEN") != nullptr) write_file(kGolden, bytes);
  const auto reader = open_file(kGolden);
  ASSERT_TRUE(reader);
  expect_samples(*reader, 2, 3);
  // Compressed bytes may differ between releases of zstd, which all read each other's.
  constexpr unsigned kGoldenZstd = 10504;
  if (ZSTD_versionNumber() != kGoldenZstd) GTEST_SKIP() << "written with another release of zstd";
  EXPECT_EQ(read_file(kGolden), bytes) << kGolden << " is no longer what is written";
}

}  // namespace
}  // namespace forebay::io
