// The cubes of a rank group, added up while its frames pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "container/cubes.h"
#include "merge/plan.h"

namespace forebay::engine {

// Of the variables whose values lie side by side in their frames: where ranks are interleaved, a part of an array
// cannot be decoded alone, and cubes would spare nothing.
class RunningCubes {
 public:
  // Nobody's if all of them together, with what writing them takes, would need more than `max_bytes`.
  RunningCubes(const merge::Plan& plan, uint64_t max_bytes);

  // Whether the variable's cubes are added up.
  bool has(uint32_t variable) const { return find(variable) != cubes_.end(); }

  // Cubes of a variable that it has. In any order.
  void add(uint32_t variable, const container::CubeStretch& stretch);

  std::vector<container::VariableCubes> take() { return std::move(cubes_); }

  uint64_t memory_bytes() const { return bytes_; }  // what this holds, and writing it takes, roughly

 private:
  std::vector<container::VariableCubes>::const_iterator find(uint32_t variable) const;

  std::vector<container::VariableCubes> cubes_;  // rising
  uint64_t bytes_ = 0;
};

}  // namespace forebay::engine
