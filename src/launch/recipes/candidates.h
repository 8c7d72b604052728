// Which recipes may be meant by a command that runs in a directory. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/recipes/recipe.h"
#include "launch/rules/restore_plan.h"

namespace forebay::launch {

struct Candidate {
  std::string name, title;  // of the recipe
  std::string program;      // the word of the command that names it; empty: none does
  size_t words = 0;         // of Recipe::programs that the command has; 0: no program
  uint64_t sets = 0;        // in the directory that nothing speaks against
  std::string newest;       // of these
};

// By program or by what lies there, the likeliest first. `words`: the command from its program on. `files`: with the
// texts of all that a "says" means. Recipes whose words make no rule are left out.
std::vector<Candidate> candidates(std::span<const Recipe> recipes, std::span<const std::string> words,
                                  std::span<const rules::PresentFile> files, int64_t now_ns);

// The one that the program's name says; of several, the one that has sets in the directory. Nothing: it is not clear.
// What lies there may be another code's, so that it alone decides nothing.
std::optional<Candidate> clear_one(std::span<const Candidate> candidates);

// "the program 'gmx_mpi'; 3 sets in the directory, the newest md:*".
std::string reason_of(const Candidate& candidate);

}  // namespace forebay::launch
