#include "io/group/name_index.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"

namespace forebay::io {

NameIndex::NameIndex(const GroupDefinition& group) { update(group); }

void NameIndex::update(const GroupDefinition& group) {
  if (group_ != group.name) group_ = group.name;  // nothing is written where nothing is new: other threads may read
  for (; variable_count_ < group.variables.size(); ++variable_count_)
    variables_.try_emplace(group.variables[variable_count_].full_name(), variable_count_);
  for (; attribute_count_ < group.attributes.size(); ++attribute_count_)
    attributes_.try_emplace(group.attributes[attribute_count_].full_name(), attribute_count_);
}

Outcome<size_t> NameIndex::variable(std::string_view name) const {
  if (const size_t* place = find_variable(name)) return *place;
  std::vector<std::string> names;
  for (const auto& [known, place] : variables_) names.push_back(known);
  // A name without its path, or with a '/' too many, is the commonest slip.
  const std::string_view last = name.substr(name.rfind('/') + 1);
  std::vector<std::string> same;
  for (const std::string& known : names)
    if (std::string_view(known).substr(known.rfind('/') + 1) == last) same.push_back(known);
  std::ranges::sort(same);
  const std::string otherwise = names.empty() ? "the group has no variables" : "names count exactly, with their path";
  return refuse(Code::invalid_name, fmt::format("group '{}' has no variable '{}'", group_, name),
                same.empty() ? nearest_hint(name, names, otherwise) : fmt::format("did you mean {}?", same.front()));
}

const size_t* NameIndex::find_variable(std::string_view name) const {
  const auto at = variables_.find(name);
  return at == variables_.end() ? nullptr : &at->second;
}

const size_t* NameIndex::find_attribute(std::string_view name) const {
  const auto at = attributes_.find(name);
  return at == attributes_.end() ? nullptr : &at->second;
}

}  // namespace forebay::io
