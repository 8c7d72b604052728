// Writing and reading containers that nothing happened to.
#include "container/container.h"

#include <cmath>
#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "container/format.h"
#include "container/testing.h"

namespace forebay::container {
namespace {

using namespace testing;
using ::testing::HasSubstr;

void expect_round_trip(const Sample& sample) {
  const auto reader = open_bytes(sample_bytes(sample));
  ASSERT_TRUE(reader) << reader.error().message();
  expect_describes((*reader)->index(), sample);
  const auto walked = (*reader)->verify_structure();
  EXPECT_TRUE(walked) << walked.error().message();
  for (uint32_t number = 0; number < sample.frames.size(); ++number) {
    const auto frame = (*reader)->read(number);
    ASSERT_TRUE(frame) << frame.error().message();
    EXPECT_EQ(as_text(frame->recipe), sample.frames[number].recipe);
    EXPECT_EQ(as_text(frame->payload), sample.frames[number].payload);
    EXPECT_GE((*reader)->read_bytes(number), frame->recipe.size() + frame->payload.size());
  }
}

TEST(Container, SmallSampleComesBack) { expect_round_trip(small_sample()); }

TEST(Container, NothingAtAllComesBack) { expect_round_trip(Sample{}); }

TEST(Container, AMomentAndPlacesComeBack) {
  expect_round_trip(placed_sample());
  EXPECT_EQ((*open_bytes(sample_bytes(placed_sample())))->index().part.moment, (Moment{.step = 10, .time = 1.25}));
}

TEST(Container, RandomSamplesComeBack) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    expect_round_trip(random_sample(seed));
  }
}

TEST(Container, FramesMayComeInAnyOrder) {
  const TempDir dir;
  const Sample sample = small_sample();
  ASSERT_TRUE(write_sample(sample, dir.file("a"), {5, 1, 0, 4, 2, 3}));
  const auto reader = open_bytes(read_file(dir.file("a")));
  ASSERT_TRUE(reader);
  expect_describes((*reader)->index(), sample);
  EXPECT_TRUE((*reader)->verify_structure());
}

TEST(Container, SameCallsWriteSameBytes) { EXPECT_EQ(sample_bytes(small_sample()), sample_bytes(small_sample())); }

TEST(Container, WideCharacteristicsOfNarrowTypesComeBack) {
  Sample sample = small_sample();
  sample.characteristics[0].min = -0.1;  // no binary32 number
  expect_round_trip(sample);
}

TEST(Container, BytesWrittenIsTheFileSize) {
  const TempDir dir;
  const auto writer = create_file(dir.file("a"), {}, {});
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->finish({}, {}));
  EXPECT_EQ((*writer)->bytes_written(), std::filesystem::file_size(dir.file("a")));
}

TEST(Container, ManyThreadsReadAtOnce) {
  const Sample sample = small_sample();
  const auto reader = open_bytes(sample_bytes(sample));
  ASSERT_TRUE(reader);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (uint32_t i = 0; i < 200; ++i) {
        const uint32_t number = i % static_cast<uint32_t>(sample.frames.size());
        const auto frame = (*reader)->read(number);
        ASSERT_TRUE(frame);
        EXPECT_EQ(as_text(frame->payload), sample.frames[number].payload);
      }
    });
  }
}

TEST(Writer, RefusesATakenName) {
  const TempDir dir;
  write_file(dir.file("a"), as_bytes("mine"));
  const auto writer = create_file(dir.file("a"), {}, {});
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().kind, ErrorKind::exists);
  EXPECT_EQ(as_text(read_file(dir.file("a"))), "mine");
}

TEST(Writer, RefusesAnInvalidDirectory) {
  const TempDir dir;
  Catalogue catalogue;
  catalogue.add({.name = "../escape", .link_target = {}, .format = {}}, {.format = "raw", .variables = {}}, {});
  const auto writer = create_file(dir.file("a"), catalogue, {});
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(std::filesystem::file_size(dir.file("a")), 0u) << "nothing is written before it is looked at";
}

TEST(Writer, RefusesATimeThatIsNoNumber) {
  const TempDir dir;
  const auto writer = create_file(dir.file("a"), {}, {}, {.step = 1, .time = std::nan("")});
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().kind, ErrorKind::invalid_argument);
}

