// Text for HTML. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forebay::report {

// `text`, as printable() has it, as content or as the value of an attribute in quotes: nothing in it is markup.
std::string escaped(std::string_view text);

std::string bytes_text(uint64_t bytes);  // "1.5 MiB"

// The unit that bytes_text() takes, and how many bytes it is.
std::pair<const char*, double> byte_unit(uint64_t bytes);

std::string number_text(double value);                                   // as short as tells it
std::vector<std::string> short_numbers(std::span<const double> values);  // as short as tells them from each other
std::string time_text(int64_t nanoseconds);                              // since 1970: "2026-11-23 14:30:05 UTC"

}  // namespace forebay::report
