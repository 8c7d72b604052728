// Encoding and decoding of pieces of 256 KiB, in processor time: bytes of data a second, beside memcpy.
#include "redundancy/coding.h"

#include <cstring>
#include <ctime>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "redundancy/steps.h"
#include "tables.h"

namespace forebay::bench {
namespace {

using redundancy::Geometry;
using redundancy::kPieceBytes;
using redundancy::Step;

constexpr size_t kPieces = 128;  // of each source: 32 MiB, more than caches hold
constexpr double kSeconds = 0.5;

// The best of several runs.
template <class Do>
double gigabytes_a_second(double bytes, const Do& act) {
  double best = 0;
  const std::clock_t begin = std::clock();
  while (static_cast<double>(std::clock() - begin) < kSeconds * CLOCKS_PER_SEC) {
    const std::clock_t from = std::clock();
    act();
    best = std::max(best, bytes / (static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC) / 1e9);
  }
  return best;
}

class Memory {
 public:
  explicit Memory(size_t buffers) : bytes_(buffers, std::vector<std::byte>(kPieces * kPieceBytes, std::byte{7})) {}
  std::span<std::byte> piece(size_t buffer, size_t i) {
    return std::span(bytes_[buffer]).subspan(i * kPieceBytes, kPieceBytes);
  }

 private:
  std::vector<std::vector<std::byte>> bytes_;
};

double speed(const Step& step) {
  Memory memory(step.in.size() + step.out.size());
  const double bytes = static_cast<double>(step.in.size() * kPieces * kPieceBytes);
  return gigabytes_a_second(bytes, [&] {
    for (size_t i = 0; i < kPieces; ++i) {
      std::vector<std::span<const std::byte>> in;
      std::vector<std::span<std::byte>> out;
      for (size_t k = 0; k < step.in.size(); ++k) in.emplace_back(memory.piece(k, i));
      for (size_t k = 0; k < step.out.size(); ++k) out.push_back(memory.piece(step.in.size() + k, i));
      redundancy::combine(step.coefficients, in, out);
    }
  });
}

}  // namespace

void print_coding() {
  Memory memory(2);
  const double copied = gigabytes_a_second(static_cast<double>(kPieces * kPieceBytes), [&] {
    for (size_t i = 0; i < kPieces; ++i) std::memcpy(memory.piece(1, i).data(), memory.piece(0, i).data(), kPieceBytes);
  });
  fmt::print("\n| group | encode, GB/s of data | decode of as many losses |\n|---|---|---|\n");
  fmt::print("| memcpy | {:.1f} | {:.1f} |\n", copied, copied);
  const std::pair<unsigned, unsigned> groups[] = {{2, 1}, {4, 1}, {8, 1}, {16, 1}, {8, 2}, {16, 2}, {8, 3}, {16, 4}};
  for (const auto& [members, losses] : groups) {
    const auto geometry = *Geometry::make(std::vector<uint64_t>(members, kPieceBytes * (members - losses)), losses);
    const Step encode = redundancy::EncodeSteps(geometry, 0).at(0);
    // Data of row 0: members behind the parities.
    std::vector<redundancy::Bad> bad;
    for (unsigned i = 0; i < std::min(losses, members - losses); ++i) bad.push_back({losses + i, 0, 0, 1});
    const auto decode = redundancy::RepairSteps::make(geometry, bad, {0});
    fmt::print("| {} of which {} may be lost | {:.1f} | {:.1f} |\n", members, losses, speed(encode),
               speed(decode->at(0, 0)));
  }
}

}  // namespace forebay::bench
