#include "cli/relations.h"

#include <fmt/format.h>

#include "cli/json.h"
#include "cli/table.h"
#include "cli/text.h"
#include "engine/inspect/relation_text.h"

namespace forebay::cli {

using codec::RelationTerm;
using engine::NamedRelation;

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
  const std::vector<std::string> texts = engine::relation_texts(relations);
  Table table({{"BITS", Align::right}, {"OF"}, {"RELATION"}});
  for (size_t i = 0; i < relations.size(); ++i)
    table.add({fmt::format("{:.2f}", relations[i].bits_per_element), engine::kind_text(relations[i].relation.kind),
               printable(texts[i])});
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
                   {"of", engine::kind_text(named.relation.kind)},
                   {"bits_per_element", named.bits_per_element},
                   {"terms", std::move(terms)}});
  }
  return all;
}

}  // namespace forebay::cli
