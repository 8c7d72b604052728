#include "codec/choice/repeats.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/bytes.h"

namespace forebay::codec {
namespace {

constexpr size_t kPiece = 8;            // elements
constexpr unsigned kOneIn = 32;         // elements begin a piece that is looked up
constexpr size_t kConstantStride = 64;  // elements from one piece to the next that is tested for constancy
constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
constexpr unsigned kTableLog = 16;

// Where a piece of a hash was seen last.
struct Seen {
  uint32_t tag = 0;
  uint32_t at = 0;  // byte; frames have fewer than 2^32
};

static_assert(kRepeatsMemory == (uint64_t{1} << kTableLog) * sizeof(Seen));

unsigned permille(uint64_t part, uint64_t whole) { return whole == 0 ? 0 : static_cast<unsigned>(part * 1000 / whole); }

template <class Element>
bool is_constant(const std::byte* piece) {
  return std::memcmp(piece, piece + sizeof(Element), (kPiece - 1) * sizeof(Element)) == 0;
}

template <class Element>
uint64_t hash_of_piece(const std::byte* piece, Element mask) {
  uint64_t hash = 0;
  for (size_t i = 0; i < kPiece; ++i) {
    hash = (hash ^ (load_le<Element>(piece + i * sizeof(Element)) & mask)) * kMultiplier;
    hash ^= hash >> 29;
  }
  return hash * kMultiplier;
}

template <class Element>
Repeats find(std::span<const std::byte> raw, Element mask = static_cast<Element>(~Element{0})) {
  const size_t elements = raw.size() / sizeof(Element);
  if (elements < kPiece) return {};
  const size_t starts = elements - kPiece + 1;
  uint64_t constant = 0, tested = 0;
  for (size_t i = 0; i < starts; i += kConstantStride, ++tested)
    constant += is_constant<Element>(raw.data() + i * sizeof(Element));

  std::vector<uint32_t> seen(size_t{1} << kTableLog);
  uint64_t looked_up = 0, found = 0;
  for (size_t i = 0; i < starts; ++i) {
    const std::byte* piece = raw.data() + i * sizeof(Element);
    if ((((load_le<Element>(piece) & mask) * kMultiplier) >> 40) % kOneIn != 0 || is_constant<Element>(piece)) continue;
    const uint64_t hash = hash_of_piece<Element>(piece, mask);
    const auto tag = static_cast<uint32_t>(hash) | 1;
    uint32_t& place = seen[hash >> (64 - kTableLog)];
    found += place == tag;
    ++looked_up;
    place = tag;
  }
  return {permille(found, looked_up), permille(constant, tested)};
}

// Leaves the sign out and the last bits, as far as fields that are symmetric differ by rounding.
template <class Element>
constexpr Element mask_of(ByteOrder order, unsigned rounding) {
  const auto kept = static_cast<Element>(static_cast<Element>(~Element{0}) << 1 >> 1 >> rounding << rounding);
  return order == ByteOrder::big ? std::byteswap(kept) : kept;
}

}  // namespace

Repeats find_repeats(std::span<const std::byte> raw, const DataType& type) {
  constexpr unsigned kRounding8 = 32, kRounding4 = 8;
  if (type.kind == Kind::floating && type.size == 8) return find(raw, mask_of<uint64_t>(type.order, kRounding8));
  if (type.kind == Kind::floating && type.size == 4) return find(raw, mask_of<uint32_t>(type.order, kRounding4));
  switch (type.size) {
    case 2:
      return find<uint16_t>(raw);
    case 4:
      return find<uint32_t>(raw);
    case 8:
      return find<uint64_t>(raw);
    default:
      return find<uint8_t>(raw);
  }
}

unsigned find_far_repeats(std::span<const std::byte> raw) {
  constexpr size_t kLooked = 16 << 10, kOf = 4 * kLooked;
  constexpr size_t kPieceBytes = sizeof(uint64_t),
                   kLong = 4 * kPieceBytes;  // words and phrases that come again are shorter
  std::vector<Seen> seen(size_t{1} << kTableLog);
  uint64_t looked_up = 0, far = 0;
  for (size_t begin = 0; begin + kLong <= raw.size(); begin += kOf) {
    const size_t end = std::min(begin + kLooked, raw.size() - kLong + 1);
    for (size_t i = begin; i < end; ++i) {
      const std::byte* const piece = raw.data() + i;
      uint64_t hash = load_le<uint64_t>(piece) * kMultiplier;
      if ((hash >> 24) % kOneIn != 0 || is_constant<uint8_t>(piece)) continue;
      for (size_t word = kPieceBytes; word < kLong; word += kPieceBytes)
        hash = ((hash ^ hash >> 29) + load_le<uint64_t>(piece + word)) * kMultiplier;
      Seen& place = seen[hash >> (64 - kTableLog)];
      const auto tag = static_cast<uint32_t>(hash >> 8) | 1;
      far += place.tag == tag && i - place.at > kFarBytes;
      ++looked_up;
      place = {tag, static_cast<uint32_t>(i)};
    }
  }
  // Both occurrences have to lie in what is looked at.
  return std::min(1000u, permille(far * kOf / kLooked, looked_up));
}

}  // namespace forebay::codec
