#include "scr/descriptors.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "base/nearest.h"
#include "launch/scr/places.h"

namespace forebay::scr {
namespace {

using job::wire::Scheme;

constexpr std::string_view kItems = "INTERVAL GROUP STORE TYPE SET_SIZE SET_FAILURES OUTPUT BYPASS ENABLED";

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string where(const ConfigLine& line, const std::string& item, const std::string& value) {
  return line.id.empty() ? fmt::format("SCR_{}={}", item, value) : fmt::format("CKPT={} {}={}", line.id, item, value);
}

Result<int64_t> number_of(const ConfigLine& line, const std::string& item, int64_t otherwise, int64_t least) {
  const auto found = line.items.find(item);
  if (found == line.items.end()) return otherwise;
  const std::string& text = found->second;
  int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size() || number < least || number > INT32_MAX)
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}: that is no whole number of at least {}", where(line, item, text), least), line.where);
  return number;
}

Result<Scheme> scheme_of(const ConfigLine& line, const std::string& type) {
  const std::string word = upper(type);
  if (word == "SINGLE" || word == "LOCAL" || word == "FILE") return Scheme::none;
  if (word == "PARTNER") return Scheme::partner;
  if (word == "XOR") return Scheme::xor_;
  if (word == "RS") return Scheme::rs;
  const std::vector<std::string> all{"SINGLE", "PARTNER", "XOR", "RS"};
  return fail(ErrorKind::invalid_argument, fmt::format("{}: there is no such scheme", where(line, "TYPE", type)),
              line.where, {}, nearest_hint(word, all, "SINGLE, PARTNER, XOR or RS"));
}

Result<Descriptor> descriptor_of(const ConfigLine& line, const Config& config) {
  for (const auto& [item, value] : line.items)
    if ((" " + std::string(kItems) + " ").find(" " + item + " ") == std::string::npos)
      return fail(ErrorKind::invalid_argument, fmt::format("CKPT={}: there is no item {}", line.id, item), line.where,
                  {}, fmt::format("one of {}", kItems));
  const auto text = [&](const char* item, const char* key) {
    const auto found = line.items.find(item);
    return found != line.items.end() ? found->second : config.text(key);
  };
  Descriptor one;
  one.id = line.id;
  const std::string type = text("TYPE", "SCR_COPY_TYPE");
  FOREBAY_TRY(one.scheme, scheme_of(line, type));
  FOREBAY_TRY(const int64_t size, config.number("SCR_SET_SIZE"));
  FOREBAY_TRY(const int64_t failures, config.number("SCR_SET_FAILURES"));
  FOREBAY_TRY(const int64_t bypass, config.number("SCR_CACHE_BYPASS"));
  FOREBAY_TRY(one.interval, number_of(line, "INTERVAL", 1, 1));
  FOREBAY_TRY(const int64_t group_size, number_of(line, "SET_SIZE", size, 1));
  FOREBAY_TRY(const int64_t losses, number_of(line, "SET_FAILURES", failures, 1));
  FOREBAY_TRY(const int64_t output, number_of(line, "OUTPUT", 0, 0));
  FOREBAY_TRY(const int64_t is_bypass, number_of(line, "BYPASS", bypass, 0));
  one.group_size = static_cast<uint32_t>(group_size);
  if (one.scheme == Scheme::rs) one.losses = static_cast<uint32_t>(losses);
  one.takes_outputs = output != 0;
  one.is_bypass = is_bypass != 0 || upper(type) == "FILE";
  const std::string group = text("GROUP", "SCR_GROUP");
  if (upper(group) != "NODE") one.failure_group = group;
  if (const std::string store = text("STORE", "SCR_CACHE_BASE"); store != config.text("SCR_CACHE_BASE"))
    one.level = store;
  return one;
}

}  // namespace

Result<std::vector<Descriptor>> descriptors_of(const Config& config) {
  std::vector<ConfigLine> lines = config.lines("CKPT");
  std::vector<Descriptor> all;
  if (lines.empty()) lines.push_back({.id = {}, .items = {}, .where = config.where("SCR_COPY_TYPE")});
  for (const ConfigLine& line : lines) {
    FOREBAY_TRY(const int64_t enabled, number_of(line, "ENABLED", 1, 0));
    if (enabled == 0) continue;
    FOREBAY_TRY(Descriptor one, descriptor_of(line, config));
    all.push_back(std::move(one));
  }
  return all;
}

const Descriptor* choose(const std::vector<Descriptor>& descriptors, int64_t number, bool is_output) {
  const Descriptor* best = nullptr;
  if (is_output)
    for (const Descriptor& one : descriptors)
      if (one.takes_outputs) return &one;
  for (const Descriptor& one : descriptors)
    if (number % one.interval == 0 && (best == nullptr || one.interval > best->interval)) best = &one;
  return best;
}

}  // namespace forebay::scr
