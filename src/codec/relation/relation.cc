#include "codec/relation/relation.h"

#include <bit>
#include <cmath>

namespace forebay::codec {
namespace {

constexpr size_t kHeaderBytes = 2, kTermBytes = 10;

}  // namespace

Bytes encode_relation(const Relation& relation) {
  Bytes parameters(kHeaderBytes + kTermBytes * relation.terms.size());
  parameters[0] = static_cast<std::byte>(relation.kind);
  parameters[1] = static_cast<std::byte>(relation.terms.size());
  std::byte* at = parameters.data() + kHeaderBytes;
  for (const RelationTerm& term : relation.terms) {
    at[0] = static_cast<std::byte>(term.reference);
    at[1] = static_cast<std::byte>(term.squared ? 2 : 1);
    store_le(at + 2, std::bit_cast<uint64_t>(term.coefficient));
    at += kTermBytes;
  }
  return parameters;
}

Result<Relation> decode_relation(std::span<const std::byte> parameters) {
  const auto malformed = [] { return fail(ErrorKind::corrupt, "malformed parameters of a relation"); };
  if (parameters.size() < kHeaderBytes) return malformed();
  const auto kind = std::to_integer<uint8_t>(parameters[0]);
  const auto count = std::to_integer<size_t>(parameters[1]);
  if (kind > 1 || count == 0 || count > kMaxRelationTerms || parameters.size() != kHeaderBytes + kTermBytes * count)
    return malformed();
  Relation relation{.kind = static_cast<RelationKind>(kind), .terms = {}};
  for (const std::byte* at = parameters.data() + kHeaderBytes; relation.terms.size() < count; at += kTermBytes) {
    const auto power = std::to_integer<unsigned>(at[1]);
    const RelationTerm term{.reference = std::to_integer<uint8_t>(at[0]),
                            .squared = power == 2,
                            .coefficient = std::bit_cast<double>(load_le<uint64_t>(at + 2))};
    if (term.reference >= kMaxRelationReferences || power < 1 || power > 2 || !std::isfinite(term.coefficient))
      return malformed();
    relation.terms.push_back(term);
  }
  return relation;
}

}  // namespace forebay::codec
