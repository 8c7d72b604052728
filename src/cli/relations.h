// `info --relations`: which variables were predicted from which others.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/pack/relations.h"
#include "engine/set/set.h"

namespace forebay::cli {

// One relation for each variable group that has one, by its key.
using Relations = std::map<std::string, engine::NamedRelation>;

// Adds those of `container` for groups that have none yet.
void add_relations(const engine::OpenContainer& container, Relations& relations);

// In the order of the groups' keys.
std::vector<engine::NamedRelation> in_order(const Relations& relations);

void print_relations(std::span<const engine::NamedRelation> relations);

nlohmann::ordered_json json_relations(std::span<const engine::NamedRelation> relations);

}  // namespace forebay::cli
