#include "cli/units.h"

#include <cmath>

#include <gtest/gtest.h>

namespace forebay::cli {
namespace {

TEST(Units, ReadsSizes) {
  EXPECT_EQ(parse_bytes("0").value(), 0u);
  EXPECT_EQ(parse_bytes("65536").value(), 65536u);
  EXPECT_EQ(parse_bytes("64K").value(), 65536u);
  EXPECT_EQ(parse_bytes("64k").value(), 65536u);
  EXPECT_EQ(parse_bytes("64KiB").value(), 65536u);
  EXPECT_EQ(parse_bytes("64KB").value(), 65536u);
  EXPECT_EQ(parse_bytes("100B").value(), 100u);
  EXPECT_EQ(parse_bytes("3M").value(), 3u << 20);
  EXPECT_EQ(parse_bytes("2G").value(), uint64_t{2} << 30);
  EXPECT_EQ(parse_bytes("1T").value(), uint64_t{1} << 40);
  EXPECT_EQ(parse_bytes("16777215T").value(), uint64_t{16777215} << 40);
}

TEST(Units, RefusesWhatIsNoSize) {
  for (const char* text : {"", "K", "B", "iB", "-1", "+1", " 1", "1 ", "1.5M", "64Q", "1KK", "12iB", "0x10",
                           "16777216T", "18446744073709551616"})
    EXPECT_FALSE(parse_bytes(text)) << text;
}

TEST(Units, ReadsAmounts) {
  EXPECT_EQ(parse_amount("65536").value(), 65536);
  EXPECT_EQ(parse_amount("1.5K").value(), 1536);
  EXPECT_EQ(parse_amount("2.5GiB").value(), 2.5 * (1 << 30));
  EXPECT_EQ(parse_amount("0.5T").value(), 0.5 * std::pow(2, 40));
  for (const char* text : {"", "K", "-1", "0", "0G", "nan", "infG", "1.5Q", "1 G", "1.5iB"})
    EXPECT_FALSE(parse_amount(text)) << text;
}

TEST(Units, ReadsDurations) {
  EXPECT_EQ(parse_duration("250").value(), 250);
  EXPECT_EQ(parse_duration("250s").value(), 250);
  EXPECT_EQ(parse_duration("4.5m").value(), 270);
  EXPECT_EQ(parse_duration("6h").value(), 21600);
  EXPECT_EQ(parse_duration("1d").value(), 86400);
  for (const char* text : {"", "s", "0", "-1s", "1w", "1ms", "1 s", "infs"}) EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(Units, ReadsNumbers) {
  EXPECT_EQ(parse_integer("-7").value(), -7);
  EXPECT_FALSE(parse_integer("7x"));
  EXPECT_FALSE(parse_count("-7"));
  EXPECT_EQ(parse_positive("0.5").value(), 0.5);
  for (const char* text : {"0", "-1", "nan", "inf", "", "1e"}) EXPECT_FALSE(parse_positive(text)) << text;
}

TEST(Units, WritesDurations) {
  EXPECT_EQ(format_duration(0.416), "0.42 s");
  EXPECT_EQ(format_duration(59.999), "1:00 min");
  EXPECT_EQ(format_duration(187), "3:07 min");
  EXPECT_EQ(format_duration(7384), "2:03:04 h");
  EXPECT_EQ(format_duration(-1), "-");
  EXPECT_EQ(format_duration(1e300), "99999:59:59 h");
}

TEST(Units, WritesRatesAndRatios) {
  EXPECT_EQ(format_rate(170'200'000, 1), "170.2 MB/s");
  EXPECT_EQ(format_rate(1, 0), "-");
  EXPECT_EQ(format_ratio(5, 2), "2.50");
  EXPECT_EQ(format_ratio(5, 0), "-");
  EXPECT_EQ(format_ratio(0, 1660), "-");
  EXPECT_EQ(format_ratio(1, 2341), "<0.01");
  EXPECT_EQ(format_share(3, 1000), "0.30 % of the content");
  EXPECT_EQ(format_share(2340, 1), "more than the content");
  EXPECT_EQ(format_share(1660, 0), "of no content");
}

TEST(Units, WritesTimesAndModes) {
  EXPECT_EQ(format_utc_time(1234567890, 5), "2009-02-13T23:31:30.000000005Z");
  EXPECT_EQ(format_utc_time(INT64_MAX, 0), "-");
  EXPECT_EQ(format_mode(0640), "rw-r-----");
  EXPECT_EQ(format_mode(07777), "rwsrwsrwt");
  EXPECT_EQ(format_mode(07000), "--S--S--T");
  EXPECT_EQ(plural(1, "file"), "1 file");
  EXPECT_EQ(plural(0, "file"), "0 files");
}

}  // namespace
}  // namespace forebay::cli
