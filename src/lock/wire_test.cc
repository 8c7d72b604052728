#include "lock/wire.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "lock/wire_region.h"

namespace forebay::lock::wire {
namespace {

constexpr uint64_t kTerms = 1 << 20;

fabric::Frame frame_of(const Bytes& bytes) {
  return {std::to_integer<uint8_t>(bytes[5]), std::span(bytes).subspan(fabric::kFrameHeaderBytes)};
}

template <class Message>
Message through_client(const Bytes& bytes) {
  auto decoded = decode_client(frame_of(bytes), kTerms);
  EXPECT_TRUE(decoded) << decoded.error().message();
  return std::get<Message>(std::move(decoded->message));
}

template <class Message>
Message through_server(const Message& message) {
  Bytes bytes;
  encode(bytes, ServerMessage(message));
  auto decoded = decode_server(frame_of(bytes));
  EXPECT_TRUE(decoded) << decoded.error().message();
  return std::get<Message>(std::move(*decoded));
}

Region strided(uint64_t start, uint64_t length, std::vector<Level> levels) {
  Region region;
  EXPECT_TRUE(region.add(start, length, levels));
  return region;
}

void expect_same(const Region& a, const Region& b) {
  ASSERT_EQ(a.terms().size(), b.terms().size());
  EXPECT_EQ(a.bounds(), b.bounds());
  for (size_t i = 0; i < a.terms().size(); ++i) {
    EXPECT_EQ(a.terms()[i].start, b.terms()[i].start);
    EXPECT_EQ(a.terms()[i].length, b.terms()[i].length);
    EXPECT_TRUE(std::ranges::equal(a.levels(a.terms()[i]), b.levels(b.terms()[i])));
  }
}

TEST(Wire, KeepsClientMessages) {
  Bytes bytes;
  encode(bytes, Hello{"rank 3", "node7", 4711});
  const auto hello = through_client<Hello>(bytes);
  EXPECT_EQ(hello.label + hello.host + std::to_string(hello.pid), "rank 3node74711");

  bytes.clear();
  encode(bytes, 1023, "/scratch/file");
  EXPECT_EQ(through_client<File>(bytes).number, 1023u);
  EXPECT_EQ(through_client<File>(bytes).name, "/scratch/file");

  bytes.clear();
  encode(bytes, Release{UINT64_MAX});
  EXPECT_EQ(through_client<Release>(bytes).request, UINT64_MAX);

  bytes.clear();
  encode(bytes, Renew{5});
  EXPECT_EQ(through_client<Renew>(bytes).number, 5u);

  bytes.clear();
  encode(bytes, Counter{9, CounterAction::forget, INT64_MIN, "pointer"});
  const auto counter = through_client<Counter>(bytes);
  EXPECT_EQ(counter.operand, INT64_MIN);
  EXPECT_EQ(counter.action, CounterAction::forget);
  EXPECT_EQ(counter.name, "pointer");

  bytes.clear();
  encode(bytes, Query{3});
  EXPECT_EQ(through_client<Query>(bytes).request, 3u);

  bytes.clear();
  encode(bytes, Life{4});
  EXPECT_EQ(through_client<Life>(bytes).session, 4u);

  bytes.clear();
  encode(bytes, Bell{5});
  EXPECT_EQ(through_client<Bell>(bytes).session, 5u);
}

TEST(Wire, KeepsTheReturnOfALoan) {
  Return loan{7, {}};
  loan.parts.push_back({8, Access::exclusive, true, strided(5, 10, {{3, 100}})});
  loan.parts.push_back({9, Access::shared, false, Region::whole_file()});
  loan.kept.push_back({10, {3, 1000}});
  Bytes bytes;
  encode(bytes, loan);
  const auto again = through_client<Return>(bytes);
  EXPECT_EQ(again.loan, 7u);
  ASSERT_EQ(again.kept.size(), 1u);
  EXPECT_EQ(again.kept[0].loan, 10u);
  EXPECT_EQ(again.kept[0].which, (Elements{3, 1000}));
  ASSERT_EQ(again.parts.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again.parts[i].request, loan.parts[i].request);
    EXPECT_EQ(again.parts[i].access, loan.parts[i].access);
    EXPECT_EQ(again.parts[i].held, loan.parts[i].held);
    expect_same(again.parts[i].region, loan.parts[i].region);
  }
  for (size_t cut = fabric::kFrameHeaderBytes; cut < bytes.size(); ++cut) {
    const fabric::Frame part{static_cast<uint8_t>(Type::give_back),
                             std::span(bytes).subspan(fabric::kFrameHeaderBytes, cut - fabric::kFrameHeaderBytes)};
    EXPECT_FALSE(decode_client(part, kTerms));
  }
  EXPECT_FALSE(decode_client(frame_of(bytes), 0)) << "a region that is too long";
}

TEST(Wire, KeepsWhatTheServerSaysOfLoans) {
  EXPECT_EQ(through_server(Lent{1}).request, 1u);
  EXPECT_EQ(through_server(Recall{2}).loan, 2u);
  EXPECT_EQ(through_server(Taken{3}).loan, 3u);
  Bytes bytes;
  encode(bytes, 5, 1, Access::shared, {.may_lend = true}, Region::whole_file());
  EXPECT_TRUE(through_client<LockRequest>(bytes).may_lend);
  EXPECT_FALSE(through_client<LockRequest>(bytes).only_try);
  EXPECT_EQ(through_client<LockRequest>(bytes).ahead, Ahead{});
  bytes.clear();
  encode(bytes, 5, 1, Access::shared, {.ahead = {4096, 100}}, Region::whole_file());
  EXPECT_EQ(through_client<LockRequest>(bytes).ahead, (Ahead{4096, 100}));
  EXPECT_EQ(through_server(Lent{1, 101}).count, 101u);
  EXPECT_EQ(through_server(Recall{2, {4, 9}}).wanted, (Elements{4, 9}));
}

TEST(Wire, KeepsRegions) {
  Region mixed;
  ASSERT_TRUE(mixed.add(1000, 10, std::vector<Level>{{7, 1000}, {3, 20}}));
  ASSERT_TRUE(mixed.add(5, 10, std::vector<Level>{{7, 1000}, {3, 20}}));
  ASSERT_TRUE(mixed.add(kFileEnd - 1, 1));
  for (const Region& region : {Region(), Region::whole_file(), mixed}) {
    Bytes bytes;
    encode(bytes, 77, 4, Access::exclusive, {.only_try = true}, region);
    const auto lock = through_client<LockRequest>(bytes);
    EXPECT_EQ(lock.request, 77u);
    EXPECT_EQ(lock.file, 4u);
    EXPECT_EQ(lock.access, Access::exclusive);
    EXPECT_TRUE(lock.only_try);
    expect_same(lock.region, region);
  }
}

TEST(Wire, KeepsServerMessages) {
  EXPECT_EQ(through_server(Welcome{1, 10'000, 2'000, 99}).max_terms, 99u);
  EXPECT_EQ(through_server(Granted{12}).request, 12u);
  EXPECT_EQ(through_server(Refused{12, Reason::memory}).reason, Reason::memory);
  EXPECT_EQ(through_server(Renewed{3}).number, 3u);
  EXPECT_EQ(through_server(Value{3, -5}).value, -5);
  (void)through_server(Expired{});
  Status status{.request = 8, .last = false, .truncated = true};
  status.clients.push_back({1, "label", "host", "peer", 99, 5, true});
  status.requests.push_back({"f", 1, 1, Access::exclusive, true, 0, 7, {5, 10}, 3});
  status.requests.push_back({"f", 2, 1, Access::shared, {}, 1, 7, {5, 10}, 3});
  status.requests.push_back({"g", 1, 1, Access::shared, true, 0, 7, {0, kFileEnd}, 1});
  status.counters.push_back({"c", INT64_MIN});
  const Status back = through_server(status);
  EXPECT_FALSE(back.last);
  EXPECT_TRUE(back.truncated);
  EXPECT_EQ(back.clients, status.clients);
  EXPECT_EQ(back.requests, status.requests);
  EXPECT_EQ(back.counters, status.counters);
}

// 80 blocks of 24 variables (paper 004, section 4.3): 1920 segments, in two nested levels.
TEST(Wire, TakesFewBytesForTheFlashRequest) {
  constexpr uint64_t kBlockBytes = 8 * 8 * 8 * 8, kRanks = 64;
  const Region region =
      strided(17 * 80 * kBlockBytes, kBlockBytes, {{24, kRanks * 80 * kBlockBytes}, {80, 2 * kBlockBytes}});
  ASSERT_EQ(region.segment_count(), 1920u);
  Bytes bytes;
  encode(bytes, 0, "/gpfs/scratch/project/user/flash_hdf5_chk_0000");
  encode(bytes, 1000, 0, Access::exclusive, {}, region);
  EXPECT_LT(bytes.size(), 200u);
  RecordProperty("bytes", static_cast<int>(bytes.size()));

  // And as a list of single segments.
  bytes.clear();
  encode(bytes, 1000, 0, Access::exclusive, {}, expanded(region, 10'000).value());
  EXPECT_LT(bytes.size(), 1920u * 5);
}

TEST(Wire, RefusesEveryCut) {
  Bytes bytes;
  encode(bytes, 1, 0, Access::shared, {}, strided(5, 10, {{3, 100}, {4, 15}}));
  for (size_t size = 0; size < bytes.size() - fabric::kFrameHeaderBytes; ++size) {
    fabric::Frame frame = frame_of(bytes);
    frame.body = frame.body.first(size);
    EXPECT_FALSE(decode_client(frame, kTerms)) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_client(frame_of(bytes), kTerms)) << "a byte too many";
}

TEST(Wire, RefusesRegionsThatAreNone) {
  const auto region = [](std::initializer_list<uint64_t> numbers) {
    Bytes bytes;
    for (const uint64_t number : numbers) put_varint(bytes, number);
    Cursor reader(bytes);
    return read_region(reader, 100);
  };
  EXPECT_TRUE(region({1, zigzag(5), 0, 10}));
  EXPECT_FALSE(region({1, zigzag(-5), 0, 10})) << "before the file";
  EXPECT_FALSE(region({1, zigzag(5), 0, kFileEnd})) << "beyond the file";
  EXPECT_FALSE(region({1, zigzag(5), 1})) << "like a term that is not there";
  EXPECT_FALSE(region({1, zigzag(5), 2 * (kMaxLevels + 1), 10})) << "too deep";
  EXPECT_FALSE(region({1, zigzag(5), 2, 10, UINT64_MAX, UINT64_MAX})) << "too far";
  EXPECT_FALSE(region({UINT64_MAX})) << "more terms than bytes";
}

TEST(Wire, TellsOfTooManyTermsWithoutReadingThem) {
  Region region;
  for (uint64_t i = 0; i < 11; ++i) ASSERT_TRUE(region.add(i * 100 + i * i, 10));
  Bytes bytes;
  encode(bytes, 5, 0, Access::shared, {}, region);
  const auto decoded = decode_client(frame_of(bytes), 10);
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->too_long);
  EXPECT_EQ(std::get<LockRequest>(decoded->message).request, 5u);
}

TEST(Wire, RefusesNamesOfNoOrOfTooManyBytes) {
  Bytes bytes;
  encode(bytes, 0, "");
  EXPECT_FALSE(decode_client(frame_of(bytes), kTerms));
  bytes.clear();
  encode(bytes, 0, std::string(kMaxNameBytes, 'x'));
  EXPECT_TRUE(decode_client(frame_of(bytes), kTerms));
  bytes.clear();
  encode(bytes, 0, std::string(kMaxNameBytes + 1, 'x'));
  EXPECT_FALSE(decode_client(frame_of(bytes), kTerms));
  bytes.clear();
  encode(bytes, kMaxFiles, "x");
  EXPECT_FALSE(decode_client(frame_of(bytes), kTerms));
}

}  // namespace
}  // namespace forebay::lock::wire
