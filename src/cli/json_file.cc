#include "cli/json_file.h"

#include <cerrno>
#include <filesystem>

#include <unistd.h>

#include "cli/common.h"
#include "cli/daemon.h"
#include "store/may_replace.h"

namespace forebay::cli {

Result<void> JsonFile::check() {
  if (path_.empty()) return {};
  path_ = std::filesystem::absolute(path_).lexically_normal();
  FOREBAY_CHECK(store::may_replace(path_, {.becomes = store::Thing::file, .right = store::Right::named}));
  const std::string directory = std::filesystem::path(path_).parent_path();
  if (::access(directory.c_str(), W_OK) != 0) return fail_errno(errno, "access", directory);
  return {};
}

void JsonFile::put(const Json& document) const {
  if (path_.empty()) return;
  if (const auto done = write_new(path_, json_lines(document)); !done)
    warn("the document of --json-file is not written: " + done.error().message());
}

std::string json_file_of(const std::vector<std::string>& words) {
  constexpr std::string_view kOption = "--json-file", kWithValue = "--json-file=";
  std::string file;
  for (auto word = words.begin(); word != words.end() && *word != "--"; ++word) {
    if (word->starts_with(kWithValue)) file = word->substr(kWithValue.size());
    if (*word != kOption || word + 1 == words.end() || *(word + 1) == "--") continue;
    file = *++word;
  }
  return file;
}

}  // namespace forebay::cli
