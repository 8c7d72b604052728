#include "cli/scr_link.h"

#include <algorithm>

namespace forebay::cli {

std::vector<std::string> words_of_link(std::string_view called, std::vector<std::string> words) {
  constexpr std::string_view kActions[] = {"prerun", "postrun", "halt", "index", "run"};
  const std::string_view name = called.substr(called.rfind('/') + 1);
  if (name == "scr_srun") {
    words.insert(words.begin(), {"scr", "run", "--", "srun"});
    return words;
  }
  if (!name.starts_with("scr_")) return words;
  const auto action = std::ranges::find(kActions, name.substr(4));
  if (action == std::end(kActions)) return words;
  if (*action == "run") {
    const auto launcher = std::ranges::find_if(words, [](const std::string& word) { return !word.starts_with('-'); });
    if (launcher != words.end() && std::find(words.begin(), launcher, "--") == launcher) words.insert(launcher, "--");
  }
  constexpr std::string_view kUnset = "--unset-";
  if (*action == "halt")
    for (std::string& word : words)
      if (word.starts_with(kUnset)) word[kUnset.size() - 1] = '=';
  words.insert(words.begin(), {"scr", std::string(*action)});
  return words;
}

}  // namespace forebay::cli
