#include "cli/relations.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "cli/json.h"
#include "cli/table.h"
#include "cli/text.h"

namespace forebay::cli {
namespace {

using codec::RelationKind;
using codec::RelationTerm;
using engine::NamedRelation;

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
    return printable(is_only ? last : path);
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

const char* kind_text(RelationKind kind) { return kind == RelationKind::value ? "values" : "changes"; }

}  // namespace

void add_relations(const engine::OpenContainer& container, Relations& relations) {
  for (NamedRelation& relation : engine::relations_of(container))
    relations.try_emplace(relation.target, std::move(relation));
}

std::vector<NamedRelation> in_order(const Relations& relations) {
  std::vector<NamedRelation> all;
  for (const auto& [target, relation] : relations) all.push_back(relation);
  return all;
}

void print_relations(std::span<const NamedRelation> relations) {
  if (relations.empty()) {
    fmt::print("no variable of this set was predicted from others\n");
    return;
  }
  const Names names(relations);
  Table table({{"BITS", Align::right}, {"OF"}, {"RELATION"}});
  for (const NamedRelation& named : relations)
    table.add({fmt::format("{:.2f}", named.bits_per_element), kind_text(named.relation.kind), text_of(named, names)});
  table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
}

Json json_relations(std::span<const NamedRelation> relations) {
  Json all = Json::array();
  for (const NamedRelation& named : relations) {
    Json terms = Json::array();
    for (const RelationTerm& term : named.relation.terms)
      terms.push_back({{"key", json_text(named.references[term.reference])},
                       {"power", term.squared ? 2 : 1},
                       {"coefficient", term.coefficient}});
    all.push_back({{"key", json_text(named.target)},
                   {"of", kind_text(named.relation.kind)},
                   {"bits_per_element", named.bits_per_element},
                   {"terms", std::move(terms)}});
  }
  return all;
}

}  // namespace forebay::cli
