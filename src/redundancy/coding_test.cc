#include "redundancy/coding.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "redundancy/test_group.h"

namespace forebay::redundancy {
namespace {

using Matrix = std::vector<std::vector<uint8_t>>;

Matrix parity_matrix(unsigned columns, unsigned losses) {
  Matrix rows(losses, std::vector<uint8_t>(columns));
  for (unsigned p = 0; p < losses; ++p) parity_coefficients(p, rows[p]);
  return rows;
}

bool is_regular(Matrix matrix) {
  const size_t n = matrix.size();
  for (size_t pivot = 0; pivot < n; ++pivot) {
    size_t best = pivot;
    while (best < n && matrix[best][pivot] == 0) ++best;
    if (best == n) return false;
    std::swap(matrix[best], matrix[pivot]);
    for (size_t row = pivot + 1; row < n; ++row) {
      const uint8_t factor = divide(matrix[row][pivot], matrix[pivot][pivot]);
      for (size_t i = pivot; i < n; ++i) matrix[row][i] ^= multiply(factor, matrix[pivot][i]);
    }
  }
  return true;
}

// All ways to take `take` of `from`.
std::vector<std::vector<unsigned>> choices(unsigned from, unsigned take) {
  std::vector<std::vector<unsigned>> all;
  std::vector<bool> taken(from);
  std::fill(taken.begin(), taken.begin() + take, true);
  do {
    std::vector<unsigned> one;
    for (unsigned i = 0; i < from; ++i)
      if (taken[i]) one.push_back(i);
    all.push_back(one);
  } while (std::prev_permutation(taken.begin(), taken.end()));
  return all;
}

Matrix part_of(const Matrix& matrix, const std::vector<unsigned>& rows, const std::vector<unsigned>& columns) {
  Matrix part;
  for (const unsigned row : rows) {
    part.emplace_back();
    for (const unsigned column : columns) part.back().push_back(matrix[row][column]);
  }
  return part;
}

// Which is what "any losses can be computed from the others" takes.
TEST(ParityCoefficients, HaveOnlyRegularSquares) {
  for (unsigned n = 2; n <= 12; ++n)
    for (unsigned m = 1; m <= std::min(4u, n - 1); ++m) {
      const Matrix matrix = parity_matrix(n - m, m);
      EXPECT_TRUE(std::ranges::all_of(matrix[0], [](uint8_t c) { return c == 1; }));
      for (unsigned size = 1; size <= std::min(m, n - m); ++size)
        for (const auto& rows : choices(m, size))
          for (const auto& columns : choices(n - m, size))
            ASSERT_TRUE(is_regular(part_of(matrix, rows, columns))) << n << " " << m;
    }
}

TEST(ParityCoefficients, HaveOnlyRegularSquaresInLargeGroups) {
  std::mt19937_64 random(11);
  const auto sample = [&](unsigned from, unsigned take) {
    std::vector<unsigned> all(from), taken;
    for (unsigned i = 0; i < from; ++i) all[i] = i;
    std::ranges::sample(all, std::back_inserter(taken), take, random);
    return taken;
  };
  for (const auto& [n, m] :
       std::vector<std::pair<unsigned, unsigned>>{{255, 1}, {255, 4}, {255, 100}, {255, 254}, {64, 8}}) {
    const Matrix matrix = parity_matrix(n - m, m);
    for (int i = 0; i < 300; ++i) {
      const unsigned size = 1 + below(random, std::min({m, n - m, 12u}));
      ASSERT_TRUE(is_regular(part_of(matrix, sample(m, size), sample(n - m, size)))) << n << " " << m;
    }
  }
}

// Of the definition, byte by byte.
std::vector<Bytes> combined_slowly(const std::vector<uint8_t>& coefficients, const std::vector<Bytes>& in,
                                   const std::vector<size_t>& sizes) {
  std::vector<Bytes> out;
  for (size_t j = 0; j < sizes.size(); ++j) {
    out.emplace_back(sizes[j]);
    for (size_t i = 0; i < in.size(); ++i)
      for (size_t at = 0; at < std::min(sizes[j], in[i].size()); ++at)
        out[j][at] ^= std::byte{multiply(coefficients[j * in.size() + i], std::to_integer<uint8_t>(in[i][at]))};
  }
  return out;
}

TEST(Combine, IsTheSumOfProductsWhateverEndsEarly) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 600; ++round) {
    const size_t width = random() % 12, height = 1 + random() % 6;
    const bool all_ones = random() % 3 == 0;
    const auto length = [&] {
      return random() % 4 == 0 ? size_t{0} : random() % 3 == 0 ? size_t{1024} : random() % 2000;
    };
    std::vector<Bytes> in(width), out(height);
    std::vector<size_t> sizes(height);
    std::vector<uint8_t> coefficients(width * height);
    for (auto& c : coefficients) c = all_ones ? uint8_t{1} : static_cast<uint8_t>(random());
    const size_t shift = random() % 3;  // so that not all is aligned
    std::vector<std::span<const std::byte>> in_spans;
    std::vector<std::span<std::byte>> out_spans;
    for (auto& bytes : in) {
      bytes.resize(length() + shift);
      for (auto& byte : bytes) byte = static_cast<std::byte>(random());
      in_spans.push_back(std::span<const std::byte>(bytes).subspan(shift));
    }
    for (size_t j = 0; j < height; ++j) {
      sizes[j] = length();
      out[j].assign(sizes[j] + 1, std::byte{0xee});
      out_spans.push_back(std::span(out[j]).first(sizes[j]));
    }
    combine(coefficients, in_spans, out_spans);
    for (auto& bytes : in) bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(shift));
    auto expected = combined_slowly(coefficients, in, sizes);
    for (auto& bytes : expected) bytes.push_back(std::byte{0xee});  // nothing is written behind the end
    ASSERT_EQ(out, expected) << round;
  }
}

}  // namespace
}  // namespace forebay::redundancy
