#include "redundancy/record.h"

#include <functional>

#include <gtest/gtest.h>

#include "redundancy/test_record.h"

namespace forebay::redundancy {
namespace {

TEST(Record, IsReadAsItWasWritten) {
  const Record record = sample_record();
  const auto decoded = decode_record(encode_record(record), "record");
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(*decoded, record);
  Record other = record;
  other.step.reset();
  EXPECT_EQ(*decode_record(encode_record(other), "record"), other);
  for (const MemberRecord& member : record.members) EXPECT_EQ(*decode_member(encode_member(member), "peer"), member);
  EXPECT_EQ(*decode_member(encode_member({}), "peer"), MemberRecord{});
}

TEST(Record, CutOffAnywhereIsRefused) {
  const std::string text = encode_record(sample_record()), member = encode_member(sample_record().members[0]);
  for (size_t size = 0; size < text.size(); ++size) ASSERT_FALSE(decode_record(text.substr(0, size), "r")) << size;
  for (size_t size = 0; size < member.size(); ++size) ASSERT_FALSE(decode_member(member.substr(0, size), "r")) << size;
  ASSERT_FALSE(decode_record(text + '\0', "r"));
}

TEST(Record, WithAnyBitFlippedIsRefused) {
  const std::string text = encode_record(sample_record()), member = encode_member(sample_record().members[0]);
  const auto flipped = [](std::string of, size_t bit) {
    of[bit / 8] = static_cast<char>(of[bit / 8] ^ (1 << (bit % 8)));
    return of;
  };
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    const auto decoded = decode_record(flipped(text, bit), "r");
    ASSERT_FALSE(decoded) << bit;
    ASSERT_EQ(decoded.error().path, "r");
  }
  for (size_t bit = 0; bit < 8 * member.size(); ++bit) ASSERT_FALSE(decode_member(flipped(member, bit), "r")) << bit;
}

TEST(Record, OfOneKindIsNotOneOfTheOther) {
  EXPECT_FALSE(decode_record(encode_member(sample_record().members[0]), "r"));
  EXPECT_FALSE(decode_member(encode_record(sample_record()), "r"));
}

// Sealed as they are: only the content is wrong.
TEST(Record, ThatCannotBeTrueIsRefused) {
  const std::vector<std::pair<const char*, std::function<void(Record&)>>> lies{
      {"id", [](Record& r) { r.id = 0; }},
      {"scheme", [](Record& r) { r.scheme = Scheme::none; }},
      {"set", [](Record& r) { r.set = "../set"; }},
      {"empty set", [](Record& r) { r.set = ""; }},
      {"group", [](Record& r) { r.group = 3; }},
      {"position", [](Record& r) { r.position = 3; }},
      {"losses", [](Record& r) { r.losses = 3; }},
      {"other losses", [](Record& r) { r.losses = 2; }},
      {"no losses", [](Record& r) { r.losses = 0; }},
      {"chunk", [](Record& r) { ++r.chunk; }},
      {"members", [](Record& r) { r.members.clear(); }},
      {"rank of two", [](Record& r) { r.members[1].ranks[0] = 1; }},
      {"rank of none", [](Record& r) { r.members[2].ranks[1] = 6; }},
      {"order of ranks", [](Record& r) { std::swap(r.members[1].ranks[0], r.members[1].ranks[1]); }},
      {"order of markers", [](Record& r) { std::swap(r.members[1].markers[0], r.members[1].markers[1]); }},
      {"size", [](Record& r) { ++r.members[0].files[1].size; }},
      {"impossible size", [](Record& r) { r.members[1].files[1].size = ~uint64_t{0}; }},
      {"sums", [](Record& r) { r.members[0].data_sums.push_back(1); }},
      {"no sums", [](Record& r) { r.members[1].data_sums.clear(); }},
      {"parity sums", [](Record& r) { r.members[2].parity_sums.clear(); }},
      {"name above", [](Record& r) { r.members[0].files[1].name = "../x"; }},
      {"name from the root", [](Record& r) { r.members[0].files[1].name = "/x"; }},
      {"name with NUL", [](Record& r) { r.members[0].files[1].name = std::string("a\0b", 3); }},
      {"no name", [](Record& r) { r.members[0].files[1].name = ""; }},
      {"name twice", [](Record& r) { r.members[0].files[1].name = "sub"; }},
      {"name below a link", [](Record& r) { r.members[0].files[1].name = "last/rank"; }},
      {"kind", [](Record& r) { r.members[0].files[0].kind = 3; }},
      {"mode", [](Record& r) { r.members[0].files[0].mode = 010000; }},
      {"time", [](Record& r) { r.members[0].files[0].mtime_ns = 1'000'000'000; }},
      {"directory with bytes", [](Record& r) { r.members[0].files[0].size = 1; }},
      {"link without target", [](Record& r) { r.members[0].files[2].link_target = ""; }},
      {"file with target", [](Record& r) { r.members[0].files[1].link_target = "x"; }},
  };
  for (const auto& [what, lie] : lies) {
    Record record = sample_record();
    lie(record);
    const auto decoded = decode_record(encode_record(record), "there/record");
    ASSERT_FALSE(decoded) << what;
    EXPECT_EQ(decoded.error().kind, ErrorKind::corrupt) << what;
    EXPECT_EQ(decoded.error().path, "there/record");
  }
}

TEST(Record, WithoutRanksOfTheJobIsTrue) {
  Record record = sample_record();
  record.ranks = 0;
  EXPECT_TRUE(decode_record(encode_record(record), "r"));
}

TEST(Record, TellsTheSumOfEveryPiece) {
  const auto geometry = *Geometry::make({9 * kPieceBytes + 5, 4 * kPieceBytes, 0, 1}, 2);
  for (unsigned member = 0; member < 4; ++member) {
    std::vector<int> data(geometry.data_pieces(member)), parity(geometry.parity_pieces());
    for (unsigned row = 0; row < 4; ++row)
      for (uint64_t piece = 0; piece <= geometry.pieces(); ++piece) {
        const auto range = geometry.range(row, member, piece);
        const auto index = sum_index(geometry, row, member, piece);
        ASSERT_EQ(index.has_value(), range.length > 0);
        if (index) ++(range.is_parity ? parity : data).at(*index);
      }
    EXPECT_EQ(data, std::vector<int>(data.size(), 1));
    EXPECT_EQ(parity, std::vector<int>(parity.size(), 1));
  }
}

}  // namespace
}  // namespace forebay::redundancy
