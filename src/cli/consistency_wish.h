// The options of `forebay verify --consistency`, for the core and for the extension that does it.
#pragma once

#include <string>
#include <vector>

#include "cli/syntax.h"

namespace forebay::cli {

struct ConsistencyWish {
  bool consistency = false;
  bool values = false;                // compare values where blocks overlap
  std::vector<std::string> optional;  // as view::CheckOptions has them
};

inline void declare_consistency(Syntax& syntax, ConsistencyWish& wish) {
  syntax.flag("--consistency", wish.consistency,
              "Look whether what the ranks wrote goes together; values are not read.");
  syntax.flag("--values", wish.values, "With --consistency: compare values where blocks overlap.");
  syntax.option("--optional", "PATTERN",
                "With --consistency: variables that match this shell pattern need not be in every step, nor of every "
                "rank. May be given several times.",
                add_text(wish.optional));
}

}  // namespace forebay::cli
