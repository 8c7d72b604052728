#include "redundancy/scheme.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "redundancy/geometry.h"

namespace forebay::redundancy {
namespace {

std::unexpected<Error> bad_protection(std::string_view text, std::string_view why) {
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no protection: {}", text, why), {}, {},
              "give none, partner, xor, xor:SIZE, rs, rs:LOSSES or rs:LOSSES:SIZE, as xor:8 or rs:2:8");
}

std::vector<std::string_view> fields_of(std::string_view text) {
  std::vector<std::string_view> fields;
  for (size_t at = 0;;) {
    const size_t colon = text.find(':', at);
    fields.push_back(text.substr(at, colon - at));
    if (colon == std::string_view::npos) return fields;
    at = colon + 1;
  }
}

std::optional<unsigned> number_of(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0) return std::nullopt;
  return value;
}

}  // namespace

Result<Protection> parse_protection(std::string_view text) {
  const std::vector<std::string_view> fields = fields_of(text);
  Protection protection;
  std::vector<unsigned*> numbers;  // that may follow, in their order
  if (fields[0] == "none") {
    protection.scheme = Scheme::none;
  } else if (fields[0] == "partner") {
    protection.scheme = Scheme::partner;
  } else if (fields[0] == "xor") {
    protection.scheme = Scheme::xor_;
    numbers = {&protection.group_size};
  } else if (fields[0] == "rs") {
    protection.scheme = Scheme::rs;
    numbers = {&protection.losses, &protection.group_size};
  } else {
    return bad_protection(text, "the scheme is not known");
  }
  if (fields.size() - 1 > numbers.size()) return bad_protection(text, "too many numbers");
  for (size_t i = 1; i < fields.size(); ++i) {
    const auto number = number_of(fields[i]);
    if (!number) return bad_protection(text, fmt::format("'{}' is not a number above 0", fields[i]));
    *numbers[i - 1] = *number;
  }
  if (protection.group_size > kMostMembers)
    return bad_protection(text, fmt::format("a group has at most {} members", kMostMembers));
  if (protection.group_size <= losses_of(protection))
    return bad_protection(text, fmt::format("a group of {} members cannot lose {} of them", protection.group_size,
                                            losses_of(protection)));
  return protection;
}

std::string to_text(const Protection& protection) {
  switch (protection.scheme) {
    case Scheme::none:
      return "none";
    case Scheme::partner:
      return "partner";
    case Scheme::xor_:
      return fmt::format("xor:{}", protection.group_size);
    case Scheme::rs:
      return fmt::format("rs:{}:{}", protection.losses, protection.group_size);
  }
  return "none";
}

unsigned losses_of(const Protection& protection) {
  switch (protection.scheme) {
    case Scheme::none:
      return 0;
    case Scheme::partner:
    case Scheme::xor_:
      return 1;
    case Scheme::rs:
      return protection.losses;
  }
  return 0;
}

unsigned losses_of(const Protection& protection, unsigned members) {
  return members == 0 ? 0 : std::min(losses_of(protection), members - 1);
}

}  // namespace forebay::redundancy
