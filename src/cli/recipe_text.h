// A recipe, for people and for programs. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/json.h"
#include "job/recipes/recipe.h"

namespace forebay::cli {

// Lines, each with its line feed.
std::string recipe_text(const job::Recipe& recipe);

// What happens at a restart, a line each. `edit`: as Recipe::edit has it.
std::vector<std::string> resume_lines(const job::rules::Resume& resume, const std::string& edit);

// A title, and each text below it; empty if there is none.
std::string section(std::string_view title, const std::vector<std::string>& texts);

Json json_recipe(const job::Recipe& recipe);

}  // namespace forebay::cli
