#include "codec/lossy/lossy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "codec/codec_ids.h"
#include "codec/recipe.h"

namespace forebay::codec {
namespace {

constexpr size_t kParameterBytes = 1 + 3 * sizeof(double);

void store_double(std::byte* to, double value) { store_le(to, std::bit_cast<uint64_t>(value)); }
double load_double(const std::byte* from) { return std::bit_cast<double>(load_le<uint64_t>(from)); }

// Calls visit(value, other value) for the elements of two frames of one type.
template <class Visit>
bool all_pairs(const DataType& type, std::span<const std::byte> a, std::span<const std::byte> b, Visit visit) {
  const auto run = [&]<class T, bool kBig>() {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const auto load = [](const std::byte* from) {
      return static_cast<double>(std::bit_cast<T>(kBig ? load_be<Bits>(from) : load_le<Bits>(from)));
    };
    for (size_t i = 0; i < a.size(); i += sizeof(T))
      if (!visit(load(a.data() + i), load(b.data() + i))) return false;
    return true;
  };
  const bool big = type.order == ByteOrder::big;
  if (type.size == 4) return big ? run.template operator()<float, true>() : run.template operator()<float, false>();
  return big ? run.template operator()<double, true>() : run.template operator()<double, false>();
}

// What the values of a frame are like. All of them are finite.
struct Extremes {
  double smallest_magnitude = std::numeric_limits<double>::infinity();  // of those that are not 0
  double range = 0;
};

std::optional<Extremes> survey(const DataType& type, std::span<const std::byte> raw) {
  Extremes values;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const bool finite = all_pairs(type, raw, raw, [&](double x, double) {
    if (x != 0) values.smallest_magnitude = std::min(values.smallest_magnitude, std::abs(x));
    low = std::min(low, x);
    high = std::max(high, x);
    return std::isfinite(x);
  });
  values.range = high - low;
  return finite ? std::optional(values) : std::nullopt;
}

// What an error of 1 means, as the bound measures it, for the value x.
double measure(BoundKind kind, const Extremes& values, double x) {
  switch (kind) {
    case BoundKind::relative:
      return std::abs(x);
    case BoundKind::range:
      return values.range;
    default:
      return 1;
  }
}

// The absolute error that keeps the bound for all values, before rounding.
double tolerance_of(const ErrorBound& bound, const Extremes& values) {
  return bound.value * measure(bound.kind, values, values.smallest_magnitude);
}

// The largest error as the bound measures it; none if the bound does not hold somewhere. The difference and the limit
// are rounded numbers. A rounded difference that is less than a number is not really more than it; and the limit is
// made smaller by more than its three roundings may have made it larger (where it is subnormal, it and the difference
// are multiples of the least number, and the former is off by less than two halves of it).
std::optional<double> error_of(const ErrorBound& bound, const Extremes& values, const DataType& type,
                               std::span<const std::byte> raw, std::span<const std::byte> decoded) {
  constexpr double kShrink = 1 - 4 * std::numeric_limits<double>::epsilon();
  double largest = 0;
  const bool held = all_pairs(type, raw, decoded, [&](double x, double y) {
    const double difference = std::abs(x - y);
    if (difference == 0) return true;
    const double unit = measure(bound.kind, values, x);
    largest = std::max(largest, difference / unit);
    return difference < bound.value * unit * kShrink;
  });
  return held ? std::optional(std::min(largest, bound.value)) : std::nullopt;
}

// Encodes `raw` into `payload` and decodes that again. Returns the size of the payload, or 0.
size_t there_and_back(const Codec& codec, const LossyParameters& parameters, const FrameShape& shape,
                      std::span<const std::byte> raw, Buffer& payload, std::span<std::byte> decoded) {
  const Bytes bytes = encode_lossy_parameters(parameters);
  const Context context{shape, 0, bytes};
  payload.resize(payload.capacity());
  payload.resize(codec.encode(context, raw, payload.span()));
  return !payload.empty() && codec.decode(context, payload, decoded) ? payload.size() : 0;
}

}  // namespace

Bytes encode_lossy_parameters(const LossyParameters& parameters) {
  Bytes bytes(kParameterBytes);
  bytes[0] = static_cast<std::byte>(parameters.note.bound.kind);
  store_double(bytes.data() + 1, parameters.note.bound.value);
  store_double(bytes.data() + 9, parameters.note.error);
  store_double(bytes.data() + 17, parameters.tolerance);
  return bytes;
}

Result<LossyParameters> decode_lossy_parameters(std::span<const std::byte> bytes) {
  if (bytes.size() != kParameterBytes) return fail(ErrorKind::corrupt, "an error bound of a wrong length");
  const LossyParameters parameters{.note = {.bound = {static_cast<BoundKind>(bytes[0]), load_double(bytes.data() + 1)},
                                            .error = load_double(bytes.data() + 9)},
                                   .tolerance = load_double(bytes.data() + 17)};
  if (!parameters.note.is_valid() || !(parameters.tolerance > 0) || !std::isfinite(parameters.tolerance))
    return fail(ErrorKind::corrupt, "an error bound that is none");
  return parameters;
}

std::optional<LossyNote> lossy_note(std::span<const std::byte> recipe) {
  const auto steps = decode_recipe(recipe);
  if (!steps) return std::nullopt;
  for (const Step& step : *steps)
    if (step.stage.id == kZfpId)
      if (const auto parameters = decode_lossy_parameters(step.stage.parameters)) return parameters->note;
  return std::nullopt;
}

bool can_encode_lossy() { return find_codec(kZfpId) != nullptr; }

std::optional<LossyEncoded> encode_lossy(const ErrorBound& bound, const FrameShape& shape,
                                         std::span<const std::byte> raw, size_t smaller_than) {
  const Codec* codec = find_codec(kZfpId);
  if (codec == nullptr || !codec->accepts(shape) || raw.empty()) return std::nullopt;
  const auto values = survey(shape.type, raw);
  if (!values) return std::nullopt;
  Buffer payload(codec->bound(raw.size())), decoded(raw.size());
  // zfp keeps well within what it is told, mostly; where it does not, rounding does, and less is tried.
  for (const double scale : {4.0, 1.0, 1.0 / 8, 1.0 / 64}) {
    LossyParameters parameters{.note = {.bound = bound}, .tolerance = scale * tolerance_of(bound, *values)};
    if (!(parameters.tolerance > 0) || !std::isfinite(parameters.tolerance)) continue;
    const size_t size = there_and_back(*codec, parameters, shape, raw, payload, decoded.span());
    if (size == 0 || size >= smaller_than) return std::nullopt;
    const auto error = error_of(bound, *values, shape.type, raw, decoded);
    if (!error) continue;
    parameters.note.error = *error;
    const Step step{{.id = codec->id(), .parameters = encode_lossy_parameters(parameters)}, size};
    return LossyEncoded{{std::move(payload), encode_recipe({&step, 1})}, std::move(decoded), parameters.note};
  }
  return std::nullopt;
}

uint64_t encode_lossy_bytes(uint64_t raw_bytes) {
  const Codec* codec = find_codec(kZfpId);
  return codec == nullptr ? 0 : codec->bound(raw_bytes) + raw_bytes + codec->scratch_bytes(0, raw_bytes);
}

}  // namespace forebay::codec
