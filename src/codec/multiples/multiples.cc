#include "codec/multiples/multiples.h"

#include "codec/varint.h"

namespace forebay::codec {
namespace {

// Signed integers as unsigned ones, small if they are near 0.
uint64_t zigzag(int64_t value) { return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63); }
int64_t unzigzag(uint64_t value) { return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1))); }

void put_bits(Bytes& out, uint64_t bits, size_t width) {
  for (size_t i = 0; i < width; ++i) out.push_back(static_cast<std::byte>(bits >> (8 * i)));
}

std::optional<uint64_t> take_bits(std::span<const std::byte>& in, size_t width) {
  if (in.size() < width) return std::nullopt;
  uint64_t bits = 0;
  for (size_t i = 0; i < width; ++i) bits |= std::to_integer<uint64_t>(in[i]) << (8 * i);
  in = in.subspan(width);
  return bits;
}

std::unexpected<Error> malformed() { return fail(ErrorKind::corrupt, "malformed parameters of multiples"); }

}  // namespace

Bytes encode_multiples(const Multiples& multiples, size_t width) {
  Bytes out;
  out.push_back(static_cast<std::byte>(multiples.base.is_divisor));
  put_bits(out, std::bit_cast<uint64_t>(multiples.base.value), sizeof(double));
  put_varint(out, zigzag(multiples.lowest));
  out.push_back(static_cast<std::byte>(multiples.specials.size()));
  for (const uint64_t bits : multiples.specials) put_bits(out, bits, width);
  uint64_t next = 0;
  for (const Multiples::Exception& exception : multiples.exceptions) {
    put_varint(out, exception.index - next);
    put_bits(out, exception.bits, width);
    next = exception.index + 1;
  }
  return out;
}

Result<Multiples> decode_multiples(std::span<const std::byte> parameters, size_t width, uint64_t count) {
  Multiples multiples;
  const auto way = take_bits(parameters, 1), base = take_bits(parameters, sizeof(double));
  if (!base || *way > 1) return malformed();
  multiples.base = {*way == 1, std::bit_cast<double>(*base)};
  if (!std::isfinite(multiples.base.value) || multiples.base.value <= 0) return malformed();
  const auto lowest = take_varint(parameters);
  const auto specials = lowest ? take_bits(parameters, 1) : std::nullopt;
  if (!specials || *specials > Multiples::kMostSpecials) return malformed();
  multiples.lowest = unzigzag(*lowest);
  for (uint64_t i = 0; i < *specials; ++i) {
    const auto bits = take_bits(parameters, width);
    if (!bits) return malformed();
    multiples.specials.push_back(*bits);
  }
  for (uint64_t next = 0; !parameters.empty();) {
    const auto gap = take_varint(parameters);
    const auto bits = gap ? take_bits(parameters, width) : std::nullopt;
    if (!bits || next >= count || *gap >= count - next) return malformed();
    multiples.exceptions.push_back({next + *gap, *bits});
    next += *gap + 1;
  }
  return multiples;
}

}  // namespace forebay::codec
