// Containers with several parts: written, read, and damaged (recovery: parts_recovery_test.cc).
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/checksum.h"
#include "container/column.h"
#include "container/container.h"
#include "container/format.h"
#include "container/part_list.h"
#include "container/testing.h"

namespace forebay::container {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Parts, ComeBackInTheirOrder) {
  const std::vector<Sample> samples = parts_sample();
  const auto parts = open_parts(parts_bytes(samples));
  ASSERT_TRUE(parts) << parts.error().message();
  ASSERT_EQ(parts->entries().size(), samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(parts->entries()[i].moment, samples[i].moment);
    const auto reader = parts->open_part(i, kIndexLimit);
    ASSERT_TRUE(reader) << reader.error().message();
    expect_describes((*reader)->index(), samples[i]);
    EXPECT_TRUE((*reader)->verify_structure());
    for (uint32_t number = 0; number < samples[i].frames.size(); ++number)
      EXPECT_EQ(as_text((*reader)->read(number).value().payload), samples[i].frames[number].payload);
  }
  EXPECT_TRUE(parts->verify_structure());
}

TEST(Parts, TellWhereVariablesLieInGlobalArrays) {
  const auto parts = open_parts(parts_bytes(parts_sample()));
  const auto reader = parts->open_part(2, kIndexLimit);
  ASSERT_TRUE(reader);
  const Catalogue& catalogue = (*reader)->index().catalogue;
  const GlobalPlace* place = catalogue.global_of(catalogue.files[2].first_variable);
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(catalogue.shapes[place->shape], (Shape{12, 6}));
  EXPECT_EQ(catalogue.shapes[place->offset], (Shape{8, 0}));
  EXPECT_EQ(catalogue.global_of(catalogue.files[2].first_variable + 1), nullptr);
}

TEST(Parts, OfOneAreWhatContainersAlwaysWere) {
  const TempDir dir;
  const Sample sample = small_sample();
  ASSERT_TRUE(write_parts({&sample, 1}, dir.file("a")));
  const Bytes bytes = read_file(dir.file("a"));
  EXPECT_EQ(bytes, sample_bytes(sample));
  const auto parts = open_parts(bytes);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->entries().size(), 1u);
  EXPECT_TRUE(parts->verify_structure());
}

TEST(Parts, OfOneMayHaveAMomentAndPlaces) {
  const Sample sample = parts_sample()[1];
  const auto reader = open_bytes(sample_bytes(sample));
  ASSERT_TRUE(reader) << "readers of containers with one part read it";
  expect_describes((*reader)->index(), sample);
  EXPECT_EQ((*reader)->index().part.moment.step, 10u);
}

TEST(Parts, AreRefusedByWhatReadsOne) {
  const auto reader = open_bytes(parts_bytes(parts_sample()));
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(reader.error().what, HasSubstr("4 parts"));
}

TEST(PartsWriter, RefusesCallsOutOfTurn) {
  const TempDir dir;
  const FrameRecord frame{.number = 0, .recipe = {}, .chain = {}, .references = {}, .payload = {}, .lossy = {}};
  const auto kind_of = [](const Result<void>& result) { return result ? ErrorKind::internal : result.error().kind; };
  const auto make = [&](const std::string& name) { return *create_file(dir.file(name), {}, {}); };
  auto writer = make("a");
  EXPECT_EQ(kind_of(writer->begin_part({}, {})), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of(writer->finish()), ErrorKind::invalid_argument) << "an error must stick";
  writer = make("b");
  ASSERT_TRUE(writer->end_part({}, {}));
  EXPECT_EQ(kind_of(writer->append(frame)), ErrorKind::invalid_argument);
  writer = make("c");
  ASSERT_TRUE(writer->append(frame) && writer->end_part({}, {}) && writer->begin_part({}, {}));
  EXPECT_TRUE(writer->append(frame)) << "each part counts its frames from 0";
  EXPECT_EQ(kind_of(writer->finish()), ErrorKind::invalid_argument);
  writer = make("d");
  ASSERT_TRUE(writer->end_part({}, {}));
  EXPECT_EQ(kind_of(writer->end_part({}, {})), ErrorKind::invalid_argument);
  const auto no_time = create_file(dir.file("e"), {}, {}, {.step = 1, .time = std::nan("")});
  ASSERT_FALSE(no_time);
  EXPECT_EQ(no_time.error().kind, ErrorKind::invalid_argument);
}

