#include "view/place/set_values.h"

#include <charconv>
#include <cstring>

#include <fmt/format.h>

namespace forebay::view {
namespace {

constexpr uint64_t kMostValueBytes = uint64_t{256} << 20;

template <class T, class Number>
void take_numbers(std::span<const std::byte> bytes, std::vector<Number>& numbers) {
  numbers.reserve(bytes.size() / sizeof(T));
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    numbers.push_back(static_cast<Number>(value));
  }
}

template <class Number>
bool take_integers(const DataType& type, std::span<const std::byte> bytes, std::vector<Number>& numbers) {
  const bool is_signed = type.kind == Kind::signed_int;
  if (!is_signed && type.kind != Kind::unsigned_int) return false;
  switch (type.size) {
    case 1:
      is_signed ? take_numbers<int8_t>(bytes, numbers) : take_numbers<uint8_t>(bytes, numbers);
      return true;
    case 2:
      is_signed ? take_numbers<int16_t>(bytes, numbers) : take_numbers<uint16_t>(bytes, numbers);
      return true;
    case 4:
      is_signed ? take_numbers<int32_t>(bytes, numbers) : take_numbers<uint32_t>(bytes, numbers);
      return true;
    case 8:
      is_signed ? take_numbers<int64_t>(bytes, numbers) : take_numbers<uint64_t>(bytes, numbers);
      return true;
    default:
      return false;
  }
}

std::string path_in(const engine::OpenSet& set, const StoredArray& stored) {
  const Catalogue& catalogue = set.containers[stored.container].catalogue();
  return catalogue.paths[catalogue.variables[stored.variable].path];
}

template <class T>
Result<std::vector<T>> known_numbers(std::optional<std::vector<T>> numbers, const SetLook& look,
                                     const StoredArray& stored, const char* what) {
  if (numbers) return *std::move(numbers);
  return fail(ErrorKind::corrupt, fmt::format("'{}' does not hold {}", path_in(look.set(), stored), what));
}

}  // namespace

Shape shape_of(const engine::OpenSet& set, const StoredArray& stored) {
  const Catalogue& catalogue = set.containers[stored.container].catalogue();
  const Shape& shape = catalogue.shapes[catalogue.variables[stored.variable].shape];
  return stored.reversed ? Shape(shape.rbegin(), shape.rend()) : shape;
}

DataType type_of(const engine::OpenSet& set, const StoredArray& stored) {
  return set.containers[stored.container].catalogue().variables[stored.variable].type;
}

std::optional<std::vector<int64_t>> integers(const DataType& type, std::span<const std::byte> bytes) {
  std::vector<int64_t> numbers;
  if (!take_integers(type, bytes, numbers)) return {};
  return numbers;
}

std::optional<std::vector<double>> reals(const DataType& type, std::span<const std::byte> bytes) {
  std::vector<double> numbers;
  if (type.kind == Kind::floating && type.size == 4)
    take_numbers<float>(bytes, numbers);
  else if (type.kind == Kind::floating && type.size == 8)
    take_numbers<double>(bytes, numbers);
  else if (!take_integers(type, bytes, numbers))
    return {};
  return numbers;
}

Result<std::vector<int64_t>> integers_of(const SetLook& look, const StoredArray& stored) {
  FOREBAY_TRY(const Bytes bytes, look.values(stored, kMostValueBytes));
  return known_numbers(integers(type_of(look.set(), stored), bytes), look, stored, "integers");
}

Result<std::vector<double>> reals_of(const SetLook& look, const StoredArray& stored) {
  FOREBAY_TRY(const Bytes bytes, look.values(stored, kMostValueBytes));
  return known_numbers(reals(type_of(look.set(), stored), bytes), look, stored, "numbers");
}

std::optional<std::vector<int64_t>> integers_of(const format::FileAttribute* attribute) {
  if (attribute == nullptr || attribute->is_text) return {};
  return integers(attribute->type, attribute->value);
}

std::optional<std::vector<double>> reals_of(const format::FileAttribute* attribute) {
  if (attribute == nullptr || attribute->is_text) return {};
  return reals(attribute->type, attribute->value);
}

std::vector<std::string> texts_of(const format::FileAttribute* attribute) {
  std::vector<std::string> texts;
  if (attribute == nullptr || !attribute->is_text) return texts;
  std::string_view left = as_text(attribute->value);
  while (!left.empty()) {
    const size_t end = std::min(left.find('\0'), left.size() - 1);
    texts.emplace_back(left.substr(0, end));
    left.remove_prefix(end + 1);
  }
  return texts;
}

std::optional<Numbered> numbered(std::string_view name, size_t least) {
  constexpr size_t kMost = 9;
  size_t begin = name.size();
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  if (name.size() - begin < least || name.size() - begin > kMost || begin == 0) return {};
  Numbered found{.stem = name.substr(0, begin)};
  std::from_chars(name.data() + begin, name.data() + name.size(), found.number);
  return found;
}

Result<bool> not_placed(const Error& error, std::string_view format, Recognised& found) {
  if (error.kind == ErrorKind::io || error.kind == ErrorKind::changed) return std::unexpected(error);
  found.arrays.remarks.push_back(fmt::format("the set looks like one of {}, but: {}", format, error.message()));
  return false;
}

}  // namespace forebay::view
