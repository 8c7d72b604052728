#include "mpiio/type_contents.h"

#include <algorithm>
#include <optional>
#include <span>

#include "mpiio/array_types.h"

namespace forebay::lock::mpiio {
namespace {

std::unexpected<Error> inconsistent() {
  return fail(ErrorKind::invalid_argument, "the contents of a datatype contradict each other");
}

Result<int64_t> product(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return fail(ErrorKind::limit, "a datatype has offsets beyond 63 bits");
  return result;
}

// Blocks of elements, of which several in a row often have the same length.
class Blocks {
 public:
  explicit Blocks(const Pattern& element) : element_(element) {}

  Result<void> add(Sequence& to, int64_t displacement, int64_t count) {
    if (count < 0) return inconsistent();
    if (element_.dense()) {
      FOREBAY_TRY(int64_t length, product(count, element_.extent()));
      if (__builtin_add_overflow(displacement, element_.first(), &displacement)) return inconsistent();
      return to.add_bytes(displacement, static_cast<uint64_t>(length));
    }
    if (count != count_) {
      FOREBAY_TRY(block_, Pattern::loop(static_cast<uint64_t>(count), element_.extent(), element_, 0, 0));
      count_ = count;
    }
    return to.add(displacement, block_);
  }

 private:
  const Pattern& element_;
  int64_t count_ = 0;
  Pattern block_;
};

class Maker {
 public:
  explicit Maker(const TypeContents& contents) : contents_(contents), numbers_(contents.numbers) {}

  Result<Pattern> make();

 private:
  const Pattern& element() const { return contents_.types.front(); }
  Result<Pattern> finish(Sequence& sequence) { return sequence.finish(contents_.lower_bound, contents_.extent); }

  Result<Pattern> contiguous();
  Result<Pattern> vector(int64_t unit);
  Result<Pattern> indexed(int64_t unit);
  Result<Pattern> indexed_block(int64_t unit);
  Result<Pattern> structure();
  Result<Pattern> subarray_type();
  Result<Pattern> darray_type();
  Result<Pattern> value_index();

