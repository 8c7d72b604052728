// What lies in a directory, for rules. Reads directories and files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "launch/rules/restore_plan.h"
#include "launch/rules/rule.h"

namespace forebay::launch {

struct PresentFiles {
  std::vector<rules::PresentFile> files;  // regular files and links, by path; nothing of Forebay's own
  std::vector<std::string> directories;   // by path
};

// All below `directory`; links are not followed. With the text of files that the "says" of a rule means: their last
// MiB, or where a link leads. Files that vanish meanwhile are left out. not_found, permission, io.
Result<PresentFiles> present_files(const std::string& directory, std::span<const rules::Rule> rules);
inline Result<PresentFiles> present_files(const std::string& directory, const rules::Rule& rule) {
  return present_files(directory, std::span(&rule, 1));
}

}  // namespace forebay::launch
