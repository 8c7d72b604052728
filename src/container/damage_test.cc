// What happened to a container is noticed, and what is left of it is found again.
#include <functional>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/checksum.h"
#include "container/format.h"
#include "container/record.h"
#include "container/testing.h"

namespace forebay::container {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Few frames and variables, so that every bit can be tried.
Sample tiny_sample() {
  Sample sample = small_sample();
  sample.frames.resize(4);
  return sample;
}

TEST(Damage, EveryFlippedBitIsReported) {
  const Bytes whole = sample_bytes(tiny_sample());
  ASSERT_LT(whole.size(), 10'000u);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes bytes = whole;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto verified = verify(std::make_unique<OwnedSource>(std::move(bytes)));
    ASSERT_FALSE(verified) << "byte " << bit / 8 << " bit " << bit % 8;
    ASSERT_EQ(verified.error().kind, ErrorKind::corrupt) << verified.error().message();
  }
}

TEST(Damage, EveryTruncationIsReported) {
  const Bytes whole = sample_bytes(tiny_sample());
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto reader = open_bytes(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
    ASSERT_FALSE(reader) << "at " << size;
    ASSERT_EQ(reader.error().kind, ErrorKind::corrupt);
    ASSERT_NE(reader.error().hint.find("repair"), std::string::npos);
  }
}

// A container with one more record in front of its index.
Bytes with_record(const Sample& sample, const std::function<RecordHeader(uint64_t id)>& header_of,
                  const Bytes& meta = {}) {
  Bytes bytes = sample_bytes(sample);
  const Bytes payload(100);
  const Trailer before = *read_trailer(OwnedSource(bytes), bytes.size() - kTrailerBytes);
  RecordHeader header = header_of(before.container_id);
  header.payload_bytes = payload.size();
  header.meta_bytes = static_cast<uint32_t>(meta.size());
  header.meta_hash = hash64(meta);
  header.payload_hash = hash64(payload);
  const auto encoded = encode(header);
  Bytes record(encoded.begin(), encoded.end());
  record.insert(record.end(), meta.begin(), meta.end());
  record.insert(record.end(), payload.begin(), payload.end());
  bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(before.last.offset), record.begin(), record.end());
  Trailer after = before;
  after.last.offset += record.size();
  after.file_bytes += record.size();
  std::ranges::copy(encode(after), bytes.end() - kTrailerBytes);
  return bytes;
}

TEST(Damage, RecordsThatNobodyKnowsAreSkippedUnlessTheyAreRequired) {
  const auto verified = [](RecordType type, uint8_t flags, uint64_t more = 0) {
    return verify(std::make_unique<OwnedSource>(with_record(
        tiny_sample(), [&](uint64_t id) { return RecordHeader{.id = id + more, .type = type, .flags = flags}; })));
  };
  constexpr auto kUnknown = static_cast<RecordType>(99);
  EXPECT_TRUE(verified(RecordType::padding, 0));
  EXPECT_TRUE(verified(kUnknown, 0));
  EXPECT_EQ(verified(kUnknown, kRequired).error().kind, ErrorKind::unsupported);
  EXPECT_EQ(verified(RecordType::padding, 0, 1).error().kind, ErrorKind::corrupt);
  for (const RecordType type : {RecordType::head, RecordType::frame, RecordType::index, RecordType::groups})
    EXPECT_EQ(verified(type, 0).error().kind, ErrorKind::corrupt);
}

TEST(Damage, ReadNamesFrameFileAndOffset) {
  const Sample sample = tiny_sample();
  Bytes bytes = sample_bytes(sample);
  const uint64_t offset = (*open_bytes(bytes))->index().frames[2].record_offset;
  bytes[offset + kRecordHeaderBytes + 50] ^= std::byte{1};
  const auto reader = open_bytes(bytes);
  ASSERT_TRUE(reader);
  EXPECT_TRUE((*reader)->read(1));
  const auto frame = (*reader)->read(2);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().path, "test.fbc");
  EXPECT_GE(frame.error().offset.value(), offset);
  EXPECT_NE(frame.error().what.find("frame 2"), std::string::npos);
}

TEST(Damage, TwoFramesSwappedAreReported) {
  Sample sample = tiny_sample();
  sample.frames[1] = sample.frames[0];
  sample.frames[1].references = {};
  sample.frames[1].raw_hash ^= 1;
  Bytes bytes = sample_bytes(sample);
  const auto frames = (*open_bytes(bytes))->index().frames;
  const auto first = static_cast<ptrdiff_t>(frames[0].record_offset),
             second = static_cast<ptrdiff_t>(frames[1].record_offset);
  ASSERT_EQ(second - first, static_cast<ptrdiff_t>(frames[2].record_offset) - second);
  std::swap_ranges(bytes.begin() + first, bytes.begin() + second, bytes.begin() + second);
  const auto reader = open_bytes(bytes);
  ASSERT_TRUE(reader);
  EXPECT_FALSE((*reader)->verify_structure());
  EXPECT_EQ((*reader)->read(0).error().kind, ErrorKind::corrupt);
  EXPECT_EQ((*reader)->read(1).error().kind, ErrorKind::corrupt);
}