  const TypeContents& contents_;
  std::span<const int64_t> numbers_;
};

Result<Pattern> Maker::contiguous() {
  if (numbers_.size() != 1 || numbers_[0] < 0) return inconsistent();
  return Pattern::loop(static_cast<uint64_t>(numbers_[0]), element().extent(), element(), contents_.lower_bound,
                       contents_.extent);
}

// Displacements are multiples of `unit` bytes here and below.
Result<Pattern> Maker::vector(int64_t unit) {
  if (numbers_.size() != 3 || numbers_[0] < 0 || numbers_[1] < 0) return inconsistent();
  FOREBAY_TRY(int64_t stride, product(numbers_[2], unit));
  FOREBAY_TRY(Pattern block, Pattern::loop(static_cast<uint64_t>(numbers_[1]), element().extent(), element(), 0, 0));
  return Pattern::loop(static_cast<uint64_t>(numbers_[0]), stride, block, contents_.lower_bound, contents_.extent);
}

Result<Pattern> Maker::indexed(int64_t unit) {
  size_t count = numbers_.size() / 2;
  if (numbers_.size() != 2 * count + 1 || numbers_[0] != static_cast<int64_t>(count)) return inconsistent();
  Sequence sequence;
  sequence.reserve(static_cast<size_t>(numbers_[0]));
  Blocks blocks(element());
  for (size_t i = 1; i <= count; ++i) {
    FOREBAY_TRY(int64_t displacement, product(numbers_[count + i], unit));
    FOREBAY_CHECK(blocks.add(sequence, displacement, numbers_[i]));
  }
  return finish(sequence);
}

Result<Pattern> Maker::indexed_block(int64_t unit) {
  if (numbers_.size() < 2 || numbers_[0] != static_cast<int64_t>(numbers_.size() - 2)) return inconsistent();
  Sequence sequence;
  sequence.reserve(static_cast<size_t>(numbers_[0]));
  Blocks blocks(element());
  for (int64_t number : numbers_.subspan(2)) {
    FOREBAY_TRY(int64_t displacement, product(number, unit));
    FOREBAY_CHECK(blocks.add(sequence, displacement, numbers_[1]));
  }
  return finish(sequence);
}

Result<Pattern> Maker::structure() {
  size_t count = contents_.types.size();
  if (numbers_.size() != 2 * count + 1) return inconsistent();
  Sequence sequence;
  for (size_t i = 0; i < count; ++i)
    FOREBAY_CHECK(Blocks(contents_.types[i]).add(sequence, numbers_[count + i + 1], numbers_[i + 1]));
  return finish(sequence);
}

std::optional<ArrayOrder> order_of(int64_t number) {
  if (number == static_cast<int64_t>(ArrayOrder::c)) return ArrayOrder::c;
  if (number == static_cast<int64_t>(ArrayOrder::fortran)) return ArrayOrder::fortran;
  return std::nullopt;
}

Result<Pattern> Maker::subarray_type() {
  if (numbers_.size() < 2 || numbers_[0] != static_cast<int64_t>((numbers_.size() - 2) / 3)) return inconsistent();
  size_t rank = static_cast<size_t>(numbers_[0]);
  auto order = order_of(numbers_.back());
  if (numbers_.size() != 3 * rank + 2 || !order) return inconsistent();
  std::vector<SubarrayDimension> dimensions(rank);
  for (size_t i = 0; i < rank; ++i)
    dimensions[i] = {numbers_[1 + i], numbers_[1 + rank + i], numbers_[1 + 2 * rank + i]};
  return subarray(dimensions, *order, element(), contents_.lower_bound, contents_.extent);
}

Result<Pattern> Maker::darray_type() {
  if (numbers_.size() < 4 || numbers_[2] != static_cast<int64_t>((numbers_.size() - 4) / 4)) return inconsistent();
  size_t rank = static_cast<size_t>(numbers_[2]);
  auto order = order_of(numbers_.back());
  if (numbers_.size() != 4 * rank + 4 || !order) return inconsistent();
  std::vector<DarrayDimension> dimensions(rank);
  for (size_t i = 0; i < rank; ++i) {
    auto number = [&](size_t array) { return numbers_[3 + array * rank + i]; };
    dimensions[i] = {number(0), static_cast<Distribution>(number(1)), number(2), number(3)};
  }
  return darray(dimensions, numbers_[1], *order, element(), contents_.lower_bound, contents_.extent);
}

// A value and an index behind it, aligned as in C.
Result<Pattern> Maker::value_index() {
  if (contents_.types.size() != 2) return inconsistent();
  const Pattern &value = contents_.types[0], &index = contents_.types[1];
  int64_t alignment = std::max<int64_t>(index.extent(), 1), end = value.extent();
  Part parts[] = {{0, value}, {(end + alignment - 1) / alignment * alignment, index}};
  return Pattern::sequence(parts, contents_.lower_bound, contents_.extent);
}

Result<Pattern> Maker::make() {
  if (contents_.combiner == Combiner::structure) return structure();
  if (contents_.combiner == Combiner::value_index) return value_index();
  if (contents_.types.size() != 1) return inconsistent();
  int64_t element_extent = element().extent();
  switch (contents_.combiner) {
    case Combiner::dup:
    case Combiner::resized:
      return element().resized(contents_.lower_bound, contents_.extent);
    case Combiner::contiguous:
      return contiguous();
    case Combiner::vector:
      return vector(element_extent);
    case Combiner::hvector:
      return vector(1);
    case Combiner::indexed:
      return indexed(element_extent);
    case Combiner::hindexed:
      return indexed(1);
    case Combiner::indexed_block:
      return indexed_block(element_extent);
    case Combiner::hindexed_block:
      return indexed_block(1);
    case Combiner::subarray:
      return subarray_type();
    case Combiner::darray:
      return darray_type();
    default:
      return inconsistent();
  }
}

}  // namespace

Result<Pattern> pattern_of(const TypeContents& contents) { return Maker(contents).make(); }

}  // namespace forebay::lock::mpiio
