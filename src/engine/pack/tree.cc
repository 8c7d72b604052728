#include "engine/pack/tree.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <unordered_set>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/options.h"

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

// What a file without content is; null for all others.
const char* special_kind(mode_t mode) {
  if (S_ISFIFO(mode)) return "is a FIFO";
  if (S_ISSOCK(mode)) return "is a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "is a device";
  return nullptr;
}

class Scanner {
 public:
  Scanner(const ScanOptions& options, SourceTree& tree) : options_(options), tree_(tree) {}

  // Adds what the root `path` is, and all below it. `name` is empty for a directory that gets no entry of its own.
  Result<void> add_root(const std::string& path, const std::string& name) {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return fail_errno(errno, "stat", path);
    if (const char* special = special_kind(info.st_mode)) return refuse(path, special);
    return add(path, name, info, options_.include.empty());
  }

 private:
  static std::unexpected<Error> refuse(const std::string& path, const char* special) {
    return fail(ErrorKind::unsupported, std::string(special) + ", which has no content to store", path, {},
                "move it away, or leave it out with --exclude");
  }

  // `is_included`: what is above it was asked for.
  Result<void> add(const std::string& path, const std::string& name, const struct stat& info, bool is_included) {
    if (!name.empty() && !options_.exclude.empty() && matches_any(options_.exclude, name)) return {};
    is_included = is_included || (!name.empty() && matches_any(options_.include, name));
    if (!is_included && !S_ISDIR(info.st_mode)) return {};
    if (const char* special = special_kind(info.st_mode)) {
      if (options_.strict) return refuse(path, special);
      tree_.skipped.push_back(path + " " + special);
      return {};
    }
    if (!name.empty()) FOREBAY_CHECK(add_row(path, row_of(name, info)));
    if (!S_ISDIR(info.st_mode)) return {};
    const size_t before = tree_.files.size();
    FOREBAY_CHECK(add_children(path, name, is_included));
    if (is_included || name.empty() || tree_.files.size() > before) return {};
    names_.erase(name);  // nothing in it was asked for
    tree_.files.pop_back();
    return {};
  }

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

  Result<void> add_children(const std::string& path, const std::string& name, bool is_included) {
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
    for (const std::string& child : children) {
      const std::string child_path = path + "/" + child;
      struct stat info{};
      if (::lstat(child_path.c_str(), &info) != 0) return fail_errno(errno, "stat", child_path);
      FOREBAY_CHECK(add(child_path, name.empty() ? child : name + "/" + child, info, is_included));
    }
    return {};
  }

  const ScanOptions& options_;
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
  const AssignedRanks assigned = assign_ranks(names);
  const std::vector<uint32_t>& ranks = assigned.of_name;
  tree.are_numbered = assigned.are_numbered;
  size_t next = 0;
  for (SourceFile& file : tree.files)
    if (file.row.kind == FileKind::regular) file.row.rank = ranks[next++];
  tree.ranks = ranks.empty() ? 1 : uint64_t{*std::ranges::max_element(ranks)} + 1;
  std::ranges::stable_sort(tree.files, {}, [](const SourceFile& file) { return file.row.rank; });
}

}  // namespace

Result<SourceTree> scan_tree(std::span<const std::string> roots, const ScanOptions& options) {
  SourceTree tree;
  Scanner scanner(options, tree);
  for (const std::string& root : roots) {
    struct stat info{};
    if (::stat(root.c_str(), &info) != 0) return fail_errno(errno, "stat", root);
    std::string name;
    if (roots.size() > 1 || !S_ISDIR(info.st_mode)) {
      FOREBAY_TRY(name, last_component(root));
    }
    FOREBAY_CHECK(scanner.add_root(root, name));
  }
  set_ranks(tree);
  return tree;
}

}  // namespace forebay::engine
