// How far a value that is stored with loss may be from the true one.
#pragma once

#include <cstdint>

namespace forebay {

// What the difference |x - x'| of a value x and what is stored of it is measured by.
enum class BoundKind : uint8_t {
  absolute = 1,  // by nothing: |x - x'| <= value
  relative = 2,  // by the value: |x - x'| <= value * |x|; a zero stays a zero
  range = 3,     // by the largest less the smallest value of the frame
};

struct ErrorBound {
  BoundKind kind = BoundKind::absolute;
  double value = 0;  // finite, above 0

  bool operator==(const ErrorBound&) const = default;
};

// What was promised of a frame that is stored with loss, and what came of it.
struct LossyNote {
  ErrorBound bound;
  double error = 0;  // the largest of the frame, as the bound measures it: from 0 to bound.value

  bool operator==(const LossyNote&) const = default;

  // Whether bound and error are such numbers: what is read from a container may not be.
  bool is_valid() const {
    constexpr double kInfinity = __builtin_huge_val();
    return bound.kind >= BoundKind::absolute && bound.kind <= BoundKind::range && bound.value > 0 &&
           bound.value < kInfinity && error >= 0 && error <= bound.value;
  }
};

inline const char* to_string(BoundKind kind) {
  constexpr const char* kNames[] = {"abs", "rel", "range"};
  return kNames[static_cast<int>(kind) - 1];
}

}  // namespace forebay
