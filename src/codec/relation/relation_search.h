// Finding relations between the variables of a checkpoint, on samples (docs/codecs.md, "relation"). Pure, and the same
// on every machine: no library's logarithm decides.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/datatype.h"
#include "codec/relation/relation.h"

namespace forebay::codec {

// One variable at the sampled cells; all numbers are finite.
struct FieldSample {
  // By kind and power (0: the values, 1: their squares): what a term of a relation of that kind is made of. For
  // `change`, the Lorenzo residual at each cell, that is, the change from its neighbours.
  std::vector<double> columns[2][2];

  std::span<const double> column(RelationKind kind, bool squared) const {
    return columns[static_cast<int>(kind)][squared ? 1 : 0];
  }
};

// One variable told by others. References of its terms are indices into the list of fields.
struct FieldRelation {
  Relation relation;
  double bits = 0;      // that the residual of an element has, on average over the sample
  double own_bits = 0;  // that it has without the relation
};

inline constexpr size_t kMaxRelatedFields = 32;

// Which of `fields` (at most kMaxRelatedFields, all of `type` and sampled at the same cells) can be told by which
// others, such that no field that is referred to refers to others itself. One entry per field; empty where it is
// cheaper alone.
std::vector<std::optional<FieldRelation>> find_relations(std::span<const FieldSample> fields, const DataType& type);

// The coefficients that fit `known` (whose references are indices into `fields`) best to this sample.
FieldRelation fit_relation(std::span<const FieldSample> fields, const DataType& type, size_t target,
                           const Relation& known);

}  // namespace forebay::codec
