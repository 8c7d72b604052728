#include "base/cursor.h"

#include <gtest/gtest.h>

namespace forebay {
namespace {

TEST(Varint, KeepsEveryNumberAndHasOneFormOfEach) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{1} << 35, UINT64_MAX}) {
    Bytes bytes;
    put_varint(bytes, value);
    Cursor reader(bytes);
    EXPECT_EQ(reader.varint(), value);
    EXPECT_TRUE(reader.at_end());
    EXPECT_EQ(unzigzag(zigzag(value)), value);
    EXPECT_EQ(unzigzag(zigzag(0 - value)), 0 - value);
  }
  for (const Bytes& bad : {Bytes{std::byte{0x80}, std::byte{0}}, Bytes{std::byte{0xff}}, Bytes(10, std::byte{0xff}),
                           Bytes(11, std::byte{0x80})}) {
    Cursor reader(bad);
    (void)reader.varint();
    EXPECT_FALSE(reader.ok());
  }
}

TEST(Varint, SignedNumbersAndTextsComeBack) {
  Bytes bytes;
  put_signed_varint(bytes, -5);
  put_signed_varint(bytes, INT64_MIN);
  put_text(bytes, "text");
  put_varint(bytes, 2);
  Cursor reader(bytes);
  EXPECT_EQ(reader.signed_varint(), -5);
  EXPECT_EQ(reader.signed_varint(), INT64_MIN);
  EXPECT_EQ(reader.varint_text(4), "text");
  EXPECT_EQ(reader.count(1), 0u) << "two things of a byte each do not follow";
  EXPECT_FALSE(reader.ok());
}

TEST(Cursor, ReadsNothingMoreBehindAFault) {
  const Bytes bytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  Cursor reader(bytes);
  EXPECT_EQ(reader.be<uint16_t>(), 0x0102);
  EXPECT_EQ(reader.u32(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.u8(), 0u) << "though there is one more";
  EXPECT_FALSE(reader.at_end());
  for (const uint64_t most : {3, 4}) {
    Cursor other(bytes);
    other.skip(3);
    EXPECT_EQ(other.varint(most), most == 4 ? 4u : 0u);
    EXPECT_EQ(other.at_end(), most == 4);
  }
}

}  // namespace
}  // namespace forebay
