#include "codec/text/streams.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "base/shape.h"
#include "codec/own_codecs.h"
#include "codec/varint.h"

namespace forebay::codec::text {
namespace {

// How a stream is coded: its head's lower half. The upper half is the logarithm of the bytes of an integer.
enum class Coder : uint8_t { stored, zstd, planes, lch };
constexpr uint8_t kCoders = 4;
constexpr unsigned kWidthShift = 4, kMostWidthLog = 3;

uint8_t zstd_level(Effort effort) { return effort == Effort::fast ? 1 : 3; }

FrameShape shape_of(size_t bytes, size_t width) {
  return {{Kind::unsigned_int, ByteOrder::little, static_cast<uint16_t>(width)}, {Block{{1, 1, 1, bytes / width}}}};
}

Bytes encode_by(const Codec& codec, uint8_t level, std::span<const std::byte> in, size_t width) {
  Bytes out(codec.bound(in.size()));
  const FrameShape shape = shape_of(in.size(), width);
  out.resize(codec.encode({.shape = shape, .level = level, .parameters = {}}, in, out));
  return out;
}

Bytes shuffled(std::span<const std::byte> in, size_t width) { return encode_by(shuffle_codec(), 0, in, width); }

// A coder with the level that an encoder gives it.
struct Way {
  Coder coder = Coder::stored;
  uint8_t level = 0;
};

// Empty if that way does not suit.
Bytes encode_as(const Way& way, std::span<const std::byte> in, size_t width) {
  switch (way.coder) {
    case Coder::stored:
      return {};
    case Coder::zstd:
      return encode_by(zstd_codec(), way.level, in, width);
    case Coder::planes:
      return encode_by(zstd_codec(), way.level, shuffled(in, width), 1);
    case Coder::lch:
      break;
  }
  return encode_by(lch_codec(), way.level, in, width);
}

struct Coded {
  Way way;
  Bytes bytes;
};

Coded best_of(std::span<const Way> ways, std::span<const std::byte> in, size_t width) {
  Coded best{{}, Bytes(in.begin(), in.end())};
  for (const Way& way : ways) {
    Bytes bytes = encode_as(way, in, width);
    if (!bytes.empty() && bytes.size() < best.bytes.size()) best = {way, std::move(bytes)};
  }
  return best;
}

void put(Bytes& out, const Coded& coded, size_t raw, size_t width) {
  out.push_back(static_cast<std::byte>(static_cast<unsigned>(coded.way.coder) |
                                       static_cast<unsigned>(std::countr_zero(width)) << kWidthShift));
  put_varint(out, raw);
  put_varint(out, coded.bytes.size());
  out.insert(out.end(), coded.bytes.begin(), coded.bytes.end());
}

std::vector<Way> ways_of(size_t width, Effort effort) {
  std::vector<Way> ways{{Coder::zstd, zstd_level(effort)}, {Coder::lch, 0}};
  if (width > 1) ways.push_back({Coder::planes, zstd_level(effort)});
  if (effort == Effort::max) ways.push_back({Coder::lch, 1});
  return ways;
}

Coded code_integers(std::span<const std::byte> in, size_t width, Effort effort) {
  constexpr size_t kSample = 16 << 10;  // integers
  const std::vector<Way> ways = ways_of(width, effort);
  if (in.size() <= 2 * kSample * width) return best_of(ways, in, width);
  const size_t middle = (in.size() / width - kSample) / 2 * width;
  const Way way = best_of(ways, in.subspan(middle, kSample * width), width).way;
  return best_of({&way, 1}, in, width);
}

struct Head {
  Coder coder;
  size_t width, raw;
  std::span<const std::byte> coded;
};

std::optional<Head> take_head(std::span<const std::byte>& in) {
  if (in.empty()) return std::nullopt;
  const auto byte = std::to_integer<unsigned>(in.front());
  in = in.subspan(1);
  const unsigned coder = byte & ((1u << kWidthShift) - 1), width_log = byte >> kWidthShift;
  const auto raw = take_varint(in);
  const auto size = raw ? take_varint(in) : std::nullopt;
  if (!size || *size > in.size() || coder >= kCoders || width_log > kMostWidthLog) return std::nullopt;
  const Head head{static_cast<Coder>(coder), size_t{1} << width_log, *raw, in.first(*size)};
  in = in.subspan(*size);
  if (head.raw % head.width != 0) return std::nullopt;
  return head;
}

Result<Bytes> decode_by(const Codec& codec, const Head& head) {
  Bytes out(head.raw);
  const FrameShape shape = shape_of(head.raw, head.width);
  FOREBAY_CHECK(codec.decode({.shape = shape, .parameters = {}}, head.coded, out));
  return out;
}

Result<Bytes> decode(const Head& head) {
  switch (head.coder) {
    case Coder::stored:
      if (head.coded.size() != head.raw) return malformed_text();
      return Bytes(head.coded.begin(), head.coded.end());
    case Coder::zstd:
      return decode_by(zstd_codec(), head);
    case Coder::planes: {
      FOREBAY_TRY(const Bytes planes, decode_by(zstd_codec(), head));
      return decode_by(shuffle_codec(), {head.coder, head.width, head.raw, planes});
    }
    case Coder::lch:
      break;
  }
  return decode_by(lch_codec(), head);
}

template <class U>
void widen(std::span<const std::byte> in, std::span<uint64_t> integers) {
  for (size_t i = 0; i < integers.size(); ++i) integers[i] = load_le<U>(in.data() + i * sizeof(U));
}

template <class U>
Bytes narrow(std::span<const uint64_t> integers) {
  Bytes out(integers.size() * sizeof(U));
  for (size_t i = 0; i < integers.size(); ++i) store_le(out.data() + i * sizeof(U), static_cast<U>(integers[i]));
  return out;
}

}  // namespace

size_t coder_bytes(size_t bytes, Effort effort) { return zstd_codec().scratch_bytes(zstd_level(effort), bytes); }
size_t decode_coder_bytes() { return zstd_codec().decode_scratch_bytes(0, 0); }

std::unexpected<Error> malformed_text() { return fail(ErrorKind::corrupt, "malformed text"); }

void put_bytes(Bytes& out, std::span<const std::byte> bytes, Effort effort) {
  const Way way{Coder::zstd, zstd_level(effort)};
  put(out, best_of({&way, 1}, bytes, 1), bytes.size(), 1);
}

void put_integers(Bytes& out, std::span<const uint64_t> integers, Effort effort) {
  uint64_t all = 0;
  for (const uint64_t integer : integers) all |= integer;
  const Bytes bytes = all <= UINT8_MAX    ? narrow<uint8_t>(integers)
                      : all <= UINT16_MAX ? narrow<uint16_t>(integers)
                      : all <= UINT32_MAX ? narrow<uint32_t>(integers)
                                          : narrow<uint64_t>(integers);
  const size_t width = integers.empty() ? 1 : bytes.size() / integers.size();
  put(out, code_integers(bytes, width, effort), bytes.size(), width);
}

Result<Bytes> take_bytes(std::span<const std::byte>& in, size_t most) {
  const auto head = take_head(in);
  if (!head || head->width != 1 || head->raw > most) return malformed_text();
  return decode(*head);
}

Result<void> take_integers(std::span<const std::byte>& in, std::span<uint64_t> integers) {
  const auto head = take_head(in);
  if (!head || head->raw / head->width != integers.size()) return malformed_text();
  FOREBAY_TRY(const Bytes bytes, decode(*head));
  if (head->width == 1)
    widen<uint8_t>(bytes, integers);
  else if (head->width == 2)
    widen<uint16_t>(bytes, integers);
  else if (head->width == 4)
    widen<uint32_t>(bytes, integers);
  else
    widen<uint64_t>(bytes, integers);
  return {};
}

}  // namespace forebay::codec::text