// Recovery

struct Places {
  uint64_t head = kFileHeaderBytes, index = 0, trailer = 0;
  std::vector<uint64_t> frames;
};

Places places_of(const Bytes& bytes) {
  const auto reader = open_bytes(bytes);
  Places layout{.trailer = bytes.size() - kTrailerBytes, .frames = {}};
  layout.index = load_le<uint64_t>(bytes.data() + layout.trailer + 16);
  for (const FrameEntry& frame : (*reader)->index().frames) layout.frames.push_back(frame.record_offset);
  return layout;
}

void wipe(Bytes& bytes, uint64_t begin, uint64_t end) {
  std::fill(bytes.begin() + static_cast<ptrdiff_t>(begin), bytes.begin() + static_cast<ptrdiff_t>(end),
            std::byte{0xaa});
}

Result<Recovered> recover_bytes(Bytes bytes, const Sample& sample) {
  return recover(OwnedSource(std::move(bytes)), {kIndexLimit, sizes_of(sample), lossy_of(sample)});
}

// That all frames but `lost` can be read by what was recovered, and that a rewritten container is whole.
void expect_recovers(const Bytes& bytes, const Sample& sample, const std::vector<uint32_t>& lost, bool index_is_left) {
  const OwnedSource source(bytes);
  const auto recovered = recover(source, {kIndexLimit, sizes_of(sample), lossy_of(sample)});
  ASSERT_TRUE(recovered) << recovered.error().message();
  EXPECT_EQ(recovered->part.lost_frames, lost);
  expect_equal(recovered->part.index.catalogue, sample.catalogue);
  expect_equal(recovered->part.index.plan, sample.plan);
  EXPECT_EQ(recovered->part.index.file_crcs.empty(), !index_is_left);
  EXPECT_EQ(recovered->part.index.characteristics.empty(), !index_is_left);

  const TempDir dir;
  const auto rewritten = rewrite(source, *recovered, *FileSink::create(dir.file("new")));
  ASSERT_TRUE(rewritten) << rewritten.error().message();
  const auto reader = open_bytes(read_file(dir.file("new")));
  ASSERT_TRUE(reader) << reader.error().message();
  EXPECT_TRUE((*reader)->verify_structure());
  ASSERT_EQ((*reader)->index().frames.size(), sample.frames.size());
  for (uint32_t number = 0; number < sample.frames.size(); ++number) {
    const bool is_lost = std::ranges::find(lost, number) != lost.end();
    const auto frame = (*reader)->read(number);
    ASSERT_EQ(frame.has_value(), !is_lost) << number;
    EXPECT_EQ((*reader)->index().frames[number].raw_bytes, sample.frames[number].raw_bytes);
    EXPECT_EQ((*reader)->index().frames[number].lossy, is_lost ? std::nullopt : sample.frames[number].lossy);
    if (frame) {
      EXPECT_EQ(as_text(frame->payload), sample.frames[number].payload);
    }
  }
}

Sample sample_with_loss() {
  Sample sample = small_sample();
  sample.frames[4].lossy = LossyNote{.bound = {BoundKind::relative, 1e-3}, .error = 4e-4};
  return sample;
}

class Recovery : public ::testing::Test {
 protected:
  const Sample sample_ = sample_with_loss();
  Bytes bytes_ = sample_bytes(sample_);
  const Places layout_ = places_of(bytes_);
};

TEST_F(Recovery, OfAWholeContainerFindsEverything) {
  expect_recovers(bytes_, sample_, {}, true);
  EXPECT_THAT(recover_bytes(bytes_, sample_)->remarks, IsEmpty());
}

TEST_F(Recovery, WithoutTrailer) {
  wipe(bytes_, layout_.trailer, bytes_.size());
  EXPECT_FALSE(open_bytes(bytes_));
  expect_recovers(bytes_, sample_, {}, true);
}

TEST_F(Recovery, WithoutIndex) {
  wipe(bytes_, layout_.index, layout_.trailer);
  EXPECT_FALSE(open_bytes(bytes_));
  expect_recovers(bytes_, sample_, {}, false);
}

TEST_F(Recovery, WithoutIndexAndTrailer) {
  bytes_.resize(layout_.index + 5);
  expect_recovers(bytes_, sample_, {}, false);
}

TEST_F(Recovery, WithoutHead) {
  wipe(bytes_, 0, layout_.frames[0]);
  expect_recovers(bytes_, sample_, {}, true);
}

