#include "redundancy/steps.h"

#include <algorithm>

#include <fmt/format.h>

#include "redundancy/coding.h"

namespace forebay::redundancy {
namespace {

StepEnd end_of(const Geometry& geometry, unsigned row, unsigned member, uint64_t piece) {
  return {.member = member, .range = geometry.range(row, member, piece)};
}

// The member that has a column of the row.
unsigned data_holder(const Geometry& geometry, unsigned row, unsigned column) {
  return (row + geometry.losses() + column) % geometry.members();
}

}  // namespace

Step EncodeSteps::at(uint64_t piece) const {
  const Geometry& geometry = *geometry_;
  Step step{.row = leader_, .piece = piece, .in = {}, .out = {}, .coefficients = {}};
  const unsigned columns = geometry.data_chunks();
  for (unsigned column = 0; column < columns; ++column)
    step.in.push_back(end_of(geometry, leader_, data_holder(geometry, leader_, column), piece));
  step.coefficients.resize(size_t{columns} * geometry.losses());
  for (unsigned parity = 0; parity < geometry.losses(); ++parity) {
    step.out.push_back(end_of(geometry, leader_, geometry.parity_holder(leader_, parity), piece));
    parity_coefficients(parity, std::span(step.coefficients).subspan(size_t{parity} * columns, columns));
  }
  return step;
}

bool is_repairable(unsigned members, unsigned losses, std::span<const unsigned> lost) {
  std::vector<unsigned> distinct(lost.begin(), lost.end());
  std::ranges::sort(distinct);
  distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
  return distinct.size() <= losses && (distinct.empty() || distinct.back() < members);
}

}  // namespace forebay::redundancy
