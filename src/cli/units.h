// Numbers as people type and read them. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/size_text.h"

namespace forebay::cli {

// "65536", "64K", "128M", "2G", "1T": powers of 1024; "64KiB" and "64KB" mean the same. invalid_argument otherwise, and
// if the number does not fit.
Result<uint64_t> parse_bytes(std::string_view text);

// Bytes, or bytes per second, above 0: as parse_bytes(), and with a fraction: "2.4G".
Result<double> parse_amount(std::string_view text);

// Seconds above 0: "250", "250s", "4.5m", "6h", "1d".
Result<double> parse_duration(std::string_view text);

Result<uint64_t> parse_count(std::string_view text);   // decimal, no sign
Result<int64_t> parse_integer(std::string_view text);  // decimal, '-' allowed
Result<double> parse_positive(std::string_view text);  // a finite number above 0

// raw / stored with two decimals, "<0.01" where that would be 0; "-" if there is nothing, or nothing is stored.
std::string format_ratio(double raw, double stored);

// "0.42 % of the content"; in words where it is more than that, or there is none.
std::string format_share(double part, double whole);

// "0.42 s", "3:07 min", "2:03:04 h".
std::string format_duration(double seconds);

// "170.2 MB/s" (decimal megabytes, as storage vendors and benchmarks count).
std::string format_rate(uint64_t bytes, double seconds);

// The shortest text that reads back as `value`, for tables.
std::string format_number(double value);

// "2026-11-21 20:49:17" in local time, and "2026-11-21T20:49:17.000000001Z".
std::string format_local_time(int64_t seconds);
std::string format_utc_time(int64_t seconds, uint32_t nanoseconds);

// "10x20", or "scalar" of no dimensions.
std::string format_shape(std::span<const uint64_t> shape);

// "33 files", "1 file".
std::string plural(uint64_t count, std::string_view noun);

// Permission bits as ls(1) writes them: "rw-r--r--".
std::string format_mode(uint32_t mode);

}  // namespace forebay::cli
