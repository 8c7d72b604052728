// A recipe, for people and for programs. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/json.h"
#include "launch/recipes/recipe.h"

namespace forebay::cli {

// Lines, each with its line feed.
std::string recipe_text(const launch::Recipe& recipe);

// What happens at a restart, a line each. `edit`: as Recipe::edit has it.
std::vector<std::string> resume_lines(const launch::rules::Resume& resume, const std::string& edit);

// A title, and each text below it; empty if there is none.
std::string section(std::string_view title, const std::vector<std::string>& texts);

Json json_recipe(const launch::Recipe& recipe);

}  // namespace forebay::cli
