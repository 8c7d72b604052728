#include "engine/inspect/relation_text.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace forebay::engine {
namespace {

using codec::RelationKind;
using codec::RelationTerm;

// The path in a similarity key, which ends in "_datatype_class".
std::string path_of(const std::string& key) {
  const size_t class_at = key.rfind('_');
  const size_t type_at =
      class_at == std::string::npos || class_at == 0 ? std::string::npos : key.rfind('_', class_at - 1);
  return key.substr(0, type_at);
}

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Variable groups by the shortest names that tell them apart.
class Names {
 public:
  explicit Names(std::span<const NamedRelation> relations) {
    for (const NamedRelation& relation : relations) {
      paths_[last_name(path_of(relation.target))].push_back(relation.target);
      for (const std::string& key : relation.references) paths_[last_name(path_of(key))].push_back(key);
    }
  }

  std::string name(const std::string& key) const {
    const std::string path = path_of(key), last = last_name(path);
    const auto& keys = paths_.at(last);
    const bool is_only = std::ranges::all_of(keys, [&](const std::string& other) { return other == key; });
    return is_only ? last : path;
  }

 private:
  std::map<std::string, std::vector<std::string>> paths_;
};

std::string text_of(const NamedRelation& named, const Names& names) {
  std::string text = names.name(named.target) + " ~";
  bool is_first = true;
  for (const RelationTerm& term : named.relation.terms) {
    const bool is_negative = std::signbit(term.coefficient);
    text += is_negative ? " - " : is_first ? " " : " + ";
    text += fmt::format("{:.4g} {}{}", std::abs(term.coefficient), names.name(named.references[term.reference]),
                        term.squared ? "^2" : "");
    is_first = false;
  }
  return text;
}

}  // namespace

std::vector<std::string> relation_texts(std::span<const NamedRelation> relations) {
  const Names names(relations);
  std::vector<std::string> texts;
  for (const NamedRelation& named : relations) texts.push_back(text_of(named, names));
  return texts;
}

const char* kind_text(RelationKind kind) { return kind == RelationKind::value ? "values" : "changes"; }

}  // namespace forebay::engine
