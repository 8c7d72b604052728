#include "format/meaning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace forebay::format {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"_FillValue",  "missing_value", "valid_min",  "valid_max",
                                                    "valid_range", "scale_factor",  "add_offset", "_Unsigned"};
constexpr size_t kMostFills = 64;
constexpr long double kNetcdfFill = 0x1.ep+122L;  // 9.9692099683868690e+36, of binary32 and binary64 alike

template <class T>
long double load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<long double>(value);
}

// Number `i` of an attribute. Integers count as unsigned ones if `is_unsigned`.
long double number(const FileAttribute& attribute, size_t i, bool is_unsigned) {
  const DataType& type = attribute.type;
  const std::byte* from = attribute.value.data() + i * type.size;
  if (type.kind == Kind::floating) return type.size == 4 ? load<float>(from) : load<double>(from);
  if (type.kind == Kind::unsigned_int || is_unsigned)
    return type.size == 1   ? load<uint8_t>(from)
           : type.size == 2 ? load<uint16_t>(from)
           : type.size == 4 ? load<uint32_t>(from)
                            : load<uint64_t>(from);
  return type.size == 1   ? load<int8_t>(from)
         : type.size == 2 ? load<int16_t>(from)
         : type.size == 4 ? load<int32_t>(from)
                          : load<int64_t>(from);
}

class MeaningReader {
 public:
  MeaningReader(const FileAttributes& attributes, std::string_view object, const DataType& type)
      : attributes_(attributes), object_(object), type_(type) {}

  Meaning read(bool is_netcdf) {
    if (!can_mean(type_)) return {};
    read_unsigned();
    read_packing();
    add_fills("_FillValue");
    const bool has_own = attributes_.find(object_, "_FillValue") != nullptr;
    if (is_netcdf && !has_own && type_.kind == Kind::floating) meaning_.fills.push_back(kNetcdfFill);
    add_fills("missing_value");
    read_bounds();
    return meaning_;
  }

 private:
  // The numbers of an attribute, if it has such and at least one.
  std::vector<long double> numbers(std::string_view name, const FileAttribute** found = nullptr) const {
    const FileAttribute* attribute = attributes_.find(object_, name);
    if (attribute == nullptr || attribute->is_text || !can_mean(attribute->type)) return {};
    const bool is_unsigned = meaning_.is_unsigned && attribute->type.size == type_.size;
    std::vector<long double> numbers;
    for (size_t i = 0; i < std::min(kMostFills, attribute->value.size() / attribute->type.size); ++i)
      numbers.push_back(number(*attribute, i, is_unsigned));
    if (found != nullptr) *found = attribute;
    return numbers;
  }

  void read_unsigned() {
    const FileAttribute* attribute = attributes_.find(object_, "_Unsigned");
    if (attribute == nullptr || !attribute->is_text || type_.kind != Kind::signed_int) return;
    const std::string_view text = as_text(attribute->value);
    const std::string_view word = text.substr(0, text.find('\0'));
    meaning_.is_unsigned = word == "true" || word == "True" || word == "TRUE";
  }

  void read_packing() {
    const FileAttribute *of_scale = nullptr, *of_offset = nullptr;
    const auto scales = numbers("scale_factor", &of_scale), offsets = numbers("add_offset", &of_offset);
    const auto is_usable = [](const std::vector<long double>& values) {
      return values.size() == 1 && std::isfinite(static_cast<double>(values[0]));
    };
    const bool has_scale = is_usable(scales) && scales[0] != 0 && scales[0] != 1;
    const bool has_offset = is_usable(offsets) && offsets[0] != 0;
    if (has_scale) meaning_.scale = static_cast<double>(scales[0]);
    if (has_offset) meaning_.offset = static_cast<double>(offsets[0]);
    const auto bytes_of = [](const FileAttribute* attribute) -> uint16_t {
      if (attribute == nullptr) return 4;
      return attribute->type.kind == Kind::floating && attribute->type.size == 4 ? 4 : 8;
    };
    if (has_scale || has_offset) meaning_.unpacked_bytes = std::max(bytes_of(of_scale), bytes_of(of_offset));
  }

  void add_fills(std::string_view name) {
    for (const long double value : numbers(name)) {
      // Of another type than the variable: what the variable makes of it.
      const bool narrows = type_.kind == Kind::floating && type_.size == 4;
      const long double fill = narrows ? static_cast<float>(value) : value;
      if (std::isfinite(fill) && std::ranges::find(meaning_.fills, fill) == meaning_.fills.end())
        meaning_.fills.push_back(fill);
    }
  }

  void read_bounds() {
    const FileAttribute* of = nullptr;
    if (const auto range = numbers("valid_range", &of); range.size() == 2) {
      set_bounds(range[0], range[1], *of);
      return;
    }
    if (const auto least = numbers("valid_min", &of); least.size() == 1) set_bounds(least[0], {}, *of);
    if (const auto most = numbers("valid_max", &of); most.size() == 1) set_bounds({}, most[0], *of);
  }

  // Bounds are of what is stored, but where integers are packed and bounds are not integers: then of what these mean.
  void set_bounds(std::optional<long double> least, std::optional<long double> most, const FileAttribute& of) {
    if (meaning_.is_packed() && type_.kind != Kind::floating && of.type.kind == Kind::floating) {
      const auto stored = [&](std::optional<long double> value) -> std::optional<long double> {
        if (!value) return {};
        const long double exact = (*value - meaning_.offset.value_or(0)) / meaning_.scale.value_or(1);
        constexpr long double kRounding = 1e-5L;  // of a binary32, in units of a stored integer
        const long double whole = std::round(exact);
        return std::abs(exact - whole) < kRounding * std::max(1.0L, std::abs(whole)) ? whole : exact;
      };
      least = stored(least);
      most = stored(most);
      if (meaning_.scale.value_or(1) < 0) std::swap(least, most);
    }
    if (least && !std::isnan(*least)) meaning_.least = least;
    if (most && !std::isnan(*most)) meaning_.most = most;
  }

  const FileAttributes& attributes_;
  const std::string_view object_;
  const DataType& type_;
  Meaning meaning_;
};

}  // namespace

bool says_what_values_mean(std::string_view name) { return std::ranges::find(kNames, name) != kNames.end(); }

Meaning meaning_of(const FileAttributes& attributes, std::string_view object, const DataType& type, bool is_netcdf) {
  return MeaningReader(attributes, object, type).read(is_netcdf);
}

std::string meaning_text(const FileAttributes& attributes, std::string_view object, const DataType& type,
                         bool is_netcdf) {
  std::string text = to_text(meaning_of(attributes, object, type, is_netcdf));
  return text.size() <= kMostMeaningBytes ? text : std::string();
}

bool is_netcdf(std::string_view format, const FileAttributes& attributes) {
  return format == "netcdf" || attributes.find("/", "_NCProperties") != nullptr;
}

}  // namespace forebay::format
