#include "convert/blocks/step_blocks.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "view/read/cover.h"
#include "view/read/filled.h"

namespace forebay::convert {
namespace {

constexpr size_t kMostBlocks = size_t{1} << 20;  // of a step

// Types of adaptable I/O; lists of strings are for attributes.
bool is_held(const view::ElementType& type) { return type.value && type.value != io::ValueType::string_array; }

}  // namespace

Result<uint32_t> time_index_of(const view::StepInfo& step, uint32_t before) {
  const uint64_t own = step.time_index > 0 ? step.time_index : step.number + 1;
  const uint64_t index = std::max(own, uint64_t{before} + 1);
  if (index <= UINT32_MAX) return static_cast<uint32_t>(index);
  return fail(ErrorKind::limit, fmt::format("step {} would have a time index of 2^32 or more", step.number));
}

struct BlockPlanner::Adding {
  StepBlocks to;
  std::map<std::pair<uint32_t, std::string>, size_t> groups;  // by rank and name, in `to`
};

std::vector<size_t> BlockPlanner::wanted_arrays(const view::Step& step) {
  std::vector<size_t> arrays;
  for (size_t i = 0; i < step.arrays().size(); ++i)
    if (wanted_.matches(step.arrays()[i].name)) arrays.push_back(i);
  std::ranges::stable_sort(arrays, {}, [&](size_t i) { return step.arrays()[i].order; });
  return arrays;
}

Result<Plan> BlockPlanner::survey(const view::Run& run) {
  Plan plan;
  std::vector<std::string> lacking;
  std::map<std::string, view::ElementType> known;
  for (const uint64_t number : wish_.steps) {
    FOREBAY_TRY(const auto step, run.step(number));
    plan.steps.push_back(step->info());
    for (const size_t i : wanted_arrays(*step)) {
      const view::Array& array = step->arrays()[i];
      Dataset dataset{
          .path = array.name, .name = array.name, .type = array.type, .form = array.form, .shape = array.shape};
      if (wish_.part) {
        const auto part = wish_.part(array);
        if (!part) {
          FOREBAY_CHECK(wanted_.without_part(part.error()));
          continue;
        }
        if (std::ranges::any_of(part->stride, [](uint64_t stride) { return stride != 1; }))
          return fail(ErrorKind::invalid_argument,
                      fmt::format("{} keeps the blocks of ranks, and has no strides", target_), {}, {},
                      "leave out --stride, or choose another format");
        dataset.shape = part->box.count;
      }
      const auto [before, is_new] = known.try_emplace(array.name, array.type);
      if (!is_new && before->second.value != array.type.value) retyped_.insert(array.name);
      if (!is_new) continue;
      if (!is_held(array.type)) lacking.push_back(lacking_text(array.name, step->info(), array.type));
      plan.datasets.push_back(std::move(dataset));
    }
  }
  FOREBAY_CHECK(wanted_.check(run));
  FOREBAY_CHECK(wanted_.check_parts());
  FOREBAY_CHECK(check_types(target_, std::move(lacking)));
  if (!plan.datasets.empty()) return plan;
  return fail(ErrorKind::not_found, "there is no array to convert", run.path(), {}, "'forebay read' lists them");
}

Result<void> BlockPlanner::add_block(const view::Array& array, Dataset dataset, NewBlock block, uint32_t rank,
                                     Adding& adding) {
  StepBlocks& to = adding.to;
  if (to.blocks.size() >= kMostBlocks)
    return fail(ErrorKind::limit, fmt::format("step {} has more than {} blocks", to.plan.steps[0].number, kMostBlocks),
                {}, {}, "convert fewer arrays at a time");
  uint64_t bytes = 0;
  const uint64_t elements = element_count(dataset.shape);
  if (elements == UINT64_MAX || __builtin_mul_overflow(elements, dataset.type.bytes(), &bytes) ||
      __builtin_add_overflow(to.plan.bytes, bytes, &to.plan.bytes) || to.plan.bytes > INT64_MAX / 2)
    return fail(ErrorKind::limit, fmt::format("what is wanted of step {} has 2^62 bytes or more, with '{}' of rank {}",
                                              to.plan.steps[0].number, array.name, rank));
  const auto [place, is_new] = adding.groups.try_emplace({rank, array.group}, to.groups.size());
  if (is_new) to.groups.push_back({.name = array.group, .rank = rank, .blocks = {}, .attributes = {}});
  to.groups[place->second].blocks.push_back(to.blocks.size());
  to.blocks.push_back(std::move(block));
  to.plan.datasets.push_back(std::move(dataset));
  return {};
}

Result<void> BlockPlanner::add_array(const view::Step& step, size_t number, Adding& adding) {
  const view::Array& array = step.arrays()[number];
  FOREBAY_TRY(const auto blocks, step.blocks(number));
  FOREBAY_CHECK(view::check_stored(step, number, blocks));
  const Dataset blank{
      .path = array.name, .name = array.name, .type = array.type, .form = array.form, .sources = {{0, number}}};
  std::optional<view::Strided> part;
  if (wish_.part) {
    FOREBAY_TRY(part, wish_.part(array));
  }
  const Shape& whole = part ? part->box.count : array.shape;
  const bool is_global = array.form == view::Form::global;
  if (is_global && std::ranges::any_of(blocks, [](const view::Block& block) { return block.indices != nullptr; })) {
    FOREBAY_CHECK(view::check_filled(step, number, part.value_or(view::Strided{engine::whole_box(whole), {}})));
    Dataset dataset = blank;
    dataset.part = part;
    dataset.shape = whole;
    remarks_.insert("elements that ranks wrote at listed indices are put together as one block of rank 0");
    return add_block(array, std::move(dataset), {array.form, whole, Shape(whole.size())}, 0, adding);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    Dataset dataset = blank;
    NewBlock block{.form = array.form, .global = {}, .offsets = {}};
    if (is_global && part) {
      const view::Box box = view::intersection(blocks[i].place, part->box);
      if (view::is_empty(box)) continue;
      block.offsets = box.begin;
      for (size_t d = 0; d < box.begin.size(); ++d) block.offsets[d] -= part->box.begin[d];
      dataset.shape = box.count;
      dataset.part = view::Strided{box, {}};
    } else {
      // A block is read as it was written, also where others lie over it.
      dataset.form = is_global ? view::Form::local : array.form;
      dataset.shape = blocks[i].place.count;
      dataset.block = i;
      if (is_global) block.offsets = blocks[i].place.begin;
    }
    if (is_global) block.global = whole;
    FOREBAY_CHECK(add_block(array, std::move(dataset), std::move(block), blocks[i].rank, adding));
  }
  return {};
}

// Each goes to the first process group of its group, as rank 0 writes them; of a group without blocks, to the first
// one.
void BlockPlanner::add_attributes(const view::Step& step, StepBlocks& to) {
  if (to.groups.empty()) return;
  std::vector<view::Attribute> attributes = step.attributes();
  std::ranges::stable_sort(attributes, {}, &view::Attribute::order);
  for (view::Attribute& attribute : attributes) {
    if (attribute.variable.empty() && !attribute.type.value) {
      remarks_.insert(fmt::format("the attribute '{}' is left out: {} has no such type", attribute.name, target_));
      continue;
    }
    const auto own = std::ranges::find(to.groups, attribute.group, &NewGroup::name);
    NewGroup& group = own == to.groups.end() ? to.groups.front() : *own;
    group.attributes.push_back(std::move(attribute));
  }
}

Result<StepBlocks> BlockPlanner::plan_step(const view::Run& run, uint64_t number) {
  FOREBAY_TRY(const auto step, run.step(number));
  Adding adding;
  adding.to.plan.steps.push_back(step->info());
  for (const size_t array : wanted_arrays(*step)) {
    if (!fortran_order_) fortran_order_ = step->arrays()[array].fortran_order;
    FOREBAY_CHECK(add_array(*step, array, adding));
  }
  StepBlocks& to = adding.to;
  FOREBAY_TRY(last_time_, time_index_of(step->info(), last_time_));
  to.time_index = last_time_;
  to.fortran_order = fortran_order_.value_or(false);
  std::ranges::stable_sort(to.groups, {}, &NewGroup::rank);
  add_attributes(*step, to);
  return std::move(to);
}

}  // namespace forebay::convert
