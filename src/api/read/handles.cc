#include "api/read/handles.h"

namespace forebay::api {
namespace {

int type_of(const view::ElementType& type) {
  using io::ValueType;
  if (type.value) switch (*type.value) {
      case ValueType::long_double:
        return FOREBAY_READ_LONG_DOUBLE;
      case ValueType::string:
      case ValueType::string_array:
        return FOREBAY_READ_STRING;
      case ValueType::complex64:
        return FOREBAY_READ_COMPLEX64;
      case ValueType::complex128:
        return FOREBAY_READ_COMPLEX128;
      default:
        break;
    }
  const int width = type.data.size == 1 ? 0 : type.data.size == 2 ? 1 : type.data.size == 4 ? 2 : 3;
  switch (type.data.kind) {
    case Kind::signed_int:
      return FOREBAY_READ_INT8 + width;
    case Kind::unsigned_int:
      return FOREBAY_READ_UINT8 + width;
    case Kind::floating:
      return FOREBAY_READ_FLOAT16 + width - 1;
    case Kind::opaque:
      break;
  }
  return FOREBAY_READ_OTHER;
}

int form_of(view::Form form) {
  if (form == view::Form::global) return FOREBAY_READ_GLOBAL;
  return form == view::Form::local ? FOREBAY_READ_LOCAL : FOREBAY_READ_SCALAR;
}

forebay_read_array describe(const view::Array& array, ArrayFacts& kept) {
  kept.type_name = view::to_string(array.type);
  return {.name = array.name.c_str(),
          .type = type_of(array.type),
          .type_name = kept.type_name.c_str(),
          .element_bytes = array.type.bytes(),
          .form = form_of(array.form),
          .dimensions = array.shape.size(),
          .shape = array.shape.data(),
          .blocks = array.blocks,
          .level = array.level ? static_cast<int>(*array.level) : -1,
          .values = kept.values.keep(array.characteristics)};
}

}  // namespace

const forebay_read_values* KeptValues::keep(const std::optional<container::Characteristics>& known) {
  if (!known) return nullptr;
  values_ = {.count = known->count,
             .nans = known->nans + known->holes,
             .infinities = known->infinities,
             .min = known->min,
             .max = known->max,
             .sum = known->sum,
             .sum_of_squares = known->sum_of_squares};
  return &values_;
}

int read_failed(const Error& error) {
  return error.kind == ErrorKind::changed ? failed(FOREBAY_GONE, error) : failed(error);
}

}  // namespace forebay::api

using namespace forebay;

forebay_read_step::forebay_read_step(std::shared_ptr<const view::Step> opened)
    : step(std::move(opened)), arrays(step->arrays().size()) {
  const view::StepInfo& known = step->info();
  info = {.number = known.number,
          .set = known.set.c_str(),
          .has_step = known.step ? 1 : 0,
          .step = known.step.value_or(0),
          .has_time = known.time ? 1 : 0,
          .time = known.time.value_or(0),
          .arrays = arrays.size()};
  for (size_t i = 0; i < arrays.size(); ++i) arrays[i].facts = api::describe(step->arrays()[i], arrays[i]);
}

const std::vector<api::AttributeFacts>& forebay_read_step::attributes() const {
  std::call_once(attributes_read_, [this] {
    const auto& known = step->attributes();
    std::vector<api::AttributeFacts> made(known.size());
    for (size_t i = 0; i < known.size(); ++i) {
      const view::Attribute& one = known[i];
      made[i].type_name = view::to_string(one.type);
      made[i].facts = {.name = one.name.c_str(),
                       .variable = one.variable.c_str(),
                       .type = api::type_of(one.type),
                       .type_name = made[i].type_name.c_str(),
                       .count = one.count,
                       .value = one.value.data(),
                       .bytes = one.value.size()};
    }
    attributes_ = std::move(made);
  });
  return attributes_;
}

void forebay_read_step::describe_all(Blocks& of) {
  of.facts = std::vector<api::BlockFacts>(of.blocks.size());
  for (size_t i = 0; i < of.blocks.size(); ++i) {
    const view::Block& block = of.blocks[i];
    of.facts[i].facts = {.rank = block.rank,
                         .begin = block.place.begin.data(),
                         .count = block.place.count.data(),
                         .dimensions = block.place.count.size(),
                         .values = of.facts[i].values.keep(block.characteristics)};
  }
}

Result<const std::vector<view::Block>*> forebay_read_step::blocks(size_t array) const {
  const std::lock_guard lock(mutex_);
  FOREBAY_TRY(const Blocks* const known, find_blocks(array));
  return &known->blocks;
}

Result<const forebay_read_block*> forebay_read_step::block_facts(size_t array, uint64_t block) const {
  const std::lock_guard lock(mutex_);
  FOREBAY_TRY(Blocks* const known, find_blocks(array));
  if (block >= known->blocks.size()) return fail(ErrorKind::invalid_argument, "the array has no block of that number");
  if (known->facts.empty()) describe_all(*known);
  return &known->facts[block].facts;
}

// With the mutex held.
Result<forebay_read_step::Blocks*> forebay_read_step::find_blocks(size_t array) const {
  const auto known = blocks_.find(array);
  if (known != blocks_.end()) return &known->second;
  FOREBAY_TRY(auto found, step->blocks(array));
  return &blocks_.emplace(array, Blocks{std::move(found), {}}).first->second;
}
