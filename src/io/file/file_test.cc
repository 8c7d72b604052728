#include <array>
#include <bit>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

#include "base/checksum.h"
#include "container/format.h"
#include "io/file/file_reader.h"
#include "io/file/tail.h"
#include "io/file/testing.h"

namespace forebay::io {
namespace {

using testing::OwnedGroup;
using testing::read_file;
using testing::sample_group;
using testing::TempDir;
using testing::write_file;
using testing::write_step;

constexpr uint64_t kMemory = 64 << 20;

std::unique_ptr<FileReader> open_file(const std::string& path) {
  auto reader = FileReader::open(path, kMemory);
  EXPECT_TRUE(reader) << (reader ? "" : reader.error().message());
  return reader ? *std::move(reader) : nullptr;
}

// That the process group is what sample_group() makes.
void expect_sample(const FileReader& reader, size_t number, uint32_t ranks, bool large = false) {
  const ListedPart& listed = reader.listing().parts[number];
  const OwnedGroup sample = sample_group(listed.rank, ranks, listed.step, large);
  const auto part = reader.open_part(number);
  ASSERT_TRUE(part) << part.error().message();
  const ProcessGroup& group = part->group();
  EXPECT_EQ(group.group, "atoms");
  EXPECT_EQ(group.time_index_name, "iter");
  EXPECT_EQ(group.time_index, listed.step + 1);
  ASSERT_EQ(group.blocks.size(), sample.group.blocks.size());
  for (size_t i = 0; i < group.blocks.size(); ++i) {
    const Block &read = group.blocks[i], &written = sample.group.blocks[i];
    EXPECT_EQ(read.name, written.name);
    EXPECT_EQ(read.type, written.type);
    EXPECT_EQ(read.is_array, written.is_array);
    EXPECT_EQ(read.shape, written.shape);
    EXPECT_EQ(read.global_shape, written.global_shape);
    EXPECT_EQ(read.offsets, written.offsets);
    EXPECT_EQ(read.transform, written.transform);
    EXPECT_EQ(read.histogram, written.histogram);
    EXPECT_EQ(read.breaks, written.breaks);
    EXPECT_EQ(read.characteristics, written.characteristics);
    Bytes values(part->bytes(i));
    const auto done = part->read(i, values);
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_TRUE(std::ranges::equal(values, written.bytes)) << read.name;
  }
  ASSERT_EQ(group.attributes.size(), 2u);
  EXPECT_EQ(as_text(group.attributes[0].value), "someone");
  EXPECT_EQ(group.attributes[1].variable, "count");
}

void expect_samples(const FileReader& reader, uint32_t ranks, uint64_t steps) {
  EXPECT_EQ(reader.steps(), steps);
  ASSERT_EQ(reader.listing().parts.size(), ranks * steps);
  for (size_t i = 0; i < reader.listing().parts.size(); ++i) {
    EXPECT_EQ(reader.listing().parts[i].step, i / ranks);
    EXPECT_EQ(reader.listing().parts[i].rank, i % ranks);
    expect_sample(reader, i, ranks);
  }
}

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
    RecordPlace place{trailer->last_offset, trailer->last_bytes, trailer->last_hash};
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

// Whatever an append that was caught had written, what was there before is read, and the next append goes on from it.
TEST(GrowingFile, AnUnfinishedAppendLosesNothing) {
  const TempDir directory;
  const std::string path = directory.file("torn.bp");
  write_step(**GrowingFile::create(path), 2, 0);
  write_step(**GrowingFile::append(path), 2, 1);
  const Bytes before = read_file(path);
  write_step(**GrowingFile::append(path), 2, 2);
  const Bytes after = read_file(path);
  for (size_t size = before.size(); size < after.size(); size += size < after.size() - 200 ? 97 : 1) {
    // Copies of trailers are written last.
    Bytes torn(after.begin(), after.begin() + static_cast<ptrdiff_t>(size));
    std::copy_n(before.begin(), before.size(), torn.begin());
    write_file(path, torn);
    const auto reader = open_file(path);
    ASSERT_TRUE(reader);
    ASSERT_EQ(reader->steps(), 2u);
    ASSERT_EQ(reader->is_torn(), size != before.size());
    ASSERT_TRUE(reader->open_part(3));
  }
  {
    const auto file = GrowingFile::append(path);
    ASSERT_TRUE(file);
    EXPECT_EQ((*file)->steps(), 2u);
    write_step(**file, 2, 2);
    expect_samples(*open_file(path), 2, 3);
  }
  // Caught between a trailer and its copy, an append is whole.
  Bytes late = after;
  std::copy_n(before.begin(), before.size(), late.begin());
  write_file(path, late);
  EXPECT_EQ(open_file(path)->steps(), 3u);
  EXPECT_FALSE(open_file(path)->is_torn());
}

// Largest files that this process may write, for as long as this lives.
class FileLimit {
 public:
  explicit FileLimit(uint64_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  sighandler_t handler_;
  rlimit before_{};
};

// Where the storage ends within a commit, at whatever byte, the file keeps what it had, and the commit can be made
// good.
TEST(GrowingFile, ACommitThatFailsChangesNothing) {
  const TempDir directory;
  const std::string path = directory.file("full.bp");
  const auto file = GrowingFile::create(path);
  write_step(**file, 1, 0);
  const OwnedGroup sample = sample_group(0, 1, 1);
  auto part = EncodedPart::make(sample.group, {.container_id = (*file)->container_id()});
  ASSERT_TRUE(part);
  testing::write_part((*file)->fd(), (*file)->end(), *part);
  part->listing().shift((*file)->end());
  const uint64_t end = (*file)->end() + part->bytes();
  for (const uint64_t room : {0, 1, 500, 2000}) {
    {
      const FileLimit limit(end + room);
      const auto done = (*file)->commit(part->listing(), end, false);
      ASSERT_FALSE(done) << room;
      EXPECT_EQ(done.error().kind, ErrorKind::no_space);
    }
    const auto reader = open_file(path);
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->steps(), 1u);
    EXPECT_TRUE(reader->is_torn());
  }
  ASSERT_TRUE((*file)->commit(part->listing(), end, true));
  expect_samples(*open_file(path), 1, 2);
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

TEST(GrowingFile, WholeProcessGroupsOfAnUnfinishedStepCanBeHad) {
  const TempDir directory;
  const std::string path = directory.file("mend.bp");
  constexpr uint32_t kRanks = 3;
  write_step(**GrowingFile::create(path), kRanks, 0);
  const uint64_t one_step = std::filesystem::file_size(path);
  const auto mend = [&](size_t whole, bool with_half) {
    const auto file = GrowingFile::append(path);
    ASSERT_TRUE(file);
    uint64_t offset = (*file)->end();
    for (uint32_t rank = 0; rank < whole + (with_half ? 1 : 0); ++rank, offset += 100) {
      const OwnedGroup sample = sample_group(rank, kRanks, 1);
      const auto part = EncodedPart::make(sample.group, {.container_id = (*file)->container_id()});
      testing::write_part((*file)->fd(), offset, *part);
      offset += part->bytes();
    }
    if (!with_half) return;
    ASSERT_EQ(::ftruncate((*file)->fd(), static_cast<off_t>(offset - 300)), 0);
  };
  mend(2, true);
  const auto mended = GrowingFile::mend(path, kMemory);
  ASSERT_TRUE(mended) << mended.error().message();
  EXPECT_EQ(mended->found, 2u);
  EXPECT_EQ(mended->incomplete, 1u);
  EXPECT_EQ(mended->steps, 2u);
  const auto reader = open_file(path);
  ASSERT_TRUE(reader);
  EXPECT_FALSE(reader->is_torn());
  ASSERT_EQ(reader->listing().parts.size(), kRanks + 2u);
  for (size_t i = 0; i < reader->listing().parts.size(); ++i) expect_sample(*reader, i, kRanks);
  EXPECT_EQ(reader->listing().characteristics.back().blocks, 4u);
  const Bytes bytes = read_file(path);
  EXPECT_EQ(GrowingFile::mend(path, kMemory)->found, 0u);
  EXPECT_EQ(read_file(path), bytes);
  // Nor does a file need to have a whole step.
  std::filesystem::resize_file(path, one_step - 100);
  EXPECT_FALSE(GrowingFile::append(path));
  EXPECT_EQ(GrowingFile::mend(path, kMemory)->found, 3u);
  expect_samples(*open_file(path), kRanks, 1);
}

// Cut off anywhere, a file has all steps that end before the cut.
TEST(GrowingFile, EveryCutLeavesTheStepsBeforeIt) {
  const TempDir directory;
  const std::string path = directory.file("cut.bp");
  std::vector<uint64_t> ends;
  for (uint64_t step = 0; step < 3; ++step) {
    const auto file = step == 0 ? GrowingFile::create(path) : GrowingFile::append(path);
    write_step(**file, 1, step);
    ends.push_back((*file)->end());
  }
  const Bytes whole = read_file(path);
  ASSERT_EQ(whole.size(), ends.back());
  for (size_t size = 0; size <= whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    const auto source = std::make_shared<MemorySource>(cut, "cut.bp");
    const auto reader = FileReader::open(source, {}, kMemory);
    const auto steps = static_cast<uint64_t>(std::ranges::count_if(ends, [&](uint64_t end) { return end <= size; }));
    ASSERT_EQ(reader.has_value(), steps > 0) << size;
    if (!reader) continue;
    ASSERT_EQ((*reader)->steps(), steps) << size;
    ASSERT_EQ((*reader)->listing().parts.size(), steps);
  }
}

TEST(GrowingFile, ACutOfItsBeginningIsToldWhenItIsMended) {
  const TempDir directory;
  const std::string path = directory.file("cut.bp");
  write_step(**GrowingFile::create(path), 1, 0);
  const Bytes whole = read_file(path);
  for (size_t size = 0; size < 1000; size += 13) {
    write_file(path, std::span(whole).first(size));
    const auto mended = GrowingFile::mend(path, kMemory);
    ASSERT_TRUE(!mended || mended->steps == 0) << size;
  }
}

// Every flipped bit is found, or is one that means nothing.
TEST(GrowingFile, EveryFlipIsFoundOrMeansNothing) {
  const TempDir directory;
  const std::string path = directory.file("flip.bp");
  write_step(**GrowingFile::create(path), 1, 0);
  write_step(**GrowingFile::append(path), 1, 1);
  Bytes bytes = read_file(path);
  const auto read_all = [&]() -> Result<Bytes> {
    FOREBAY_TRY(const auto reader, FileReader::open(std::make_shared<MemorySource>(bytes, "flip.bp"), {}, kMemory));
    Bytes all;
    for (size_t i = 0; i < reader->listing().parts.size(); ++i) {
      FOREBAY_TRY(const StoredPart part, reader->open_part(i));
      for (size_t block = 0; block < part.group().blocks.size(); ++block) {
        Bytes values(part.bytes(block));
        FOREBAY_CHECK(part.read(block, values));
        all.insert(all.end(), values.begin(), values.end());
      }
    }
    return all;
  };
  const Bytes expected = *read_all();
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{0x10};
    const auto read = read_all();
    // A trailer that is damaged leaves the steps before it.
    const bool is_harmless = read && (*read == expected || i + container::kTrailerBytes >= bytes.size());
    ASSERT_TRUE(!read || is_harmless) << i;
    bytes[i] ^= std::byte{0x10};
  }
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

TEST(GrowingFile, OtherFilesAreRefused) {
  const TempDir directory;
  const auto opens = [&](Bytes bytes) {
    write_file(directory.file("other"), bytes);
    const auto reader = FileReader::open(directory.file("other"), kMemory);
    return reader ? ErrorKind::internal : reader.error().kind;
  };
  EXPECT_EQ(opens(Bytes(1000)), ErrorKind::corrupt);
  EXPECT_EQ(opens({}), ErrorKind::corrupt);
  EXPECT_EQ(opens(read_file(FOREBAY_SOURCE_DIR "/tests/golden/v1-small.fbc")), ErrorKind::unsupported);
  ASSERT_TRUE(GrowingFile::create(directory.file("new")));
  EXPECT_EQ(opens(read_file(directory.file("new"))), ErrorKind::corrupt);
}

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
    uint64_t bytes = 0, other = 0;
    for (const Block& block : sample.group.blocks) {
      bytes += block.bytes.size();
      other += block.name.size() + block.transform.size() + 16 * block.histogram.size();
    }
    for (const AttributeValue& a : sample.group.attributes) other += a.name.size() + a.value.size() + a.variable.size();
    const auto part = EncodedPart::make(sample.group, {});
    ASSERT_TRUE(part);
    EXPECT_LE(part->bytes(), part_bound(bytes, sample.group.blocks.size(), other));
  }
}

}  // namespace
}  // namespace forebay::io
