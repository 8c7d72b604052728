#include "base/datatype.h"

#include <gtest/gtest.h>

namespace forebay {
namespace {

TEST(DataType, NameAndParseAreInverse) {
  size_t valid = 0;
  for (const Kind kind : {Kind::opaque, Kind::signed_int, Kind::unsigned_int, Kind::floating})
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
      for (uint32_t size = 0; size <= UINT16_MAX; ++size) {
        const DataType type{.kind = kind, .order = order, .size = static_cast<uint16_t>(size)};
        if (!type.is_valid()) continue;
        ++valid;
        const auto parsed = DataType::parse(type.name());
        ASSERT_TRUE(parsed) << type.name();
        ASSERT_EQ(*parsed, type);
      }
  EXPECT_EQ(valid, 65535u + 2 * (4 + 3) + 2 * 3);  // opaque; integers little and big; floats little and big
}

TEST(DataType, Names) {
  EXPECT_EQ((DataType{Kind::floating, ByteOrder::little, 4}.name()), "f4");
  EXPECT_EQ((DataType{Kind::floating, ByteOrder::big, 8}.name()), ">f8");
  EXPECT_EQ((DataType{Kind::signed_int, ByteOrder::little, 8}.name()), "i8");
  EXPECT_EQ((DataType{Kind::unsigned_int, ByteOrder::little, 1}.name()), "u1");
  EXPECT_EQ((DataType{Kind::opaque, ByteOrder::little, 24}.name()), "x24");
}

TEST(DataType, ParseAcceptsOrderWhereItMeansNothing) {
  EXPECT_EQ(DataType::parse("<f8")->name(), "f8");
  EXPECT_EQ(DataType::parse(">u1")->name(), "u1");
}

TEST(DataType, ParseRefusesWhatIsNoType) {
  for (const char* name :
       {"",   "f",  "f0",  "f1",  "f3",  "f16", "i3",   "u16",  "x0", "x65536", "x-1",
        "q4", "4f", "f4 ", " f4", "f 4", "=f4", ">>f4", "<>f4", ">",  "f4x",    "f99999999999999999999"}) {
    const auto parsed = DataType::parse(name);
    ASSERT_FALSE(parsed) << name;
    EXPECT_EQ(parsed.error().kind, ErrorKind::invalid_argument);
  }
}

}  // namespace
}  // namespace forebay
