// Containers with several parts, of which a part was lost: what a recovery finds, and writes again.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "container/container.h"
#include "container/format.h"
#include "container/part_list.h"
#include "container/testing.h"

namespace forebay::container {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PartsRecovery : public ::testing::Test {
 protected:
  PartsRecovery() {
    const auto parts = open_parts(whole_);
    entries_.assign(parts->entries().begin(), parts->entries().end());
  }

  Result<Recovered> recover_bytes(Bytes bytes) const {
    return recover(OwnedSource(std::move(bytes)), kIndexLimit, sizes_of(samples_), [](auto) { return std::nullopt; });
  }

  void wipe(Bytes& bytes, uint64_t begin, uint64_t end) const {
    std::fill(bytes.begin() + static_cast<ptrdiff_t>(begin), bytes.begin() + static_cast<ptrdiff_t>(end),
              std::byte{0xaa});
  }

  static std::vector<uint64_t> numbers_of(const Recovered& recovered) {
    std::vector<uint64_t> numbers;
    for (const RecoveredPart& part : recovered.parts) numbers.push_back(part.index.part.number);
    return numbers;
  }

  // That `part` is all of `sample`, but for lists that only an index has.
  static void expect_whole(const RecoveredPart& part, const Sample& sample, bool has_index = true) {
    EXPECT_THAT(part.lost_frames, IsEmpty());
    expect_equal(part.index.catalogue, sample.catalogue);
    EXPECT_EQ(part.index.part.moment, sample.moment);
    ASSERT_EQ(part.index.frames.size(), sample.frames.size());
    for (size_t i = 0; i < sample.frames.size(); ++i)
      EXPECT_EQ(part.index.frames[i].raw_hash, sample.frames[i].raw_hash);
    EXPECT_EQ(part.index.file_crcs, has_index ? sample.file_crcs : std::vector<uint64_t>());
  }

