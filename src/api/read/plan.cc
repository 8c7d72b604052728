// Plans and the reading of values: the other part of forebay_read.h.
#include <limits>

#include <fmt/format.h>

#include "api/read/handles.h"
#include "view/read/cover.h"

namespace {

using namespace forebay;
using api::guarded, api::read_failed, api::refused;

// A step and one of its arrays, as a call names them; the code, if they are not there.
int check_array(const forebay_read_plan* plan, const forebay_read_step* step, size_t array) {
  if (plan == nullptr || step == nullptr) return refused("no plan or no step is given");
  if (array >= step->step->arrays().size()) return refused("the step has no array of that number");
  return FOREBAY_OK;
}

// The box that a call names. `shape` is what it may be all of.
Result<view::Box> box_of(size_t dimensions, const uint64_t* begin, const uint64_t* count, const Shape& shape) {
  if (begin == nullptr && count == nullptr) return engine::whole_box(shape);
  if ((begin == nullptr || count == nullptr) && dimensions > 0)
    return fail(ErrorKind::invalid_argument, "of a box either begin or count is missing");
  return view::Box{Shape(begin, begin + dimensions), Shape(count, count + dimensions)};
}

int add_request(forebay_read_plan* plan, const forebay_read_step* step, size_t array, view::Selection selection,
                const view::Block* block, void* out, size_t bytes) {
  const view::Array& of = step->step->arrays()[array];
  const auto needed = view::selection_bytes(of, selection, block);
  if (!needed) return read_failed(needed.error());
  if (*needed != bytes || (out == nullptr && bytes > 0))
    return read_failed({ErrorKind::invalid_argument,
                        fmt::format("the selection of '{}' has {} bytes, and there is room for {}", of.name, *needed,
                                    out == nullptr ? 0 : bytes),
                        {},
                        {},
                        {}});
  plan->requests.push_back(
      {step->step.get(), array, std::move(selection), std::span(static_cast<std::byte*>(out), bytes)});
  return FOREBAY_OK;
}

}  // namespace

extern "C" {

int forebay_read_plan_new(forebay_read_plan** plan) {
  if (plan == nullptr) return refused("there is no place for the plan");
  *plan = nullptr;
  return guarded([&] {
    *plan = new forebay_read_plan;
    return int{FOREBAY_OK};
  });
}

void forebay_read_plan_free(forebay_read_plan* plan) { delete plan; }

int forebay_read_plan_box(forebay_read_plan* plan, const forebay_read_step* step, size_t array, size_t dimensions,
                          const uint64_t* begin, const uint64_t* count, const uint64_t* stride, void* out,
                          size_t bytes) {
  if (const int code = check_array(plan, step, array); code != FOREBAY_OK) return code;
  return guarded([&] {
    if (begin == nullptr && stride != nullptr) return refused("a stride is given without a box");
    const view::Array& of = step->step->arrays()[array];
    const view::Block* block = nullptr;
    if (of.form != view::Form::global) {
      const auto blocks = step->blocks(array);
      if (!blocks) return read_failed(blocks.error());
      if (!(*blocks)->empty()) block = &(*blocks)->front();
    }
    auto box = box_of(dimensions, begin, count, block != nullptr ? block->place.count : of.shape);
    if (!box) return read_failed(box.error());
    view::Strided selection{*std::move(box), {}};
    if (stride != nullptr) selection.stride.assign(stride, stride + dimensions);
    return add_request(plan, step, array, std::move(selection), block, out, bytes);
  });
}

int forebay_read_plan_points(forebay_read_plan* plan, const forebay_read_step* step, size_t array, size_t dimensions,
                             const uint64_t* indices, uint64_t points, void* out, size_t bytes) {
  if (const int code = check_array(plan, step, array); code != FOREBAY_OK) return code;
  if (indices == nullptr && points > 0) return refused("no indices are given");
  return guarded([&] {
    uint64_t count = 0;
    if (__builtin_mul_overflow(points, dimensions, &count) || count > std::numeric_limits<uint64_t>::max() / 8)
      return refused("the points do not fit into the memory");
    view::Points selection{dimensions, std::vector<uint64_t>(indices, indices + count)};
    return add_request(plan, step, array, std::move(selection), nullptr, out, bytes);
  });
}

int forebay_read_plan_block(forebay_read_plan* plan, const forebay_read_step* step, size_t array, uint64_t block,
                            size_t dimensions, const uint64_t* begin, const uint64_t* count, void* out, size_t bytes) {
  if (const int code = check_array(plan, step, array); code != FOREBAY_OK) return code;
  return guarded([&] {
    const auto blocks = step->blocks(array);
    if (!blocks) return read_failed(blocks.error());
    const view::Block* of = block < (*blocks)->size() ? &(**blocks)[block] : nullptr;
    view::WrittenBlock selection{block, {}};
    if (of != nullptr && (begin != nullptr || count != nullptr)) {
      auto box = box_of(dimensions, begin, count, of->place.count);
      if (!box) return read_failed(box.error());
      selection.box = *std::move(box);
    }
    return add_request(plan, step, array, std::move(selection), of, out, bytes);
  });
}

int forebay_read_perform(forebay_read_plan* plan) {
  if (plan == nullptr) return refused("no plan is given");
  return guarded([&] {
    const auto requests = std::exchange(plan->requests, {});
    plan->result = {};
    plan->cost = {};
    plan->result = view::read(requests);
    const view::ReadCost& known = plan->result.cost;
    plan->cost = {known.read_bytes, known.decoded_bytes, known.frames, known.cached};
    for (const view::Outcome& outcome : plan->result.outcomes)
      if (outcome.error) return read_failed(*outcome.error);
    return int{FOREBAY_OK};
  });
}

int forebay_read_outcome(const forebay_read_plan* plan, size_t selection, uint64_t* holes) {
  if (plan == nullptr) return refused("no plan is given");
  if (selection >= plan->result.outcomes.size()) return refused("no selection of that number was performed");
  return guarded([&] {
    const view::Outcome& outcome = plan->result.outcomes[selection];
    if (holes != nullptr) *holes = outcome.holes;
    return outcome.error ? read_failed(*outcome.error) : int{FOREBAY_OK};
  });
}

int forebay_read_inquire_cost(const forebay_read_plan* plan, const forebay_read_cost** cost) {
  if (plan == nullptr || cost == nullptr) return refused("no plan is given, or no place for its cost");
  *cost = &plan->cost;
  return FOREBAY_OK;
}

}  // extern "C"
