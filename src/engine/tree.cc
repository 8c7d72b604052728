#include "engine/tree.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <unordered_set>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::engine {
namespace {

FileRow row_of(std::string name, const struct stat& info) {
  FileRow row{.name = std::move(name),
              .mode = info.st_mode & 07777u,
              .mtime_s = info.st_mtim.tv_sec,
              .mtime_ns = static_cast<uint32_t>(info.st_mtim.tv_nsec)};
  if (S_ISREG(info.st_mode)) row.size = static_cast<uint64_t>(info.st_size);
  if (S_ISDIR(info.st_mode)) row.kind = FileKind::directory;
  if (S_ISLNK(info.st_mode)) row.kind = FileKind::symlink;
  return row;
}

Result<std::string> read_link(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  if (length < 0) return fail_errno(errno, "readlink", path);
  return std::string(target, static_cast<size_t>(length));
}

class Scanner {
 public:
  explicit Scanner(SourceTree& tree) : tree_(tree) {}

  // Adds what `path` is, and all below it. `name` is empty for a root directory that gets no entry of its own.
  Result<void> add(const std::string& path, const std::string& name, bool follow) {
    struct stat info{};
    if ((follow ? ::stat(path.c_str(), &info) : ::lstat(path.c_str(), &info)) != 0)
      return fail_errno(errno, "stat", path);
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode) && !S_ISLNK(info.st_mode))
      return fail(ErrorKind::unsupported, "is a socket, device or FIFO", path, {}, "move it out of the directory");
    if (!name.empty()) FOREBAY_CHECK(add_row(path, row_of(name, info)));
    if (S_ISDIR(info.st_mode)) return add_children(path, name);
    return {};
  }

 private:
  Result<void> add_row(const std::string& path, FileRow row) {
    if (!is_safe_name(row.name))
      return fail(ErrorKind::unsupported, "its name is too long", path, {}, "pack a directory further down");
    if (!names_.insert(row.name).second)
      return fail(ErrorKind::exists, "two sources have the name '" + row.name + "'", path);
    if (row.kind == FileKind::symlink) {
      FOREBAY_TRY(row.link_target, read_link(path));
    }
    tree_.bytes += row.size;
    tree_.files.push_back({path, std::move(row)});
    return {};
  }

  Result<void> add_children(const std::string& path, const std::string& name) {
    std::vector<std::string> children;
    {
      const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
      if (!directory) return fail_errno(errno, "opendir", path);
      while (true) {
        errno = 0;
        const dirent* entry = ::readdir(directory.get());
        if (!entry && errno != 0) return fail_errno(errno, "readdir", path);
        if (!entry) break;
        const std::string child = entry->d_name;
        if (child != "." && child != "..") children.push_back(child);
      }
    }
    std::ranges::sort(children);
    for (const std::string& child : children)
      FOREBAY_CHECK(add(path + "/" + child, name.empty() ? child : name + "/" + child, false));
    return {};
  }

  SourceTree& tree_;
  std::unordered_set<std::string> names_;
};

// The last component of a path, as the name of a root among several: "." and the like have none.
Result<std::string> last_component(const std::string& path) {
  char resolved[PATH_MAX];
  if (!::realpath(path.c_str(), resolved)) return fail_errno(errno, "realpath", path);
  const std::string real = resolved;
  const std::string name = real.substr(real.rfind('/') + 1);
  if (name.empty())
    return fail(ErrorKind::invalid_argument, "the root directory has no name to keep its files under", path);
  return name;
}

void set_ranks(SourceTree& tree) {
  std::vector<std::string> names;
  for (const SourceFile& file : tree.files)
    if (file.row.kind == FileKind::regular) names.push_back(file.row.name);
  const std::vector<uint32_t> ranks = assign_ranks(names);
  size_t next = 0;
  for (SourceFile& file : tree.files)
    if (file.row.kind == FileKind::regular) file.row.rank = ranks[next++];
  tree.ranks = ranks.empty() ? 1 : uint64_t{*std::ranges::max_element(ranks)} + 1;
  std::ranges::stable_sort(tree.files, {}, [](const SourceFile& file) { return file.row.rank; });
}

}  // namespace

Result<SourceTree> scan_tree(std::span<const std::string> roots) {
  SourceTree tree;
  Scanner scanner(tree);
  for (const std::string& root : roots) {
    struct stat info{};
    if (::stat(root.c_str(), &info) != 0) return fail_errno(errno, "stat", root);
    std::string name;
    if (roots.size() > 1 || !S_ISDIR(info.st_mode)) {
      FOREBAY_TRY(name, last_component(root));
    }
    FOREBAY_CHECK(scanner.add(root, name, true));
  }
  set_ranks(tree);
  return tree;
}

}  // namespace forebay::engine