TEST_F(Recovery, WithoutAnyDirectoryIsImpossible) {
  wipe(bytes_, layout_.head, layout_.frames[0]);
  wipe(bytes_, layout_.index, bytes_.size());
  const auto recovered = recover_bytes(bytes_, sample_);
  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().kind, ErrorKind::corrupt);
}

TEST_F(Recovery, LosesADamagedFrameAlone) {
  bytes_[layout_.frames[2] - 1] ^= std::byte{4};  // the last byte of frame 1's payload
  expect_recovers(bytes_, sample_, {1}, true);
  EXPECT_THAT(recover_bytes(bytes_, sample_)->remarks, ::testing::SizeIs(1));
}

TEST_F(Recovery, LosesAFrameWhoseHeaderIsDamaged) {
  bytes_[layout_.frames[3] + 20] ^= std::byte{4};
  wipe(bytes_, layout_.index, bytes_.size());
  expect_recovers(bytes_, sample_, {3}, false);
}

TEST_F(Recovery, FindsTheNextRecordAfterForeignBytes) {
  const Bytes garbage(3000, std::byte{0xf5});  // the marker's first byte
  for (const uint64_t at : {layout_.head, layout_.frames[2], layout_.index, layout_.trailer}) {
    Bytes bytes = bytes_;
    bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at), garbage.begin(), garbage.end());
    expect_recovers(bytes, sample_, {}, true);
  }
  Bytes inside = bytes_;
  inside.insert(inside.begin() + static_cast<ptrdiff_t>(layout_.frames[2] - 5), garbage.begin(), garbage.end());
  expect_recovers(inside, sample_, {1}, true);
}

