#include "io/method/subfiles.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "io/file/file_reader.h"

namespace forebay::io {
namespace {

// NAME.N or NAME.N.1: a listing is hostile, and must not name anything else to be removed.
bool is_subfile(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem)) return false;
  name.remove_prefix(stem.size());
  if (name.ends_with(".1")) name.remove_suffix(2);
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::vector<std::string> find_subfiles(const std::string& path) {
  std::vector<std::string> names;
  if (access((path + ".dir").c_str(), F_OK) != 0) return names;
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  const auto reader = FileReader::open(path, kMostBytes);
  if (!reader) return names;
  const std::string own = path.substr(path.rfind('/') + 1), below = own + ".dir/";
  for (const ListedFile& file : (*reader)->listing().files)
    if (file.name.starts_with(below) && is_subfile(std::string_view(file.name).substr(below.size()), own + "."))
      names.push_back(file.name.substr(below.size()));
  return names;
}

void remove_subfiles(const std::string& path, std::span<const std::string> names) {
  if (names.empty()) return;
  const std::vector<std::string> in_use = find_subfiles(path);
  const std::string below = path + ".dir";
  const Fd directory(::open(below.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return;
  for (const std::string& name : names)
    if (std::ranges::find(in_use, name) == in_use.end()) unlinkat(directory.get(), name.c_str(), 0);
  rmdir(below.c_str());
}

}  // namespace forebay::io
