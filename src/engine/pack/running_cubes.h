// The cubes of a rank group, added up while its frames pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "container/cubes.h"
#include "engine/pack/frame_facts.h"
#include "merge/plan.h"

namespace forebay::engine {

// Of the variables whose values lie side by side in their frames: where ranks are interleaved, a part of an array
// cannot be decoded alone, and cubes would spare nothing.
class RunningCubes {
 public:
  explicit RunningCubes(const merge::Plan& plan);

  // In any order of the frames.
  void add(const FrameFacts& facts);

  std::vector<container::VariableCubes> take() { return std::move(cubes_); }

  uint64_t memory_bytes() const;  // what this holds, roughly

 private:
  std::vector<container::VariableCubes> cubes_;  // rising
};

// Whether the cubes of a frame's variables are wanted.
bool wants_cubes(const merge::FrameGroup& group);

}  // namespace forebay::engine
