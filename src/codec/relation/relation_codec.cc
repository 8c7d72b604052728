// The relation transform: elements minus what other variables of the same checkpoint tell of them.
#include "codec/codec_ids.h"
#include "codec/lossless/lorenzo_kernels.h"
#include "codec/own_codecs.h"
#include "codec/relation/relation_kernels.h"

namespace forebay::codec {
namespace {

using Kernel = void (*)(const DataType&, RelationKind, std::span<const BoundTerm>, const LorenzoArray&,
                        const std::byte*, std::byte*, double*, bool);

constexpr unsigned kDimensions = 3;

// The relation with the elements of its references. corrupt if one is missing or of another size than the frame.
Result<std::vector<BoundTerm>> bind(const Relation& relation, const Context& context, size_t raw_size) {
  std::vector<BoundTerm> terms;
  for (const RelationTerm& term : relation.terms) {
    if (term.reference >= context.references.size() || context.references[term.reference].size() != raw_size)
      return fail(ErrorKind::corrupt, "a relation to a frame that is missing or of another size");
    terms.push_back({context.references[term.reference].data(), term.coefficient, term.squared});
  }
  return terms;
}

Result<void> run_blocks(Kernel kernel, const Context& context, std::span<const std::byte> in,
                        std::span<std::byte> out) {
  FOREBAY_TRY(const Relation relation, decode_relation(context.parameters));
  FOREBAY_TRY(std::vector<BoundTerm> terms, bind(relation, context, out.size()));
  size_t scratch = 0;
  for (const Block& block : context.shape.blocks)
    scratch = std::max(scratch, relation_scratch(relation.kind, lorenzo_array(block, kDimensions)));
  std::vector<double> left_over(scratch);
  size_t at = 0;
  for (const Block& block : context.shape.blocks) {
    kernel(context.shape.type, relation.kind, terms, lorenzo_array(block, kDimensions), in.data() + at, out.data() + at,
           left_over.data(), has_avx2());
    const size_t bytes = block.count() * context.shape.type.size;
    at += bytes;
    for (BoundTerm& term : terms) term.elements += bytes;
  }
  return {};
}

class RelationCodec final : public Codec {
 public:
  uint16_t id() const override { return kRelationId; }
  std::string_view name() const override { return "relation"; }
  uint8_t max_level() const override { return 0; }
  bool accepts(const FrameShape& shape) const override {
    return shape.type.kind == Kind::floating && (shape.type.size == 4 || shape.type.size == 8);
  }
  bool is_transform() const override { return true; }
  size_t bound(size_t raw) const override { return raw; }
  // What is left over of two planes, as doubles, and the terms.
  size_t scratch_bytes(uint8_t, size_t raw) const override { return 2 * raw + 1024; }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    return run_blocks(relation_forward, context, in, out.first(in.size())) ? in.size() : 0;
  }

  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    FOREBAY_CHECK(check_transform_input(context.shape, in, out));
    return run_blocks(relation_inverse, context, in, out);
  }
};

}  // namespace

const Codec& relation_codec() {
  static const RelationCodec codec;
  return codec;
}

}  // namespace forebay::codec