TEST(Writer, RefusesPlacesThatCannotBe) {
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

TEST(Writer, RefusesFramesTwiceAndFramesMissing) {
  const TempDir dir;
  const auto twice = create_file(dir.file("a"), {}, {});
  ASSERT_TRUE(twice && (*twice)->append({.number = 0, .recipe = {}, .chain = {}, .references = {}, .payload = {}}));
  EXPECT_EQ((*twice)->append({.number = 0, .recipe = {}, .chain = {}, .references = {}, .payload = {}}).error().kind,
            ErrorKind::invalid_argument);
  EXPECT_FALSE((*twice)->finish({}, {})) << "an error must stick";
  const auto missing = create_file(dir.file("b"), {}, {});
  ASSERT_TRUE(missing && (*missing)->append({.number = 1, .recipe = {}, .chain = {}, .references = {}, .payload = {}}));
  EXPECT_EQ((*missing)->finish({}, {}).error().kind, ErrorKind::invalid_argument);
}

TEST(Writer, RefusesListsOfTheWrongLength) {
  const TempDir dir;
  Sample sample = small_sample();
  sample.file_crcs.pop_back();
  EXPECT_EQ(write_sample(sample, dir.file("a")).error().kind, ErrorKind::invalid_argument);
  sample = small_sample();
  sample.characteristics.pop_back();
  EXPECT_EQ(write_sample(sample, dir.file("b")).error().kind, ErrorKind::invalid_argument);
  sample = small_sample();
  sample.frames[0].references = {77};
  EXPECT_EQ(write_sample(sample, dir.file("c")).error().kind, ErrorKind::invalid_argument);
}

TEST(Writer, SkippedFramesAreLost) {
  const TempDir dir;
  const auto writer = create_file(dir.file("a"), {}, {});
  ASSERT_TRUE(writer && (*writer)->skip(0, 4711));
  ASSERT_TRUE((*writer)->finish({}, {}));
  const auto reader = open_bytes(read_file(dir.file("a")));
  ASSERT_TRUE(reader) << reader.error().message();
  EXPECT_TRUE((*reader)->index().frames[0].is_lost());
  EXPECT_EQ((*reader)->index().frames[0].raw_bytes, 4711u);
  EXPECT_TRUE((*reader)->verify_structure());
  const auto frame = (*reader)->read(0);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().kind, ErrorKind::corrupt);
  EXPECT_NE(frame.error().message().find("frame 0"), std::string::npos);
}

// In a child, whose limit on file sizes makes every write beyond it fail. Returns 0 if the error is the right one.
int write_under_limit(const std::string& path, rlim_t limit) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit bound{limit, limit};
  if (::setrlimit(RLIMIT_FSIZE, &bound) != 0) return 2;
  const auto written = write_sample(small_sample(), path);
  if (written) return 3;
  return written.error().kind == ErrorKind::no_space && written.error().path == path ? 0 : 4;
}

TEST(Writer, AFullDiskIsAnError) {
  const TempDir dir;
  const uint64_t whole = sample_bytes(small_sample()).size();
  for (const uint64_t limit : {uint64_t{0}, uint64_t{10}, whole / 2, whole - 1}) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(write_under_limit(dir.file("f" + std::to_string(limit)), limit));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "at " << limit;
  }
}

TEST(Reader, SaysWhichVersionIsNeeded) {
  Bytes bytes = sample_bytes(small_sample());
  store_le<uint32_t>(bytes.data() + 8, 2);
  store_le<uint32_t>(bytes.data() + 12, ~2u);
  const auto reader = open_bytes(bytes);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, ErrorKind::unsupported);
  EXPECT_NE(reader.error().message().find("version 2"), std::string::npos);
}

TEST(Reader, KeepsToItsLimit) {
  const Bytes bytes = sample_bytes(random_sample(3));
  size_t refused = 0;
  for (const uint64_t limit : {100, 1000, 5000, 20'000}) {
    const auto reader = open_bytes(bytes, limit);
    if (reader) continue;
    EXPECT_EQ(reader.error().kind, ErrorKind::limit) << reader.error().message();
    ++refused;
  }
  EXPECT_GE(refused, 2u);
  EXPECT_TRUE(open_bytes(bytes, 1 << 20));
}

TEST(Reader, RefusesAFrameThatIsNotThere) {
  const auto reader = open_bytes(sample_bytes(small_sample()));
  ASSERT_TRUE(reader);
  EXPECT_EQ((*reader)->read(6).error().kind, ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace forebay::container
