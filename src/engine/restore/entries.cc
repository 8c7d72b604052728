#include "engine/restore/entries.h"

#include <algorithm>

#include <fmt/format.h>
#include <limits.h>

namespace forebay::engine {
namespace {

constexpr size_t kMostMisfits = 100;

// '/' before all others: what is in a directory follows it at once.
bool comes_before(std::string_view a, std::string_view b) {
  const auto order = [](char c) { return c == '/' ? 0 : 1 + static_cast<unsigned char>(c); };
  return std::ranges::lexicographical_compare(a, b, {}, order, order);
}

bool is_below(std::string_view name, std::string_view directory) {
  return name.size() > directory.size() && name.starts_with(directory) && name[directory.size()] == '/';
}

bool has_long_component(std::string_view name) {
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    if (end - begin > NAME_MAX) return true;
    begin = end + 1;
  }
  return false;
}

// What is wrong with an entry by itself; empty if nothing is.
std::string what_is_wrong(const Entry& entry) {
  if (has_long_component(entry.name))
    return fmt::format("'{}' has a component of more than {} bytes, which no directory takes", entry.name, NAME_MAX);
  const std::string_view target = entry.link_target;
  const bool is_target = !target.empty() && target.size() < PATH_MAX && target.find('\0') == std::string_view::npos;
  if (entry.kind == FileKind::symlink && !is_target)
    return fmt::format("the link '{}' has a target that no link can have", entry.name);
  return {};
}

}  // namespace

std::vector<Misfit> find_misfits(std::vector<Entry> entries) {
  // Stable: of two with one name, the one that was given first is no misfit.
  std::ranges::stable_sort(entries, comes_before, &Entry::name);
  std::vector<Misfit> misfits;
  const Entry* parent = nullptr;  // the last one that is no directory
  for (size_t i = 0; i < entries.size() && misfits.size() < kMostMisfits; ++i) {
    const Entry& entry = entries[i];
    std::string what = what_is_wrong(entry);
    if (i > 0 && entries[i - 1].name == entry.name)
      what = fmt::format("the set has two entries of the name '{}'", entry.name);
    else if (parent && is_below(entry.name, parent->name))
      what = fmt::format("'{}' lies below '{}', which is no directory", entry.name, parent->name);
    else if (entry.kind != FileKind::directory)
      parent = &entry;
    if (!what.empty()) misfits.push_back({entry, std::move(what)});
  }
  return misfits;
}

}  // namespace forebay::engine