  const std::vector<Sample> samples_ = parts_sample();
  const Bytes whole_ = parts_bytes(samples_);
  std::vector<PartEntry> entries_;
};

TEST_F(PartsRecovery, OfAWholeContainerFindsEverything) {
  const auto recovered = recover_bytes(whole_);
  ASSERT_TRUE(recovered) << recovered.error().message();
  EXPECT_THAT(recovered->remarks, IsEmpty());
  ASSERT_EQ(recovered->parts.size(), samples_.size());
  for (size_t i = 0; i < samples_.size(); ++i) expect_whole(recovered->parts[i], samples_[i]);
}

// A writer that died at any byte: whatever was ended is there, and the rest as far as it came.
TEST_F(PartsRecovery, OfAContainerThatWasNeverFinishedFindsAllPartsThatWereEnded) {
  for (size_t size = kFileHeaderBytes; size < whole_.size(); size += 5) {
    SCOPED_TRACE(size);
    size_t ended = 0;
    while (ended < entries_.size() && entries_[ended].end() <= size) ++ended;
    const Bytes bytes(whole_.begin(), whole_.begin() + static_cast<ptrdiff_t>(size));
    const auto recovered = recover_bytes(bytes);
    if (!recovered) {
      ASSERT_EQ(ended, 0u) << recovered.error().message();
      continue;
    }
    ASSERT_GE(recovered->parts.size(), ended);
    for (size_t i = 0; i < ended; ++i) expect_whole(recovered->parts[i], samples_[i]);
    for (size_t i = ended; i < recovered->parts.size(); ++i)
      expect_equal(recovered->parts[i].index.catalogue, samples_[i].catalogue);
    ASSERT_LE(recovered->parts.size(), ended + 1);
  }
}

TEST_F(PartsRecovery, RewritesWhatIsLeftAsAWholeContainer) {
  // The last part has lost its index and its last frame.
  const auto reader = open_parts(whole_)->open_part(3, kIndexLimit);
  const uint64_t cut = (*reader)->index().frames.back().record_offset + 10;
  const OwnedSource source(Bytes(whole_.begin(), whole_.begin() + static_cast<ptrdiff_t>(cut)));
  const auto recovered = recover(source, kIndexLimit, sizes_of(samples_), lossy_of(samples_[3]));
  ASSERT_TRUE(recovered) << recovered.error().message();
  EXPECT_THAT(recovered->remarks, ElementsAre(HasSubstr("the index of part 3 is lost")));
  const TempDir dir;
  const auto written = rewrite(source, *recovered, *FileSink::create(dir.file("new")));
  ASSERT_TRUE(written) << written.error().message();
  const auto parts = open_parts(read_file(dir.file("new")));
  ASSERT_TRUE(parts) << parts.error().message();
  ASSERT_EQ(parts->entries().size(), 4u);
  EXPECT_TRUE(parts->verify_structure());
  for (size_t i = 0; i < 3; ++i) {
    const auto part = parts->open_part(i, kIndexLimit);
    ASSERT_TRUE(part);
    expect_describes((*part)->index(), samples_[i]);
    EXPECT_TRUE((*part)->verify_structure());
  }
  const auto last = parts->open_part(3, kIndexLimit);
  ASSERT_TRUE(last);
  EXPECT_TRUE((*last)->index().frames.back().is_lost());
  EXPECT_EQ(as_text((*last)->read(2)->payload), samples_[3].frames[2].payload);
}

TEST_F(PartsRecovery, UsesTheHeadOrTheIndexOfAPart) {
  Bytes bytes = whole_;
  wipe(bytes, entries_[1].offset, entries_[1].offset + 100);
  wipe(bytes, entries_[2].index_offset, entries_[2].end());
  const auto recovered = recover_bytes(bytes);
  ASSERT_TRUE(recovered) << recovered.error().message();
  EXPECT_THAT(numbers_of(*recovered), ElementsAre(0, 1, 2, 3));
  expect_whole(recovered->parts[1], samples_[1]);
  expect_whole(recovered->parts[2], samples_[2], false);
}

TEST_F(PartsRecovery, LosesAPartWithNeitherAlone) {
  for (size_t lost = 0; lost < entries_.size(); ++lost) {
    SCOPED_TRACE(lost);
    Bytes bytes = whole_;
    wipe(bytes, entries_[lost].offset, entries_[lost].offset + 100);
    wipe(bytes, entries_[lost].index_offset, entries_[lost].end());
    const auto recovered = recover_bytes(bytes);
    ASSERT_TRUE(recovered) << recovered.error().message();
    ASSERT_EQ(recovered->parts.size(), 3u);
    for (size_t i = 0; i < 3; ++i) expect_whole(recovered->parts[i], samples_[i + (i >= lost ? 1 : 0)]);
    if (lost < 3) {
      EXPECT_THAT(recovered->remarks, ::testing::Contains(HasSubstr("part " + std::to_string(lost) + " is lost")));
    }
    const TempDir dir;
    const OwnedSource source(bytes);
    ASSERT_TRUE(rewrite(source, *recovered, *FileSink::create(dir.file("new"))));
    EXPECT_TRUE(verify(std::make_unique<OwnedSource>(read_file(dir.file("new")))));
  }
}

TEST_F(PartsRecovery, FindsThePartsWithoutTheFirstHeadAndTheTrailer) {
  Bytes bytes = whole_;
  wipe(bytes, 0, entries_[0].end());
  bytes.resize(entries_[3].end() + 20);
  const auto recovered = recover_bytes(bytes);
  ASSERT_TRUE(recovered) << recovered.error().message();
  EXPECT_THAT(numbers_of(*recovered), ElementsAre(1, 2, 3));
}

TEST_F(PartsRecovery, TakesPartsOfAnotherContainerForNothing) {
  // A container with parts lies, as it is, in the payload of a damaged frame of another one with parts.
  std::vector<Sample> outer = samples_;
  outer[0].moment.step = 1;
  outer[1].frames[0].payload = std::string(as_text(whole_));
  Bytes bytes = parts_bytes(outer);
  const auto reader = open_parts(bytes)->open_part(1, kIndexLimit);
  bytes[(*reader)->index().frames[0].record_offset + 20] ^= std::byte{1};
  for (const bool has_trailer : {true, false}) {
    if (!has_trailer) bytes.resize(bytes.size() - kTrailerBytes - 1);
    const auto recovered = recover_bytes(bytes);
    ASSERT_TRUE(recovered) << recovered.error().message();
    EXPECT_THAT(numbers_of(*recovered), ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(recovered->parts[0].index.part.moment.step, 1u);
    EXPECT_THAT(recovered->parts[1].lost_frames, ElementsAre(0u));
    EXPECT_THAT(recovered->parts[2].lost_frames, IsEmpty());
  }
}

TEST_F(PartsRecovery, KeepsToItsMemoryWithAllPartsTogether) {
  const std::span<const Sample> samples(samples_);
  const auto kind_within = [&](uint64_t memory, size_t parts) {
    const auto recovered = recover(OwnedSource(parts_bytes(samples.first(parts))), memory, sizes_of(samples_),
                                   [](auto) { return std::nullopt; });
    return recovered ? std::nullopt : std::optional(recovered.error().kind);
  };
  uint64_t memory = 1000;  // for one step, which takes as much as the other
  while (memory < 1'000'000 && kind_within(memory, 2)) memory += 500;
  EXPECT_EQ(kind_within(memory - 500, 2), ErrorKind::limit);
  EXPECT_EQ(kind_within(memory, 3), ErrorKind::limit);
  EXPECT_EQ(kind_within(2 * memory, 3), std::nullopt);
}

TEST_F(PartsRecovery, RandomDamageNeverBreaksIt) {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    Bytes bytes = whole_;
    for (size_t n = random() % 8; n > 0; --n) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const OwnedSource source(bytes);
    const auto recovered = recover(source, kIndexLimit, sizes_of(samples_), [](auto) { return std::nullopt; });
    if (!recovered) continue;
    for (const RecoveredPart& part : recovered->parts) {
      const Sample& sample = samples_.at(part.index.part.number);
      for (uint32_t number = 0; number < sample.frames.size() && number < part.index.frames.size(); ++number)
        if (const auto frame = read_frame(source, part.index, number)) {
          EXPECT_EQ(as_text(frame->payload), sample.frames[number].payload);
        }
    }
  }
}

}  // namespace
}  // namespace forebay::container
