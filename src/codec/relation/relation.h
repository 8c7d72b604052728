// Relations: one variable predicted from other variables of the same checkpoint at the same cells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace forebay::codec {

inline constexpr size_t kMaxRelationReferences = 4, kMaxRelationTerms = 8;

// coefficient * reference, or coefficient * reference^2.
struct RelationTerm {
  uint8_t reference = 0;  // index into the frame's references
  bool squared = false;
  double coefficient = 0;

  bool operator==(const RelationTerm&) const = default;
};

// What the sum of the terms stands for.
enum class RelationKind : uint8_t {
  value = 0,  // it is the prediction
  change =
      1,  // its change from the neighbours that come before is: the prediction is Lorenzo's for what it leaves over
};

struct Relation {
  RelationKind kind = RelationKind::value;
  std::vector<RelationTerm> terms;  // 1 to kMaxRelationTerms

  bool operator==(const Relation&) const = default;
};

// The parameters of the relation codec (docs/codecs.md, "relation").
Bytes encode_relation(const Relation& relation);

// The inverse. corrupt if they are malformed; references are below kMaxRelationReferences then, coefficients finite.
Result<Relation> decode_relation(std::span<const std::byte> parameters);

}  // namespace forebay::codec
