#include "mpiio/transfer.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpiio/pattern_model.h"

namespace forebay::lock::mpiio {
namespace {

using Content = std::vector<uint8_t>;

const BeforeCall kAllowed = [] { return Result<void>(); };

// An unnamed file.
class File {
 public:
  File() {
    std::string path = testing::TempDir() + "forebay-transfer-XXXXXX";
    fd_ = mkstemp(path.data());
    unlink(path.c_str());
  }
  ~File() { close(fd_); }
  int fd() const { return fd_; }

  void fill(const Content& content) {
    EXPECT_EQ(ftruncate(fd_, 0), 0);
    EXPECT_EQ(pwrite(fd_, content.data(), content.size(), 0), static_cast<ssize_t>(content.size()));
  }
  uint64_t size() const {
    struct stat status = {};
    EXPECT_EQ(fstat(fd_, &status), 0);
    return static_cast<uint64_t>(status.st_size);
  }
  Content content() const {
    Content content(size());
    EXPECT_EQ(pread(fd_, content.data(), content.size(), 0), static_cast<ssize_t>(content.size()));
    return content;
  }

 private:
  int fd_ = -1;
};

// Random memory, a random view and some of its data.
struct Request {
  View view;
  uint64_t data_begin = 0, data_end = 0;
  Memory memory;
  Content bytes;                // that hold the memory
  std::vector<int64_t> file;    // the offset of each byte of data there,
  std::vector<int64_t> inside;  // and in `bytes`
  bool monotone = false;
};

Request random_request(PatternMaker& maker) {
  Request request;
  request.monotone = maker.number(0, 1);
  Modelled filetype = maker.make(static_cast<int>(maker.number(1, 4)), request.monotone);
  Modelled datatype = maker.make(static_cast<int>(maker.number(0, 3)), maker.number(0, 1));
  if (filetype.bytes.empty()) datatype = {};
  request.memory = {nullptr, datatype.pattern, static_cast<uint64_t>(maker.number(0, 4))};
  request.data_begin = static_cast<uint64_t>(maker.number(0, 2 * static_cast<int64_t>(filetype.bytes.size())));
  uint64_t size = request.memory.size();
  request.data_end = request.data_begin + size;
  request.view = {.displacement = 0, .etype_size = 1, .filetype = filetype.pattern};

  request.inside = model_bytes(datatype, 0, 0, size);
  request.file = model_bytes(filetype, 0, request.data_begin, request.data_end);
  if (size == 0) return request;
  request.view.displacement = maker.number(0, 50) - std::min<int64_t>(0, *std::ranges::min_element(request.file));
  for (int64_t& offset : request.file) offset += request.view.displacement;
  int64_t lowest = *std::ranges::min_element(request.inside);
  for (int64_t& offset : request.inside) offset -= lowest;
  request.bytes.resize(static_cast<size_t>(*std::ranges::max_element(request.inside)) + 1);
  for (uint8_t& byte : request.bytes) byte = static_cast<uint8_t>(maker.number(0, 255));
  request.memory.base = reinterpret_cast<void*>(reinterpret_cast<intptr_t>(request.bytes.data()) - lowest);
  return request;
}

Content random_content(PatternMaker& maker, int64_t most) {
  Content content(static_cast<size_t>(maker.number(0, most)));
  for (uint8_t& byte : content) byte = static_cast<uint8_t>(maker.number(0, 255));
  return content;
}

void expect_writes_as_the_model(uint32_t seed, Sieve sieve) {
  PatternMaker maker(seed);
  File file;
  for (int i = 0; i < 1500; ++i) {
    Request request = random_request(maker);
    Content expected = random_content(maker, 1000);
    file.fill(expected);
    for (size_t k = 0; k < request.file.size(); ++k) {
      size_t offset = static_cast<size_t>(request.file[k]);
      if (offset >= expected.size()) expected.resize(offset + 1);
      expected[offset] = request.bytes[static_cast<size_t>(request.inside[k])];
    }
    Result<uint64_t> written = write(file.fd(), request.view, request.data_begin, request.memory, sieve, kAllowed);
    ASSERT_TRUE(written) << written.error().message();
    ASSERT_EQ(*written, request.file.size());
    ASSERT_EQ(file.content(), expected) << i;
  }
}

TEST(Write, ChangesExactlyTheBytesOfTheRequest) { expect_writes_as_the_model(1, Sieve::never); }

TEST(Write, WithSievingLeavesTheSameFile) { expect_writes_as_the_model(2, Sieve::holes); }

TEST(Read, FillsExactlyTheMemoryOfTheRequestUpToTheEndOfTheFile) {
  PatternMaker maker(3);
  File file;
  for (int i = 0; i < 1500; ++i) {
    Request request = random_request(maker);
    Content content = random_content(maker, 1000);
    file.fill(content);
    Content expected = request.bytes;
    size_t present = 0;
    for (; present < request.file.size() && static_cast<size_t>(request.file[present]) < content.size(); ++present)
      expected[static_cast<size_t>(request.inside[present])] = content[static_cast<size_t>(request.file[present])];
    Result<uint64_t> moved = read(file.fd(), request.view, request.data_begin, request.memory, kAllowed);
    ASSERT_TRUE(moved) << moved.error().message();
    ASSERT_EQ(*moved, present) << i;
    ASSERT_EQ(request.bytes, expected) << i;
  }
}

// `count` pieces of `length` bytes, `stride` apart.
Pattern pieces(uint64_t count, uint64_t length, int64_t stride) {
  return *Pattern::loop(count, stride, Pattern::bytes(length), 0, static_cast<int64_t>(count) * stride);
}

Content numbered(size_t size) {
  Content content(size);
  for (size_t i = 0; i < size; ++i) content[i] = static_cast<uint8_t>(i * 7 + i / 251);
  return content;
}

// Writes all of `memory` to a contiguous file and reads it back into other memory; returns the number of calls.
size_t round_trip(Content& from, const Pattern& datatype) {
  File file;
  View view;
  size_t calls = 0;
  BeforeCall counted = [&] {
    ++calls;
    return Result<void>();
  };
  Content to = from;
  std::vector<int64_t> offsets = cursor_bytes(datatype, 0, 0, datatype.size());
  for (int64_t offset : offsets) to[static_cast<size_t>(offset)] ^= 0xff;
  EXPECT_EQ(*write(file.fd(), view, 100, {from.data(), datatype, 1}, Sieve::never, counted), datatype.size());
  EXPECT_EQ(file.size(), 100 + datatype.size());
  EXPECT_EQ(*read(file.fd(), view, 100, {to.data(), datatype, 1}, kAllowed), datatype.size());
  EXPECT_TRUE(from == to);
  return calls;
}

TEST(Transfer, OfMuchContiguousMemoryTakesFewCalls) {
  Content from = numbered((20u << 20) + 1);
  EXPECT_EQ(round_trip(from, Pattern::bytes(from.size())), 3u);
}

TEST(Transfer, OfManyLargePiecesOfMemoryGathersThem) {
  Content from = numbered(3000 * 1000);
  EXPECT_EQ(round_trip(from, pieces(3000, 600, 1000)), 3u);
}

TEST(Transfer, OfManySmallPiecesOfMemoryPacksThem) {
  for (uint64_t length : {1, 4, 8, 16, 24}) {
    Content from = numbered(300'000 * 40);
    EXPECT_EQ(round_trip(from, pieces(300'000, length, 40)),
              (300'000 * length + kCallBytes / 2 - 1) / (kCallBytes / 2));
  }
}

TEST(Transfer, JoinsSegmentsThatAdjoinAcrossRepetitions) {
  Part parts[] = {{0, Pattern::bytes(8)}, {16, Pattern::bytes(8)}};
  View view{.displacement = 0, .etype_size = 1, .filetype = *Pattern::sequence(parts, 0, 24)};
  Content from = numbered(16 * 100);
  File file;
  size_t calls = 0;
  BeforeCall counted = [&] {
    ++calls;
    return Result<void>();
  };
  ASSERT_TRUE(write(file.fd(), view, 0, {from.data(), Pattern::bytes(from.size()), 1}, Sieve::never, counted));
  EXPECT_EQ(calls, 101u);
}

TEST(Transfer, OfMoreThanFourGigabytesIsCounted) {
  Content block(8u << 20);
  Memory memory{block.data(), *Pattern::loop(600, 0, Pattern::bytes(block.size()), 0, 0), 1};
  int null = open("/dev/null", O_WRONLY);
  EXPECT_EQ(*write(null, View(), 12345, memory, Sieve::never, kAllowed), uint64_t{600} << 23);
  close(null);
}

TEST(Transfer, FarIntoALargeFile) {
  File file;
  Content from = numbered(1000), to(1000);
  uint64_t far = uint64_t{5} << 32;
  ASSERT_EQ(*write(file.fd(), View(), far, {from.data(), Pattern::bytes(1000), 1}, Sieve::never, kAllowed), 1000u);
  EXPECT_EQ(file.size(), far + 1000);
  EXPECT_EQ(*read(file.fd(), View(), far, {to.data(), Pattern::bytes(1000), 1}, kAllowed), 1000u);
  EXPECT_EQ(to, from);
}

TEST(Transfer, SievesNearPiecesOnlyWhenAllowed) {
  File file;
  View view{.displacement = 0, .etype_size = 8, .filetype = Pattern::bytes(8).resized(0, 24)};
  Content from = numbered(8 * 1000), to(8 * 1000);
  Memory memory{from.data(), Pattern::bytes(from.size()), 1};
  size_t calls = 0;
  BeforeCall counted = [&] {
    ++calls;
    return Result<void>();
  };
  ASSERT_TRUE(write(file.fd(), view, 0, memory, Sieve::never, counted));
  EXPECT_EQ(std::exchange(calls, 0), 1000u);
  ASSERT_TRUE(write(file.fd(), view, 0, memory, Sieve::holes, counted));
  EXPECT_EQ(std::exchange(calls, 0), 2u);
  ASSERT_TRUE(read(file.fd(), view, 0, {to.data(), Pattern::bytes(to.size()), 1}, counted));
  EXPECT_EQ(calls, 1u);
  EXPECT_EQ(to, from);
}

TEST(Transfer, EndsWithTheErrorOfThePermit) {
  File file;
  View view{.displacement = 0, .etype_size = 1, .filetype = Pattern::bytes(8).resized(0, 16)};
  Content from = numbered(8 * 100);
  int left = 10;
  BeforeCall until = [&]() -> Result<void> {
    if (left-- == 0) return fail(ErrorKind::timeout, "the lease has ended");
    return {};
  };
  Result<uint64_t> written = write(file.fd(), view, 0, {from.data(), Pattern::bytes(800), 1}, Sieve::never, until);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::timeout);
  EXPECT_EQ(file.size(), 9 * 16 + 8u);
}

TEST(Transfer, AFullDeviceIsAnError) {
  int full = open("/dev/full", O_RDWR);
  Content from(1000);
  Result<uint64_t> written = write(full, View(), 0, {from.data(), Pattern::bytes(1000), 1}, Sieve::never, kAllowed);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::no_space);
  close(full);
}

TEST(Transfer, GoesOnAfterAShortWrite) {
  File file;
  Content from = numbered(101'000), packed;
  for (size_t i = 0; i < 50; ++i) packed.insert(packed.end(), &from[i * 1010], &from[i * 1010 + 1000]);
  packed.resize(49'500);
  rlimit old = {};
  getrlimit(RLIMIT_FSIZE, &old);
  auto handler = signal(SIGXFSZ, SIG_IGN);
  rlimit small = {49'500, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  size_t calls = 0;
  BeforeCall counted = [&] {
    ++calls;
    return Result<void>();
  };
  Result<uint64_t> written =
      write(file.fd(), View(), 0, {from.data(), pieces(100, 1000, 1010), 1}, Sieve::never, counted);
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_EQ(calls, 2u);
  EXPECT_EQ(file.content(), packed);
}

TEST(Transfer, OutsideOfTheFileIsAnError) {
  File file;
  Content from(100);
  Memory memory{from.data(), Pattern::bytes(100), 1};
  View before{.displacement = -10, .etype_size = 1, .filetype = Pattern::bytes(1)};
  EXPECT_FALSE(write(file.fd(), before, 0, memory, Sieve::never, kAllowed));
  EXPECT_FALSE(read(file.fd(), before, 0, memory, kAllowed));
  EXPECT_FALSE(write(file.fd(), View(), INT64_MAX - 50, memory, Sieve::never, kAllowed));
  View empty{.displacement = 0, .etype_size = 1, .filetype = Pattern()};
  EXPECT_EQ(read(file.fd(), empty, 0, memory, kAllowed).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(*read(file.fd(), empty, 0, {}, kAllowed), 0u);
  EXPECT_EQ(file.size(), 0u);
}

}  // namespace
}  // namespace forebay::lock::mpiio