TEST(PartsWriter, RefusesPlacesThatCannotBe) {
  const auto error_of = [](Shape shape, Shape offset) {
    Layout layout{.format = "pg", .variables = {}};
    layout.variables.push_back({.path = "/v",
                                .type = {},
                                .shape = {4, 5},
                                .block = {},
                                .extents = {{0, 20}},
                                .global_shape = std::move(shape),
                                .global_offset = std::move(offset)});
    Catalogue catalogue;
    catalogue.add({.name = "f", .size = 20, .link_target = {}, .format = {}}, layout, std::vector<std::string>{"v"});
    const auto valid = catalogue.validate();
    return valid ? std::string() : valid.error().what;
  };
  EXPECT_EQ(error_of({8, 5}, {4, 0}), "");
  EXPECT_EQ(error_of({}, {}), "");
  EXPECT_THAT(error_of({8, 5}, {5, 0}), HasSubstr("reaches out"));
  EXPECT_THAT(error_of({8, 4}, {0, 0}), HasSubstr("reaches out"));
  EXPECT_THAT(error_of({8, 5}, {UINT64_MAX, 0}), HasSubstr("reaches out"));
  EXPECT_THAT(error_of({8}, {4}), HasSubstr("rank"));
  EXPECT_THAT(error_of({8, 5}, {4}), HasSubstr("rank"));
}

// Lies

// Parts as short as they can be, so that every bit of them can be tried.
std::vector<Sample> tiny_parts() {
  std::vector<Sample> parts = parts_sample();
  parts.pop_back();
  for (Sample& part : parts) part.frames.resize(std::min<size_t>(part.frames.size(), 1));
  return parts;
}

TEST(PartsDamage, EveryFlippedBitIsReported) {
  const Bytes whole = parts_bytes(tiny_parts());
  ASSERT_TRUE(verify(std::make_unique<OwnedSource>(whole)));
  for (size_t bit = 0; bit < 8 * whole.size(); bit += 7) {
    Bytes bytes = whole;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto verified = verify(std::make_unique<OwnedSource>(std::move(bytes)));
    ASSERT_FALSE(verified) << "byte " << bit / 8 << " bit " << bit % 8;
    ASSERT_EQ(verified.error().kind, ErrorKind::corrupt) << verified.error().message();
  }
}

// What `bytes` are with a list of parts and a trailer behind them, whose checksums are right.
Bytes with_list(Bytes bytes, uint64_t id, std::span<const PartEntry> entries) {
  const Bytes list = *encode_parts(entries);
  const uint64_t offset = bytes.size();
  const auto append = [&](std::span<const std::byte> more) { bytes.insert(bytes.end(), more.begin(), more.end()); };
  const auto header = encode(RecordHeader{.id = id,
                                          .type = RecordType::parts,
                                          .flags = kRequired,
                                          .payload_bytes = list.size(),
                                          .meta_hash = hash64({}),
                                          .payload_hash = hash64(list)});
  append(header);
  append(list);
  append(encode(Trailer{.container_id = id,
                        .last_offset = offset,
                        .last_bytes = bytes.size() - offset,
                        .last_hash = header_hash(header),
                        .file_bytes = bytes.size() + kTrailerBytes,
                        .features = kHasParts}));
  return bytes;
}

TEST(Parts, RecordsBetweenThemAreSkipped) {
  const Bytes whole = parts_bytes(parts_sample());
  const auto known = open_parts(whole);
  const std::vector<PartEntry> entries(known->entries().begin(), known->entries().begin() + 3);
  const uint64_t id = load_le<uint64_t>(whole.data() + kFileHeaderBytes + 8);
  // In place of the last part there is another record.
  const auto verified = [&](RecordHeader header) {
    const Bytes payload(100);
    header.payload_bytes = payload.size();
    header.meta_hash = hash64({});
    header.payload_hash = hash64(payload);
    const auto encoded = encode(header);
    Bytes bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(entries.back().end()));
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return verify(std::make_unique<OwnedSource>(with_list(std::move(bytes), id, entries)));
  };
  EXPECT_TRUE(verified({.id = id}));
  EXPECT_TRUE(verified({.id = id, .type = static_cast<RecordType>(99)}));
  EXPECT_EQ(verified({.id = id, .type = static_cast<RecordType>(99), .flags = kRequired}).error().kind,
            ErrorKind::unsupported);
  EXPECT_EQ(verified({.id = id + 1}).error().kind, ErrorKind::corrupt);
  for (const RecordType type : {RecordType::head, RecordType::frame, RecordType::index, RecordType::parts})
    EXPECT_EQ(verified({.id = id, .type = type}).error().kind, ErrorKind::corrupt);
}

class LyingList : public ::testing::Test {
 protected:
  LyingList() {
    const auto parts = open_parts(whole_);
    entries_.assign(parts->entries().begin(), parts->entries().end());
  }

  // The container with this list in place of its own.
  Bytes changed() const {
    const std::byte* trailer = whole_.data() + whole_.size() - kTrailerBytes;
    const auto offset = static_cast<ptrdiff_t>(load_le<uint64_t>(trailer + 16));
    return with_list(Bytes(whole_.begin(), whole_.begin() + offset), load_le<uint64_t>(trailer + 8), entries_);
  }

