#include "launch/scr/set_names.h"

#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "store/names.h"

namespace forebay::scr {
namespace {

constexpr std::string_view kPlain = "._-+=,";

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != std::string_view::npos;
}

// At the end of a long name's set: this, and the 32 digits of a hash. No escape begins so.
constexpr std::string_view kMark = "@=";
constexpr size_t kMarkBytes = 34;
constexpr size_t kKeptBytes = 80;  // of a long name, before it

bool has_mark(std::string_view name) {
  if (name.size() <= kMarkBytes) return false;
  const std::string_view end = name.substr(name.size() - kMarkBytes);
  return end.starts_with(kMark) && end.find_first_not_of("0123456789abcdef", kMark.size()) == end.npos;
}

std::string escaped(char c) { return fmt::format("@{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c))); }

}  // namespace

Result<std::string> set_of_name(std::string_view name) {
  if (name.size() > kMostName)
    return fail(ErrorKind::invalid_argument,
                fmt::format("the name of a set has {} bytes, and {} at most", name.size(), kMostName));
  const std::string_view mark = has_mark(name) ? name.substr(name.size() - kMarkBytes) : std::string_view();
  std::string set;
  for (const char c : name.substr(0, name.size() - mark.size())) set += is_plain(c) ? std::string(1, c) : escaped(c);
  set += mark;
  if (set.size() > store::kMostJobName) {
    set.resize(kKeptBytes);
    // Not half an escape.
    if (const size_t at = set.rfind('@'); at != std::string::npos && at + 3 > set.size()) set.resize(at);
    set += fmt::format("{}{}", kMark, hash128_hex(as_bytes(name)));
  }
  if (!set.empty() && !store::is_job_name(set)) {
    // Hidden, "latest", or with an ending of what is not finished.
    if (is_plain(name.front())) set = escaped(name.front()) + set.substr(1);
    if (!store::is_job_name(set) && is_plain(name.back()) && name.size() > 1)
      set = set.substr(0, set.size() - 1) + escaped(name.back());
  }
  auto checked = store::check_job_name(set);
  if (checked) return set;
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no name for a set: {}", name, checked.error().what));
}

std::string name_of_set(std::string_view set) {
  std::string name;
  for (size_t i = 0; i < set.size(); ++i) {
    unsigned value = 0;
    if (set[i] == '@' && i + 2 < set.size()) {
      const char* end = set.data() + i + 3;
      if (const auto [at, fault] = std::from_chars(set.data() + i + 1, end, value, 16);
          fault == std::errc{} && at == end) {
        name += static_cast<char>(value);
        i += 2;
        continue;
      }
    }
    name += set[i];
  }
  return name;
}

}  // namespace forebay::scr