TEST_F(Recovery, FindsRecordsAcrossWindowBorders) {
  Sample sample = sample_;
  for (auto& frame : sample.frames) frame.payload = std::string(100'000, 'x');
  for (size_t shift = 0; shift < 60; shift += 3) {
    sample.frames[0].payload = std::string(65'536 - 1000 - shift * 7, 'y');
    Bytes bytes = sample_bytes(sample);
    wipe(bytes, 16, 17);
    expect_recovers(bytes, sample, {}, true);
  }
}

TEST_F(Recovery, TakesARecordOfAnotherContainerForNothing) {
  // A container lies, as it is, in the payload of a damaged frame of another one with the same frame numbers.
  Sample outer = sample_;
  outer.catalogue.files[0].mtime_s += 1;
  outer.frames[0].payload = std::string(as_text(bytes_));
  Bytes bytes = sample_bytes(outer);
  const Places layout = places_of(bytes);
  bytes[layout.frames[0] + 20] ^= std::byte{1};
  expect_recovers(bytes, outer, {0}, true);
  wipe(bytes, layout.index, bytes.size());
  expect_recovers(bytes, outer, {0}, false);
}

TEST_F(Recovery, LosesFramesThatContradictThePlan) {
  Sample other = sample_;
  other.frames[4].raw_bytes += 1;
  wipe(bytes_, layout_.index, bytes_.size());
  const auto recovered = recover_bytes(bytes_, other);
  ASSERT_TRUE(recovered);
  EXPECT_THAT(recovered->part.lost_frames, ElementsAre(4u));
}

TEST_F(Recovery, OfACopyOfARewrittenContainerKeepsFramesLost) {
  bytes_[layout_.frames[1] + 20] ^= std::byte{4};
  const TempDir dir;
  const OwnedSource source(bytes_);
  ASSERT_TRUE(rewrite(source, *recover(source, {kIndexLimit, sizes_of(sample_), lossy_of(sample_)}),
                      *FileSink::create(dir.file("new"))));
  expect_recovers(read_file(dir.file("new")), sample_, {1}, true);
}

// A writer that died at any byte: what it had written is there.
TEST_F(Recovery, OfAContainerThatWasNeverFinishedFindsAllFramesThatWereWritten) {
  const uint64_t head_end = layout_.frames[0];
  for (size_t size = kFileHeaderBytes; size < bytes_.size(); size += 5) {
    SCOPED_TRACE(size);
    const auto recovered = recover_bytes(Bytes(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(size)), sample_);
    ASSERT_EQ(recovered.has_value(), size >= head_end);
    if (!recovered) continue;
    expect_equal(recovered->part.index.catalogue, sample_.catalogue);
    EXPECT_EQ(recovered->part.has_index, size >= layout_.trailer);
    for (uint32_t number = 0; number < layout_.frames.size(); ++number) {
      const uint64_t end = number + 1 < layout_.frames.size() ? layout_.frames[number + 1] : layout_.index;
      EXPECT_EQ(recovered->part.index.frames[number].is_lost(), end > size) << number;
    }
  }
}

TEST_F(Recovery, KeepsToItsMemory) {
  const auto kind_within = [&](uint64_t memory) {
    const auto recovered = recover(OwnedSource(bytes_), {memory, sizes_of(sample_), lossy_of(sample_)});
    return recovered ? std::nullopt : std::optional(recovered.error().kind);
  };
  for (const uint64_t memory : {100, 1000, 3000}) EXPECT_EQ(kind_within(memory), ErrorKind::limit) << memory;
  EXPECT_EQ(kind_within(1 << 20), std::nullopt);
}

TEST_F(Recovery, LeavesFilesOfProcessGroupsAlone) {
  const OwnedSource source(read_file(FOREBAY_SOURCE_DIR "/tests/golden/v1-groups.fbc"));
  const auto recovered = recover(source, {kIndexLimit, sizes_of(sample_), lossy_of(sample_)});
  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().kind, ErrorKind::unsupported);
}

// Counts what is read of it.
class CountingSource final : public ByteSource {
 public:
  explicit CountingSource(Bytes bytes) : source_(std::move(bytes)) {}
  const std::string& name() const override { return source_.name(); }
  uint64_t size() const override { return source_.size(); }
  Result<void> read_at(uint64_t offset, std::span<std::byte> out) const override {
    bytes_read_ += out.size();
    most_at_once_ = std::max<uint64_t>(most_at_once_, out.size());
    return source_.read_at(offset, out);
  }
  uint64_t bytes_read() const { return bytes_read_; }
  uint64_t most_at_once() const { return most_at_once_; }

 private:
  OwnedSource source_;
  mutable uint64_t bytes_read_ = 0, most_at_once_ = 0;
};

TEST_F(Recovery, TakesLinearTimeOnOverlappingClaims) {
  // Headers that all claim the rest of the file as their payload, and all are wrong.
  Bytes bytes;
  constexpr size_t kSize = 2'000'000;
  while (bytes.size() < kSize) {
    const auto header =
        encode(RecordHeader{.payload_bytes = kSize - bytes.size() - kRecordHeaderBytes, .meta_hash = hash64({})});
    bytes.insert(bytes.end(), header.begin(), header.end());
  }
  const CountingSource source(std::move(bytes));
  EXPECT_FALSE(recover(source, {kIndexLimit, sizes_of(sample_), lossy_of(sample_)}));
  EXPECT_LT(source.bytes_read(), 10 * source.size());
}

TEST_F(Recovery, CountsTheListOfRecordsAsMemory) {
  constexpr uint64_t kRecords = 30'000;
  for (const bool of_one_part : {false, true}) {
    Bytes bytes = bytes_;
    for (uint64_t i = 1; i <= kRecords; ++i) {
      const auto record =
          encode(RecordHeader{.id = of_one_part ? 1 : i, .meta_hash = hash64({}), .payload_hash = hash64({})});
      bytes.insert(bytes.end(), record.begin(), record.end());
    }
    const OwnedSource source(std::move(bytes));
    const auto refused = recover(source, {kRecords * 100, sizes_of(sample_), lossy_of(sample_)});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::limit);
    EXPECT_EQ(refused.error().hint, "raise --memory");
    EXPECT_TRUE(recover(source, {kRecords * 1000, sizes_of(sample_), lossy_of(sample_)}));
  }
}

TEST(Damage, MetaThatNobodyNeedsTakesNoMemory) {
  const Sample sample = tiny_sample();
  constexpr uint64_t kMost = 1 << 20;
  const auto padding = [](uint64_t id) { return RecordHeader{.id = id}; };
  const auto source = std::make_shared<CountingSource>(with_record(sample, padding, Bytes(8 * kMost)));
  EXPECT_TRUE(recover(*source, {kMost, sizes_of(sample), lossy_of(sample)}));
  const auto reader = Reader::open(source, kMost);
  ASSERT_TRUE(reader);
  EXPECT_TRUE((*reader)->verify_structure());
  EXPECT_LE(source->most_at_once(), kMost);
}

TEST(Damage, RandomDamageNeverBreaksRecovery) {
  const Sample sample = small_sample();
  const Bytes whole = sample_bytes(sample);
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    Bytes bytes = whole;
    for (size_t n = random() % 6; n > 0; --n) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const OwnedSource source(std::move(bytes));
    const auto recovered = recover(source, {kIndexLimit, sizes_of(sample), lossy_of(sample)});
    if (!recovered) continue;
    for (uint32_t number = 0; number < sample.frames.size(); ++number) {
      const auto frame = read_frame(source, recovered->part.index, number);
      if (!frame) continue;
      EXPECT_EQ(as_text(frame->payload), sample.frames[number].payload);
    }
  }
}

}  // namespace
}  // namespace forebay::container
