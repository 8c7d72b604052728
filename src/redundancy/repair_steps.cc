// Which pieces are bad together, who leads their repair, and the coefficients that bring them back.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "redundancy/coding.h"
#include "redundancy/steps.h"

namespace forebay::redundancy {
namespace {

// Pieces [first, first + count) of a row, of which the same members are bad.
struct BadRun {
  unsigned row = 0;
  uint64_t first = 0, count = 0;
  std::vector<unsigned> members;
  uint64_t before = 0;  // pieces in all runs before this one
};

// `bad` of one row, clipped to the pieces that are there, cut where any of it begins or ends.
Result<void> add_runs(const Geometry& geometry, unsigned row, std::span<const Bad> bad, std::vector<BadRun>& runs) {
  // What begins (+1) and ends (-1) at a piece.
  struct Edge {
    uint64_t piece;
    unsigned member;
    int change;
  };
  std::vector<Edge> edges;
  for (const Bad& pieces : bad) {
    const uint64_t there = geometry.pieces_of(row, pieces.member);
    if (pieces.first >= there || pieces.count == 0) continue;
    edges.push_back({pieces.first, pieces.member, 1});
    edges.push_back({pieces.first + std::min(pieces.count, there - pieces.first), pieces.member, -1});
  }
  std::ranges::sort(edges, {}, &Edge::piece);
  std::vector<int> depth(geometry.members());
  for (size_t i = 0; i < edges.size();) {
    const uint64_t from = edges[i].piece;
    for (; i < edges.size() && edges[i].piece == from; ++i) depth[edges[i].member] += edges[i].change;
    BadRun run{.row = row, .first = from, .count = 0, .members = {}, .before = 0};
    for (unsigned member = 0; member < geometry.members(); ++member)
      if (depth[member] > 0) run.members.push_back(member);
    if (run.members.empty()) continue;
    run.count = edges[i].piece - from;  // whatever is open has an end
    if (run.members.size() > geometry.losses())
      return fail(ErrorKind::corrupt,
                  fmt::format("piece {} of row {} is bad at {} members of the protection group, which survives {}",
                              from, row, run.members.size(), geometry.losses()));
    runs.push_back(std::move(run));
  }
  return {};
}

// The unknown data pieces of a row as sums of what is there: `unknown` columns from the parities `used`, as many.
// inverse[u * n + p]: what parity used[p] counts for unknown[u].
std::vector<uint8_t> solve(std::span<const unsigned> unknown, std::span<const unsigned> used, unsigned columns) {
  const size_t n = unknown.size();
  std::vector<uint8_t> matrix(n * n), inverse(n * n), row(columns);
  for (size_t p = 0; p < n; ++p) {
    parity_coefficients(used[p], row);
    for (size_t u = 0; u < n; ++u) matrix[p * n + u] = row[unknown[u]];
    inverse[p * n + p] = 1;
  }
  // Gauss and Jordan; the matrix is regular.
  for (size_t pivot = 0; pivot < n; ++pivot) {
    size_t best = pivot;
    while (matrix[best * n + pivot] == 0) ++best;
    for (size_t i = 0; i < n && best != pivot; ++i) {
      std::swap(matrix[best * n + i], matrix[pivot * n + i]);
      std::swap(inverse[best * n + i], inverse[pivot * n + i]);
    }
    const uint8_t head = matrix[pivot * n + pivot];
    for (size_t i = 0; i < n; ++i) {
      matrix[pivot * n + i] = divide(matrix[pivot * n + i], head);
      inverse[pivot * n + i] = divide(inverse[pivot * n + i], head);
    }
    for (size_t other = 0; other < n; ++other) {
      const uint8_t factor = other == pivot ? 0 : matrix[other * n + pivot];
      for (size_t i = 0; i < n && factor != 0; ++i) {
        matrix[other * n + i] ^= multiply(factor, matrix[pivot * n + i]);
        inverse[other * n + i] ^= multiply(factor, inverse[pivot * n + i]);
      }
    }
  }
  return inverse;
}

// One row with its bad chunks: which of the good ones are read, and how they make the bad ones.
class RowRepair {
 public:
  RowRepair(const Geometry& geometry, const BadRun& run, unsigned leader) : geometry_(geometry), row_(run.row) {
    std::vector<unsigned> parities;
    for (unsigned i = 0; i < geometry.members(); ++i) {
      const unsigned member = (row_ + i) % geometry.members();  // parities, then columns, in their order
      const bool is_bad = std::ranges::binary_search(run.members, member);
      if (i < geometry.losses()) {
        (is_bad ? bad_parities_ : parities).push_back(i);
      } else {
        (is_bad ? unknown_ : known_).push_back(i - geometry.losses());
      }
    }
    // The leader's own first: it need not be fetched. Else parity 0, with which one unknown is XOR.
    const auto own = std::ranges::find(parities, (leader + geometry.members() - row_) % geometry.members());
    if (own != parities.end()) std::rotate(parities.begin(), own, own + 1);
    used_.assign(parities.begin(), parities.begin() + static_cast<std::ptrdiff_t>(unknown_.size()));
  }

