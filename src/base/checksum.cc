#include "base/checksum.h"

#include <array>
#include <cstdio>

#include <isa-l/crc64.h>

#include "base/xxh3.h"

namespace forebay {

uint64_t hash64(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

struct Hasher64::State {
  XXH3_state_t xxh3;
};

Hasher64::Hasher64() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh3); }
Hasher64::~Hasher64() = default;

void Hasher64::add(std::span<const std::byte> bytes) { XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size()); }
uint64_t Hasher64::value() const { return XXH3_64bits_digest(&state_->xxh3); }

std::string hash128_hex(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text;
}

namespace {

// Polynomials over GF(2) modulo the ECMA-182 polynomial, reflected: bit 63 is the coefficient of x^0.
constexpr uint64_t kPolynomial = 0xC96C5795D7870F42;
constexpr uint64_t kOne = uint64_t{1} << 63;

constexpr uint64_t multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  for (int i = 63; i >= 0; --i) {
    product ^= b & (0 - ((a >> i) & 1));
    b = (b >> 1) ^ (kPolynomial & (0 - (b & 1)));
  }
  return product;
}

// powers[k][d] = x^(8 * d * 16^k): shifting by a byte count is one product per non-zero hexadecimal digit of it.
struct Powers {
  std::array<std::array<uint64_t, 16>, 16> value{};
  constexpr Powers() {
    uint64_t base = kOne >> 8;  // x^8
    for (auto& row : value) {
      row[0] = kOne;
      for (size_t d = 1; d < 16; ++d) row[d] = multiply(row[d - 1], base);
      base = multiply(row[15], base);
    }
  }
};

uint64_t shift_bytes(uint64_t polynomial, uint64_t count) {
  static constexpr Powers kPowers;
  for (size_t k = 0; count != 0; ++k, count >>= 4)
    if ((count & 15) != 0) polynomial = multiply(polynomial, kPowers.value[k][count & 15]);
  return polynomial;
}

// The remainder of `bytes` without the initial and final inversion: linear in the bytes, which is what makes pieces
// add up. ISA-L inverts the seed and the result, so a seed of ~0 and an inversion take both off.
uint64_t plain_crc(std::span<const std::byte> bytes) {
  return ~crc64_ecma_refl(~uint64_t{0}, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace

uint64_t crc64(std::span<const std::byte> bytes) {
  return crc64_ecma_refl(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

void FileCrc::add(uint64_t offset, std::span<const std::byte> bytes) {
  sum_ ^= shift_bytes(plain_crc(bytes), size_ - offset - bytes.size());
  seen_ += bytes.size();
}

void FileCrc::merge(const FileCrc& other) {
  sum_ ^= other.sum_;
  seen_ += other.seen_;
}

uint64_t FileCrc::value() const { return ~(sum_ ^ shift_bytes(~uint64_t{0}, size_)); }

uint64_t joined_crc(uint64_t file_size, std::span<const uint64_t> values) {
  const uint64_t nothing = FileCrc(file_size).value();
  uint64_t sum = nothing;
  for (const uint64_t value : values) sum ^= value ^ nothing;
  return sum;
}

}  // namespace forebay
