// Where recipes lie. Reads files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "launch/recipes/recipe.h"

namespace forebay::launch {

// The directories in which recipes are looked for, in this order: the user's ($XDG_CONFIG_HOME/forebay/recipes, or
// ~/.config/forebay/recipes), then `installed`. Those that are not there are left out.
std::vector<std::string> recipe_directories(const std::string& installed);

// By name. not_found, with names that are alike; what parse_recipe() and store::read_text() return. A recipe that is
// wrong hides one of the same name that comes later.
Result<Recipe> find_recipe(std::string_view name, const std::vector<std::string>& directories);

struct RecipeList {
  std::vector<Recipe> recipes;  // by name; of several with one name, the first
  std::vector<Error> faults;    // of files that are no recipes, and of directories that cannot be read
};
RecipeList all_recipes(const std::vector<std::string>& directories);

}  // namespace forebay::launch
