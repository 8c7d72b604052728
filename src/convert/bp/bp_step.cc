#include "convert/bp/bp_step.h"

#include <algorithm>

#include <fmt/format.h>

#include "bp/encoder.h"
#include "bp/types.h"

namespace forebay::convert {
namespace {

constexpr std::string_view kNoGroup = "data";  // what a group is called where there are none
using bp::kString, bp::kStrings;

// Lists of strings have a type of their own.
uint8_t attribute_type(const view::Attribute& attribute) {
  const auto type = static_cast<uint8_t>(*attribute.type.value);
  return type == kString && attribute.count != 1 ? kStrings : type;
}

std::optional<BpAttribute> bp_attribute(const view::Attribute& attribute, const std::string& group, BpNames& names) {
  BpAttribute made{.head = {}, .count = attribute.count, .value = attribute.value, .reference = {}};
  uint8_t type = bp::kNoType;
  if (!attribute.variable.empty()) {
    made.reference = names.find(group, attribute.variable);
    if (!made.reference) return {};
  } else {
    type = attribute_type(attribute);
    if (type == kString)
      while (!made.value.empty() && made.value.back() == std::byte{0}) made.value.pop_back();
    const bool is_text = type == kString || type == kStrings;
    if (made.value.size() > (is_text ? bp::kMostText : uint64_t{UINT32_MAX} / 2)) return {};
  }
  if (attribute.name.size() > bp::kMostText) return {};
  made.head = names.attribute(group, attribute.name, type);
  return made;
}

Result<BpBlock> bp_block(const Dataset& dataset, const NewBlock& block, const std::string& group, bool fortran_order,
                         BpNames& names) {
  BpBlock made{.head = {}, .dimensions = {}, .bytes = dataset.bytes()};
  const auto type = static_cast<uint8_t>(*dataset.type.value);
  FOREBAY_TRY(const size_t variable, names.variable(group, dataset.name, type));
  made.head = names.head(variable);
  if (type == kString && made.bytes > bp::kMostText)
    return fail(
        ErrorKind::limit,
        fmt::format("the string '{}' has {} bytes, and BP files allow {}", dataset.name, made.bytes, bp::kMostText), {},
        {}, "leave it out with --except");
  if (block.form == view::Form::scalar) return made;
  for (size_t d = 0; d < dataset.shape.size(); ++d)
    made.dimensions.push_back(
        {dataset.shape[d], block.global.empty() ? 0 : block.global[d], block.offsets.empty() ? 0 : block.offsets[d]});
  if (fortran_order) std::ranges::reverse(made.dimensions);
  return made;
}

}  // namespace

Result<BpStep> bp_step(const StepBlocks& step, BpNames& names, std::set<std::string>& remarks) {
  BpStep made;
  made.blocks.resize(step.blocks.size());
  for (const NewGroup& group : step.groups) {
    const std::string name = group.name.empty() ? std::string(kNoGroup) : group.name;
    BpGroup& to = made.groups.emplace_back();
    to.head = {.group = name,
               .fortran_order = step.fortran_order,
               .rank = group.rank,
               .time_name = {},
               .time = step.time_index};
    to.blocks = group.blocks;
    for (const size_t block : group.blocks) {
      FOREBAY_TRY(made.blocks[block],
                  bp_block(step.plan.datasets[block], step.blocks[block], name, step.fortran_order, names));
    }
    for (const view::Attribute& attribute : group.attributes)
      if (auto its = bp_attribute(attribute, name, names))
        to.attributes.push_back(*std::move(its));
      else
        remarks.insert(
            fmt::format("the attribute '{}' is left out: it is too long for BP, or the variable that it refers to "
                        "is not converted",
                        attribute.name));
  }
  return made;
}

}  // namespace forebay::convert
