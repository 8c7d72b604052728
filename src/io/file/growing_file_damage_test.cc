#include <csignal>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/checksum.h"
#include "container/format.h"
#include "container/record.h"
#include "io/file/file_reader.h"
#include "io/file/tail.h"
#include "io/file/testing.h"

namespace forebay::io {
namespace {

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

// The file with other numbers in its last list, whose checksums and trailer are right all the same.
Bytes with_forged_list(const std::string& path, const std::function<void(ListMeta&)>& forge) {
  Bytes bytes = read_file(path);
  const MemorySource source(bytes, path);
  const container::Trailer trailer = *find_trailer(source);
  const FoundList list = *find_list(source, trailer.last, trailer.container_id);
  const auto record = *container::find_record(source, list.place.offset, list.place.offset + list.place.bytes);
  ListMeta meta = list.meta;
  forge(meta);
  const auto meta_bytes = encode(meta);
  container::RecordHeader header = record.header;
  header.meta_hash = hash64(meta_bytes);
  const auto header_bytes = container::encode(header);
  container::Trailer end = trailer;
  end.last.hash = container::header_hash(header_bytes);
  const auto end_bytes = container::encode(end);
  const auto put = [&](uint64_t at, std::span<const std::byte> part) {
    std::ranges::copy(part, bytes.begin() + static_cast<ptrdiff_t>(at));
  };
  put(list.place.offset, header_bytes);
  put(list.place.offset + header_bytes.size(), meta_bytes);
  put(list.place.offset + list.place.bytes, end_bytes);
  return bytes;
}

TEST(GrowingFile, StepsThatNoFileOfItsSizeCanHaveAreDamage) {
  const TempDir directory;
  const std::string path = directory.file("steps.bp");
  write_step(**GrowingFile::create(path), 2, 0);
  for (uint64_t step = 1; step < 3; ++step) write_step(**GrowingFile::append(path), 2, step);
  const auto open_with = [&](uint64_t steps) {
    const std::string forged = directory.file("forged.bp");
    write_file(forged, with_forged_list(path, [&](ListMeta& meta) { meta.steps = steps; }));
    return FileReader::open(forged, kMemory);
  };
  EXPECT_EQ((*open_with(3))->steps(), 3u);
  EXPECT_EQ((*open_with(4))->steps(), 4u);  // one without a process group
  for (const uint64_t steps : {uint64_t{2}, uint64_t{1} << 28, UINT64_MAX}) {
    const auto reader = open_with(steps);
    ASSERT_FALSE(reader) << steps;
    EXPECT_EQ(reader.error().kind, ErrorKind::corrupt);
  }
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
    // A trailer that is damaged leaves its copy.
    ASSERT_TRUE(read ? *read == expected : i + container::kTrailerBytes < bytes.size()) << i;
    bytes[i] ^= std::byte{0x10};
  }
}

// A file of two steps, of one process group each.
class LastStep : public ::testing::Test {
 protected:
  LastStep() {
    write_step(**GrowingFile::create(path_), 1, 0);
    first_end_ = std::filesystem::file_size(path_);
    write_step(**GrowingFile::append(path_), 1, 1);
    bytes_ = read_file(path_);
    list_ = find_trailer(MemorySource(bytes_, path_))->last;
  }

  // With a bit of the byte at each of `offsets` flipped.
  Bytes damaged(std::initializer_list<uint64_t> offsets) const {
    Bytes bytes = bytes_;
    for (const uint64_t offset : offsets) bytes[offset] ^= std::byte{0x10};
    return bytes;
  }

  const TempDir directory_;
  const std::string path_ = directory_.file("last.bp");
  uint64_t first_end_ = 0;
  Bytes bytes_;
  RecordPlace list_;
};

TEST_F(LastStep, SurvivesAnyDamageOfItsTrailer) {
  for (uint64_t offset = list_.end(); offset < bytes_.size(); ++offset) {
    write_file(path_, damaged({offset}));
    expect_samples(*open_file(path_), 1, 2);
    const auto file = GrowingFile::append(path_);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ((*file)->steps(), 2u);
    ASSERT_EQ(read_file(path_), bytes_) << offset;
  }
  // Also with something of the next step behind it.
  Bytes torn = damaged({list_.end()});
  torn.resize(torn.size() + 500);
  write_file(path_, torn);
  write_step(**GrowingFile::append(path_), 1, 2);
  expect_samples(*open_file(path_), 1, 3);
}

TEST_F(LastStep, IsNotCutOffIfItsListIsDamagedAsWell) {
  for (const uint64_t offset : {list_.offset + 30, list_.offset + 60, list_.end() - 1}) {
    const Bytes broken = damaged({offset, list_.end() + 20});
    write_file(path_, broken);
    {
      const auto file = GrowingFile::append(path_);
      ASSERT_FALSE(file) << offset;
      EXPECT_EQ(file.error().kind, ErrorKind::corrupt);
      EXPECT_NE(file.error().hint.find("forebay repair"), std::string::npos);
    }
    EXPECT_EQ(read_file(path_), broken);
    const auto mended = GrowingFile::mend(path_, kMemory);
    ASSERT_TRUE(mended) << mended.error().message();
    EXPECT_EQ(mended->found, 1u);
    expect_samples(*open_file(path_), 1, 2);
    write_step(**GrowingFile::append(path_), 1, 2);
    expect_samples(*open_file(path_), 1, 3);
  }
}

TEST_F(LastStep, IsFoundAgainThoughItsListIsDamaged) {
  for (uint64_t offset = list_.offset; offset < list_.end(); ++offset) {
    write_file(path_, damaged({offset}));
    const auto mended = GrowingFile::mend(path_, kMemory);
    ASSERT_TRUE(mended) << offset << ": " << mended.error().message();
    EXPECT_EQ(mended->found, 1u);
    EXPECT_EQ(mended->steps, 2u);
    expect_samples(*open_file(path_), 1, 2);
  }
}

TEST_F(LastStep, IsGivenUpWhenNothingOfItIsWholeButTheTrailer) {
  Bytes broken = bytes_;
  std::fill(broken.begin() + static_cast<ptrdiff_t>(first_end_), broken.begin() + static_cast<ptrdiff_t>(list_.end()),
            std::byte{0xaa});
  write_file(path_, broken);
  EXPECT_FALSE(GrowingFile::append(path_));
  const auto mended = GrowingFile::mend(path_, kMemory);
  ASSERT_TRUE(mended) << mended.error().message();
  EXPECT_EQ(mended->found, 0u);
  EXPECT_EQ(mended->steps, 1u);
  expect_samples(*open_file(path_), 1, 1);
  write_step(**GrowingFile::append(path_), 1, 1);
  expect_samples(*open_file(path_), 1, 2);
}

TEST_F(LastStep, IsGivenUpWhenMendingFindsNothingOfIt) {
  Bytes broken = bytes_;
  std::fill(broken.begin() + static_cast<ptrdiff_t>(first_end_), broken.end(), std::byte{0xaa});
  write_file(path_, broken);
  EXPECT_FALSE(GrowingFile::append(path_));
  const auto mended = GrowingFile::mend(path_, kMemory);
  ASSERT_TRUE(mended) << mended.error().message();
  EXPECT_EQ(mended->found, 0u);
  EXPECT_EQ(mended->steps, 1u);
  write_step(**GrowingFile::append(path_), 1, 1);
  expect_samples(*open_file(path_), 1, 2);
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

}  // namespace
}  // namespace forebay::io
