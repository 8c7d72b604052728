#include "launch/recipes/recipe_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/nearest.h"
#include "store/files.h"

namespace forebay::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".toml";
constexpr uint64_t kMostRecipeBytes = 64 << 10;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The names of recipes in a directory, sorted.
Result<std::vector<std::string>> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const std::string file = entry->path().filename();
    if (!file.ends_with(kSuffix)) continue;
    std::string name = file.substr(0, file.size() - kSuffix.size());
    if (is_recipe_name(name)) names.push_back(std::move(name));
  }
  if (error) return fail_errno(error.value(), "readdir", directory);
  std::ranges::sort(names);
  return names;
}

std::string path_of(const std::string& directory, std::string_view name) {
  return fmt::format("{}/{}{}", directory, name, kSuffix);
}

Result<Recipe> read_recipe(const std::string& path, std::string_view name) {
  FOREBAY_TRY(const std::string text, store::read_text(path, kMostRecipeBytes));
  return parse_recipe(text, name, path);
}

}  // namespace

std::vector<std::string> recipe_directories(const std::string& installed) {
  std::string config = variable("XDG_CONFIG_HOME");
  if (!config.starts_with('/')) config = variable("HOME").empty() ? "" : variable("HOME") + "/.config";
  std::vector<std::string> directories;
  if (!config.empty()) directories.push_back(config + "/forebay/recipes");
  directories.push_back(installed);
  std::erase_if(directories, [](const std::string& directory) {
    std::error_code error;
    return !fs::is_directory(directory, error);
  });
  return directories;
}

Result<Recipe> find_recipe(std::string_view name, const std::vector<std::string>& directories) {
  std::vector<std::string> known;
  for (const std::string& directory : directories) {
    std::error_code error;
    if (is_recipe_name(name) && fs::exists(fs::symlink_status(path_of(directory, name), error)))
      return read_recipe(path_of(directory, name), name);
    if (const auto names = names_in(directory)) known.insert(known.end(), names->begin(), names->end());
  }
  return fail(ErrorKind::not_found, fmt::format("there is no recipe '{}'", name), {}, {},
              nearest_hint(name, known, "'forebay recipes' lists them"));
}

RecipeList all_recipes(const std::vector<std::string>& directories) {
  RecipeList list;
  std::set<std::string> seen;
  for (const std::string& directory : directories) {
    const auto names = names_in(directory);
    if (!names) {
      list.faults.push_back(names.error());
      continue;
    }
    for (const std::string& name : *names) {
      if (!seen.insert(name).second) continue;
      auto recipe = read_recipe(path_of(directory, name), name);
      if (recipe)
        list.recipes.push_back(std::move(*recipe));
      else
        list.faults.push_back(std::move(recipe).error());
    }
  }
  std::ranges::sort(list.recipes, {}, &Recipe::name);
  return list;
}

}  // namespace forebay::launch
