// What a curve of many points shows, and what makes a variable one to look at first. Pure.
#pragma once

#include <optional>
#include <vector>

#include "report/model.h"

namespace forebay::report {

// At most about `most` of `values`, which are in the order of sets: of each of as many stretches as there is room for
// the one with the smallest minimum, that with the largest maximum and the last one; and those at which values that
// are not finite begin and end.
std::vector<Values> thinned(std::vector<Values> values, size_t most);

// Watches how large a variable is over the sets.
class Watch {
 public:
  // The next set. A leap if its values lie beyond a thousand times the largest magnitude before, for the first time.
  std::optional<Leap> add(const Values& values);

 private:
  double largest_ = 0;
  bool has_leapt_ = false;
};

}  // namespace forebay::report