  Step step(uint64_t piece) const {
    Step step{.row = row_, .piece = piece, .in = {}, .out = {}, .coefficients = {}};
    const auto end = [&](unsigned after) {
      const unsigned member = (row_ + after) % geometry_.members();
      return StepEnd{.member = member, .range = geometry_.range(row_, member, piece)};
    };
    for (const unsigned column : known_) step.in.push_back(end(geometry_.losses() + column));
    for (const unsigned parity : used_) step.in.push_back(end(parity));
    const std::vector<uint8_t> unknowns = unknown_coefficients();
    for (const unsigned column : unknown_) step.out.push_back(end(geometry_.losses() + column));
    step.coefficients = unknowns;
    for (const unsigned parity : bad_parities_) {
      step.out.push_back(end(parity));
      add_parity(parity, unknowns, step.coefficients);
    }
    return step;
  }

 private:
  // A row of known_.size() + used_.size() for each unknown.
  std::vector<uint8_t> unknown_coefficients() const {
    const size_t n = unknown_.size(), width = known_.size() + used_.size();
    const std::vector<uint8_t> inverse = solve(unknown_, used_, geometry_.data_chunks());
    std::vector<uint8_t> out(n * width), row(geometry_.data_chunks());
    for (size_t p = 0; p < n; ++p) {
      parity_coefficients(used_[p], row);
      for (size_t u = 0; u < n; ++u) {
        const uint8_t weight = inverse[u * n + p];
        for (size_t k = 0; k < known_.size(); ++k) out[u * width + k] ^= multiply(weight, row[known_[k]]);
        out[u * width + known_.size() + p] = weight;
      }
    }
    return out;
  }

  void add_parity(unsigned parity, const std::vector<uint8_t>& unknowns, std::vector<uint8_t>& coefficients) const {
    const size_t width = known_.size() + used_.size(), begin = coefficients.size();
    std::vector<uint8_t> row(geometry_.data_chunks());
    parity_coefficients(parity, row);
    coefficients.resize(begin + width);
    for (size_t k = 0; k < known_.size(); ++k) coefficients[begin + k] = row[known_[k]];
    for (size_t u = 0; u < unknown_.size(); ++u)
      for (size_t i = 0; i < width; ++i) coefficients[begin + i] ^= multiply(row[unknown_[u]], unknowns[u * width + i]);
  }

  const Geometry& geometry_;
  unsigned row_;
  std::vector<unsigned> known_, unknown_;      // columns
  std::vector<unsigned> used_, bad_parities_;  // parities
};

}  // namespace

struct RepairSteps::Impl {
  Geometry geometry;
  std::vector<unsigned> leaders;
  std::vector<BadRun> runs;
  uint64_t pieces = 0;  // of all runs

  std::optional<uint64_t> turn_of(unsigned leader) const {
    const auto at = std::ranges::lower_bound(leaders, leader);
    if (at == leaders.end() || *at != leader) return std::nullopt;
    return static_cast<uint64_t>(at - leaders.begin());
  }
};

Result<RepairSteps> RepairSteps::make(const Geometry& geometry, std::vector<Bad> bad, std::vector<unsigned> leaders) {
  std::ranges::sort(leaders);
  leaders.erase(std::ranges::unique(leaders).begin(), leaders.end());
  if (leaders.empty() || leaders.back() >= geometry.members())
    return fail(ErrorKind::invalid_argument, "a repair without leaders, or with some that are not in the group");
  for (const Bad& pieces : bad)
    if (pieces.member >= geometry.members() || pieces.row >= geometry.members())
      return fail(ErrorKind::invalid_argument, "a repair of pieces that the protection group does not have");
  std::ranges::sort(bad, {}, &Bad::row);
  Impl impl{.geometry = geometry, .leaders = std::move(leaders), .runs = {}, .pieces = 0};
  for (auto begin = bad.begin(); begin != bad.end();) {
    const auto end = std::find_if(begin, bad.end(), [&](const Bad& pieces) { return pieces.row != begin->row; });
    FOREBAY_CHECK(add_runs(geometry, begin->row, {begin, end}, impl.runs));
    begin = end;
  }
  for (BadRun& run : impl.runs) {
    run.before = impl.pieces;
    impl.pieces += run.count;
  }
  RepairSteps steps;
  steps.impl_ = std::make_shared<const Impl>(std::move(impl));
  return steps;
}

uint64_t RepairSteps::count(unsigned leader) const {
  const auto turn = impl_->turn_of(leader);
  if (!turn || *turn >= impl_->pieces) return 0;
  return (impl_->pieces - *turn - 1) / impl_->leaders.size() + 1;
}

Step RepairSteps::at(unsigned leader, uint64_t index) const {
  const uint64_t number = index * impl_->leaders.size() + *impl_->turn_of(leader);
  const BadRun& run = *(std::ranges::upper_bound(impl_->runs, number, {}, &BadRun::before) - 1);
  return RowRepair(impl_->geometry, run, leader).step(run.first + (number - run.before));
}

}  // namespace forebay::redundancy
