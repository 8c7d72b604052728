#include "redundancy/coding.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <isa-l/erasure_code.h>
#include <isa-l/raid.h>

namespace forebay::redundancy {
namespace {

constexpr size_t kTableBytes = 32;               // that ISA-L makes of a coefficient
constexpr size_t kXorAlignment = 32;             // that its XOR demands
constexpr size_t kMostAtOnce = size_t{1} << 30;  // lengths are int there

// The sources that count, as ISA-L takes them: it does not write to them.
struct Sources {
  std::vector<unsigned char*> at;
  std::vector<size_t> index;
};

bool is_xor(std::span<const uint8_t> coefficients) {
  return std::ranges::all_of(coefficients, [](uint8_t c) { return c == 1; });
}

bool is_aligned(const void* at) { return reinterpret_cast<uintptr_t>(at) % kXorAlignment == 0; }

// One output, all coefficients 1. False if ISA-L's XOR cannot do it.
bool add_up(const Sources& sources, unsigned char* out, size_t length) {
  if (sources.at.size() == 1) {
    std::memcpy(out, sources.at[0], length);
    return true;
  }
  if (!is_aligned(out) || !std::ranges::all_of(sources.at, is_aligned)) return false;
  std::vector<void*> all(sources.at.begin(), sources.at.end());
  all.push_back(out);
  return xor_gen(static_cast<int>(all.size()), static_cast<int>(length), all.data()) == 0;
}

// Bytes [begin, end) of `out`, all of which are that long; so are those of `in` that are not left out.
void combine_range(std::span<const uint8_t> coefficients, std::span<const std::span<const std::byte>> in,
                   const std::vector<size_t>& outputs, std::span<const std::span<std::byte>> out, size_t begin,
                   size_t end) {
  Sources sources;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i].size() < end) continue;
    auto* const bytes = const_cast<std::byte*>(in[i].data() + begin);
    sources.at.push_back(reinterpret_cast<unsigned char*>(bytes));
    sources.index.push_back(i);
  }
  std::vector<unsigned char*> results;
  for (const size_t j : outputs) results.push_back(reinterpret_cast<unsigned char*>(out[j].data() + begin));
  if (sources.at.empty()) {
    for (unsigned char* result : results) std::memset(result, 0, end - begin);
    return;
  }
  std::vector<uint8_t> matrix;
  for (const size_t j : outputs)
    for (const size_t i : sources.index) matrix.push_back(coefficients[j * in.size() + i]);
  if (results.size() == 1 && is_xor(matrix) && add_up(sources, results[0], end - begin)) return;
  std::vector<unsigned char> tables(kTableBytes * matrix.size());
  const int k = static_cast<int>(sources.at.size()), rows = static_cast<int>(results.size());
  ec_init_tables(k, rows, matrix.data(), tables.data());
  ec_encode_data(static_cast<int>(end - begin), k, rows, tables.data(), sources.at.data(), results.data());
}

}  // namespace

uint8_t multiply(uint8_t a, uint8_t b) { return gf_mul(a, b); }
uint8_t divide(uint8_t a, uint8_t b) { return gf_mul(a, gf_inv(b)); }

void parity_coefficients(unsigned parity, std::span<uint8_t> out) {
  // 1 / (x + y) with x of the parities from out.size() on and y of the columns below it, divided by that of parity 0.
  const auto columns = static_cast<unsigned>(out.size());
  for (unsigned column = 0; column < columns; ++column)
    out[column] = divide(static_cast<uint8_t>(columns ^ column), static_cast<uint8_t>((columns + parity) ^ column));
}

void combine(std::span<const uint8_t> coefficients, std::span<const std::span<const std::byte>> in,
             std::span<const std::span<std::byte>> out) {
  std::vector<size_t> ends;  // where one of them ends: between two, the same ones are there
  for (const auto& bytes : in) ends.push_back(bytes.size());
  for (const auto& bytes : out) ends.push_back(bytes.size());
  std::ranges::sort(ends);
  size_t begin = 0;
  for (const size_t next : ends) {
    std::vector<size_t> outputs;
    for (size_t j = 0; j < out.size(); ++j)
      if (out[j].size() >= next) outputs.push_back(j);
    if (outputs.empty()) return;
    while (begin < next) {
      const size_t end = std::min(next, begin + kMostAtOnce);
      combine_range(coefficients, in, outputs, out, begin, end);
      begin = end;
    }
  }
}

}  // namespace forebay::redundancy
