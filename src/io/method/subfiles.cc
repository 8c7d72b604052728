#include "io/method/subfiles.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/byte_source.h"
#include "base/fd.h"
#include "container/container.h"
#include "io/file/file_reader.h"
#include "store/may_replace.h"

namespace forebay::io {
namespace {

// NAME.N or NAME.N.1: a listing is hostile, and must not name anything else to be removed.
bool is_subfile(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem)) return false;
  name.remove_prefix(stem.size());
  if (name.ends_with(".1")) name.remove_suffix(2);
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// What a power cut may leave of a file whose beginning was not on the disk yet.
bool is_blank(const FileSource& source) {
  std::array<std::byte, 8> begin{};
  if (source.size() < begin.size()) return source.size() == 0;
  return source.read_at(0, begin) && std::ranges::all_of(begin, [](std::byte b) { return b == std::byte{}; });
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

Result<void> check_own_file(const std::string& path) {
  FOREBAY_CHECK(store::may_replace(path, {.becomes = store::Thing::file, .right = store::Right::own}));
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) return {};
  const auto source = S_ISREG(info.st_mode) ? FileSource::open(path) : fail(ErrorKind::exists, "is no file", path);
  if (source && (is_blank(**source) || container::looks_like_container(**source))) return {};
  if (!source && source.error().kind != ErrorKind::exists) return std::unexpected(source.error());
  return fail(ErrorKind::exists, "a file of Forebay's has this name, and this is none", path, {},
              "move it away, or write to another name");
}

void remove_subfiles(const std::string& path, std::span<const std::string> names) {
  if (names.empty()) return;
  const std::vector<std::string> in_use = find_subfiles(path);
  const std::string below = path + ".dir";
  const Fd directory(::open(below.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return;
  for (const std::string& name : names)
    if (std::ranges::find(in_use, name) == in_use.end() && check_own_file(below + "/" + name))
      unlinkat(directory.get(), name.c_str(), 0);
  rmdir(below.c_str());
}

}  // namespace forebay::io
