#include "engine/inspect/match_files.h"

#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "engine/set/name_pattern.h"

namespace forebay::engine {
namespace {

// What all names of one pattern have in common: the numbers without zeros in front, none where they differ.
using Common = std::vector<std::optional<std::string_view>>;
using CommonOf = std::unordered_map<std::string, Common>;

CommonOf common_numbers(std::span<const FileLabel> files) {
  CommonOf patterns;
  for (const FileLabel& file : files) {
    const NamePattern parts = take_apart(file.name);
    const auto [at, is_first] = patterns.try_emplace(parts.pattern);
    for (size_t run = 0; run < parts.numbers.size(); ++run) {
      const std::string_view number = without_zeros(parts.numbers[run]);
      if (is_first)
        at->second.emplace_back(number);
      else if (at->second[run] != number)
        at->second[run].reset();
    }
  }
  return patterns;
}

// "DD#.cpu7" where the names of both sets that look like this one have one number each in the first place.
std::string without_common_numbers(std::string_view name, const CommonOf& own, const CommonOf& other) {
  const NamePattern parts = take_apart(name);
  const auto there = other.find(parts.pattern);
  if (there == other.end()) return {};
  const Common& here = own.at(parts.pattern);
  std::string key = parts.pattern;
  for (size_t run = 0; run < parts.numbers.size(); ++run) {
    const bool is_of_dump = here[run] && there->second[run];
    key += '\0';
    if (!is_of_dump) key += without_zeros(parts.numbers[run]);
  }
  return key;
}

std::string without_set_name(std::string_view name, std::string_view set) {
  std::string key;
  for (size_t at; (at = name.find(set)) != name.npos; name.remove_prefix(at + set.size())) {
    key += name.substr(0, at);
    key += '\0';
  }
  return key += name;
}

// What two files must have in common, and nothing else: an empty text for files that cannot have a counterpart.
using KeyOf = std::function<std::string(std::string_view name)>;

class Matcher {
 public:
  Matcher(const LabelledSet& a, const LabelledSet& b) : a_(a), b_(b), match_(a.files.size()), taken_(b.files.size()) {}

  std::vector<std::optional<size_t>> run() {
    match_equal_names();
    match_by([&](std::string_view name) { return without_set_name(name, a_.name); },
             [&](std::string_view name) { return without_set_name(name, b_.name); });
    const CommonOf in_a = common_numbers(a_.files), in_b = common_numbers(b_.files);
    match_by([&](std::string_view name) { return without_common_numbers(name, in_a, in_b); },
             [&](std::string_view name) { return without_common_numbers(name, in_b, in_a); });
    return std::move(match_);
  }

 private:
  void match_equal_names() {
    std::unordered_map<std::string_view, size_t> names;
    for (size_t i = 0; i < b_.files.size(); ++i) names.emplace(b_.files[i].name, i);
    for (size_t i = 0; i < a_.files.size(); ++i)
      if (const auto same = names.find(a_.files[i].name); same != names.end()) pair(i, same->second);
  }

  // Files without a counterpart so far, of equal keys.
  struct Alike {
    std::vector<size_t> a, b;
  };

  void match_by(const KeyOf& key_in_a, const KeyOf& key_in_b) {
    std::map<std::tuple<uint32_t, FileKind, std::string>, Alike> keys;
    for (size_t i = 0; i < a_.files.size(); ++i)
      if (const FileLabel& file = a_.files[i]; !match_[i])
        keys[{file.rank, file.kind, key_in_a(file.name)}].a.push_back(i);
    for (size_t i = 0; i < b_.files.size(); ++i)
      if (const FileLabel& file = b_.files[i]; !taken_[i])
        keys[{file.rank, file.kind, key_in_b(file.name)}].b.push_back(i);
    for (const auto& [key, alike] : keys)
      if (!std::get<2>(key).empty() && alike.a.size() == 1 && alike.b.size() == 1) pair(alike.a[0], alike.b[0]);
  }

  void pair(size_t in_a, size_t in_b) {
    match_[in_a] = in_b;
    taken_[in_b] = true;
  }

  const LabelledSet &a_, &b_;
  std::vector<std::optional<size_t>> match_;
  std::vector<bool> taken_;
};

}  // namespace

std::vector<std::optional<size_t>> match_files(const LabelledSet& a, const LabelledSet& b) {
  return Matcher(a, b).run();
}

}  // namespace forebay::engine
