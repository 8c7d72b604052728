#include "store/names.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/printable.h"
#include "store/natural_order.h"

namespace forebay::store {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr char kNumberMark = '+';

// Why no set can have the name, or empty.
std::string_view what_is_wrong(std::string_view name, size_t most) {
  if (name.empty()) return "it is empty";
  if (name.size() > most) return "it is too long";
  if (name.front() == '.') return "it begins with a dot";
  if (name.front() == ' ' || name.back() == ' ') return "it begins or ends with a blank";
  if (name == "latest") return "it stands for the newest set";
  if (name.starts_with("step:")) return "it stands for the set of a step";
  if (name.contains('/')) return "it has a '/'";
  if (printable(name) != name) return "it has a character that cannot be shown";
  return {};
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._-+=@,").find(c) != std::string_view::npos;
}

bool is_set_name(std::string_view name) {
  constexpr size_t kMost = 200;
  return what_is_wrong(name, kMost).empty();
}

Result<void> check_job_name(std::string_view name) {
  std::string_view wrong = what_is_wrong(name, kMostJobName);
  if (wrong.empty() && is_temporary(name)) wrong = "it is one of unfinished files";
  if (wrong.empty()) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no name for a set: {}", name, wrong), {}, {},
              "use 128 bytes at most that can be shown, without '/'; not a '.' at the beginning, nor '.tmp', '.temp', "
              "'.part' or '~' at the end, nor 'latest'");
}

bool is_job_name(std::string_view name) { return what_is_wrong(name, kMostJobName).empty() && !is_temporary(name); }

bool is_temporary(std::string_view path) {
  const std::string_view last = path.substr(path.rfind('/') + 1);
  for (const std::string_view ending : {".tmp", ".temp", ".part", "~"})
    if (last.ends_with(ending)) return true;
  return last.starts_with('.');
}

std::optional<int64_t> step_of(std::string_view name) {
  const size_t last = name.find_last_of(kDigits);
  if (last == std::string_view::npos || tells_a_time(name)) return std::nullopt;
  const size_t before = name.find_last_not_of(kDigits, last);
  const size_t first = before == std::string_view::npos ? 0 : before + 1;
  return number<int64_t>(name.substr(first, last + 1 - first));
}

std::string stored_name(const std::string& name, uint64_t number) {
  return number <= 1 ? name : fmt::format("{}{}{}", name, kNumberMark, number);
}

std::string application_name(const Manifest& manifest) {
  if (!manifest.application_name.empty()) return manifest.application_name;
  const std::string& stored = manifest.name;
  const size_t mark = stored.rfind(kNumberMark);
  if (mark == std::string::npos || mark == 0) return stored;
  const auto count = number<uint64_t>(std::string_view(stored).substr(mark + 1));
  if (!count || *count < 2 || stored_name(stored.substr(0, mark), *count) != stored) return stored;
  return stored.substr(0, mark);
}

}  // namespace forebay::store
