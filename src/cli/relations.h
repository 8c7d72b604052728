// `info --relations`: which variables were predicted from which others.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "engine/pack/relations.h"
#include "engine/set/set.h"

namespace forebay::cli {

// One relation for each variable group that has one, from the first container where it has; in the order of the
// groups' keys.
std::vector<engine::NamedRelation> all_relations(std::span<const engine::OpenContainer> containers);

void print_relations(std::span<const engine::NamedRelation> relations);

nlohmann::ordered_json json_relations(std::span<const engine::NamedRelation> relations);

}  // namespace forebay::cli
