// The codec interface: one frame in, encoded bytes out, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/shape.h"

namespace forebay::codec {

// A codec and its level, as a link of a chain. Written "name" or "name:level".
struct Stage {
  uint16_t id = 0;    // the codec's number in the container format; never reused (docs/format.md, "Codecs")
  uint8_t level = 0;  // 0: the codec's default; other meanings are the codec's own
  Bytes parameters;   // of codecs that have_parameters(): given, or empty for those that the codec fits to the frame
  auto operator<=>(const Stage&) const = default;
};

// Codecs with numbers from here on have parameters, which the recipe keeps.
inline constexpr uint16_t kFirstParametricId = 64;
inline constexpr size_t kMaxParameterBytes = 48 << 10;

constexpr bool has_parameters(uint16_t id) { return id >= kFirstParametricId; }

// What a codec is told of the frame at hand, beside its bytes.
struct Context {
  const FrameShape& shape;
  uint8_t level = 0;
  std::span<const std::byte> parameters;                     // empty unless has_parameters()
  std::span<const std::span<const std::byte>> references{};  // the raw bytes of the frames that this one refers to
  size_t planes = 1;  // equal parts of different character that the bytes to encode consist of: planes of bytes
};

// Codecs are stateless and thread-safe: any number of threads may use one at once.
class Codec {
 public:
  virtual ~Codec() = default;

  virtual uint16_t id() const = 0;
  virtual std::string_view name() const = 0;

  // Whether decode() gives back what encode() took. If not, it gives values within the error that the parameters allow
  // where the elements' precision lets it, and only codec/lossy/lossy.h, which checks them, may encode with this codec.
  virtual bool is_lossless() const { return true; }

  // The highest level that encode() and decode() take; 0 if the codec has none to choose.
  virtual uint8_t max_level() const = 0;

  // Whether encode() can take frames of this shape at all: their datatype, mostly.
  virtual bool accepts(const FrameShape& shape) const = 0;

  // Whether the output of encode() has elements of the input's width in blocks again, so that another codec that looks
  // at elements (shuffle) may follow: those of output_shape(), never more than the input has.
  virtual bool is_transform() const = 0;

  // What a transform's encode() writes in this context. Most keep the blocks and write numbers as little-endian
  // unsigned integers; opaque elements stay opaque. corrupt if the parameters, which are hostile, are.
  virtual Result<FrameShape> output_shape(const Context& context) const {
    DataType type = context.shape.type;
    if (type.is_number()) type = {Kind::unsigned_int, ByteOrder::little, type.size};
    return FrameShape{type, context.shape.blocks};
  }

  // The most bytes that encode() can write for `raw` bytes of input.
  virtual size_t bound(size_t raw) const = 0;

  // The most bytes of working memory that one encode() or decode() at `level` of `raw` bytes takes beside its
  // arguments.
  virtual size_t scratch_bytes(uint8_t level, size_t raw) const = 0;
  // Of a decode() alone.
  virtual size_t decode_scratch_bytes(uint8_t level, size_t raw) const { return scratch_bytes(level, raw); }

  // The parameters with which to encode `in`, at most kMaxParameterBytes; empty if the codec would rather not encode
  // this frame. Called only if has_parameters(). The context's own parameters are empty. Deterministic, and from then
  // on only the parameters matter: two machines that fit differently still understand each other.
  virtual Bytes fit(const Context&, std::span<const std::byte> /*in*/) const { return {}; }

  // Encodes `in`, whose content the context's shape describes (element_total() * type.size == in.size()), into `out`,
  // which has bound(in.size()) bytes. Returns the bytes written, or 0 if the codec would rather not (the caller then
  // stores the frame another way). Deterministic: the same arguments give the same bytes, on every machine.
  virtual size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const = 0;

  // The inverse: fills all of `out`, whose size is the raw size. `in` and the parameters are hostile, and there may be
  // any number of references, of any size: corrupt unless `in` decodes to exactly out.size() bytes; never reads or
  // writes outside its arguments, and takes time bounded by in.size() + out.size() + the parameters.
  virtual Result<void> decode(const Context& context, std::span<const std::byte> in,
                              std::span<std::byte> out) const = 0;
};

// All codecs of this build, in the order of their ids.
std::span<const Codec* const> all_codecs();

const Codec* find_codec(uint16_t id);            // null if this build has none of that id
const Codec* find_codec(std::string_view name);  // likewise

}  // namespace forebay::codec