  Error refusal() const {
    const auto verified = verify(std::make_unique<OwnedSource>(changed()));
    if (verified) return {};
    EXPECT_EQ(verified.error().kind, ErrorKind::corrupt) << verified.error().message();
    EXPECT_THAT(verified.error().hint, HasSubstr("repair"));
    return verified.error();
  }

  const Bytes whole_ = parts_bytes(parts_sample());
  std::vector<PartEntry> entries_;
};

TEST_F(LyingList, IsTheOneThatWasWritten) { EXPECT_EQ(changed(), whole_); }

TEST_F(LyingList, ThatIsEmpty) {
  entries_.clear();
  EXPECT_THAT(refusal().what, HasSubstr("there is none"));
}

TEST_F(LyingList, ThatSwapsParts) {
  std::swap(entries_[1], entries_[2]);
  EXPECT_THAT(refusal().what, HasSubstr("where it cannot"));
}

TEST_F(LyingList, ThatLeavesOneOut) {
  entries_.erase(entries_.begin() + 2);
  const auto parts = open_parts(changed());
  ASSERT_TRUE(parts);
  EXPECT_FALSE(parts->verify_structure()) << "there are records that belong to nothing";
  EXPECT_TRUE(parts->open_part(1, kIndexLimit));
  const auto reader = parts->open_part(2, kIndexLimit);
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().what, HasSubstr("not that of part 2"));
}

TEST_F(LyingList, ThatNamesAPartTwice) {
  entries_[2] = entries_[1];
  EXPECT_THAT(refusal().what, HasSubstr("where it cannot"));
}

TEST_F(LyingList, ThatReachesOutOfTheFile) {
  for (const uint64_t far : {uint64_t{1} << 40, UINT64_MAX, UINT64_MAX - 100}) {
    auto good = entries_;
    entries_[3].index_bytes = far;
    EXPECT_THAT(refusal().what, HasSubstr("where it cannot")) << far;
    entries_ = good;
    entries_[3].index_offset = far;
    EXPECT_THAT(refusal().what, HasSubstr("where it cannot")) << far;
    entries_ = good;
    entries_[3].offset = far;
    EXPECT_THAT(refusal().what, HasSubstr("where it cannot")) << far;
    entries_ = good;
  }
}

TEST_F(LyingList, ThatMovesTheFirstPart) {
  entries_[0].offset += 8;
  EXPECT_THAT(refusal().what, HasSubstr("where the container begins"));
}

TEST_F(LyingList, ThatMovesAHead) {
  entries_[1].offset += 8;
  const auto parts = open_parts(changed());
  ASSERT_TRUE(parts);
  EXPECT_FALSE(parts->verify_structure());
  const auto reader = parts->open_part(1, kIndexLimit);
  EXPECT_TRUE(!reader || !(*reader)->verify_structure());
}

TEST_F(LyingList, ThatHasAnotherStepOrTime) {
  entries_[1].moment.step = 11;
  EXPECT_THAT(refusal().what, HasSubstr("not that of part 1"));
  entries_[1].moment = {.step = 10, .time = std::nullopt};
  EXPECT_THAT(refusal().what, HasSubstr("not that of part 1"));
  entries_[1].moment = {.step = 10, .time = INFINITY};
  EXPECT_THAT(refusal().what, HasSubstr("no number"));
}

TEST_F(LyingList, ThatHasAnotherHash) {
  entries_[3].index_hash ^= 1;
  EXPECT_THAT(refusal().what, HasSubstr("the list of parts describes"));
}

TEST(PartsMemory, KeepsToItsLimit) {
  std::vector<Sample> many(3000);
  for (size_t i = 0; i < many.size(); ++i) many[i].moment.step = i;
  const Bytes bytes = parts_bytes(many);
  const auto refused = open_parts(bytes, 50'000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::limit) << refused.error().message();
  const auto parts = open_parts(bytes, 1 << 20);
  ASSERT_TRUE(parts) << parts.error().message();
  EXPECT_EQ(parts->entries().size(), 3000u);
  EXPECT_EQ(parts->entries()[2999].moment.step, 2999u);
  EXPECT_TRUE(parts->open_part(2999, 100'000));
}

TEST(PartsMemory, AForgedListIsBoundedByItsSize) {
  for (const uint64_t count : {uint64_t{1} << 32, uint64_t{1} << 62, UINT64_MAX}) {
    ColumnWriter out;
    const auto offsets = fb::CreateColumn(out.builder(), count);
    fb::PartsBuilder table(out.builder());
    table.add_offsets(offsets);
    const Bytes list = *out.finish(table.Finish());
    const auto parts = decode_parts(list, UINT64_MAX, UINT64_MAX);
    ASSERT_FALSE(parts);
    EXPECT_EQ(parts.error().kind, ErrorKind::corrupt) << parts.error().message();
  }
}

}  // namespace
}  // namespace forebay::container
