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

#include "base/parallel_for.h"
#include "engine/options.h"
#include "store/files.h"

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

// Something below a root, or a root itself.
struct Node {
  std::string path;
  FileRow row;  // its name is empty for a directory that gets no entry of its own
  mode_t mode = 0;
  std::vector<Node> children;
};

// What is below the roots is looked at level by level, much at a time: on a parallel file system each look is a message
// to a server and back.
class Scanner {
 public:
  Scanner(const ScanOptions& options, SourceTree& tree) : options_(options), tree_(tree) {}

  // Adds what the root `path` is, and all below it. `name` is empty for a directory that gets no entry of its own.
  Result<void> add_root(const std::string& path, const std::string& name) {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return fail_errno(errno, "stat", path);
    if (const char* special = special_kind(info.st_mode)) return refuse(path, special);
    Node root{.path = path, .row = row_of(name, info), .mode = info.st_mode, .children = {}};
    FOREBAY_CHECK(look_below(root));
    return add(root, options_.include.empty());
  }

 private:
  static constexpr size_t kLooks = 64;  // of one thread's turn

  static std::unexpected<Error> refuse(const std::string& path, const char* special) {
    return fail(ErrorKind::unsupported, std::string(special) + ", which has no content to store", path, {},
                "move it away, or leave it out with --exclude");
  }

  bool is_excluded(const std::string& name) const {
    return !name.empty() && !options_.exclude.empty() && matches_any(options_.exclude, name);
  }

  Result<void> look_below(Node& root) const {
    std::vector<Node*> level;
    if (S_ISDIR(root.mode) && !is_excluded(root.row.name)) level.push_back(&root);
    while (!level.empty()) {
      FOREBAY_CHECK(parallel_for(level.size(), store::kCallsAtOnce, [&](size_t i) { return list(*level[i]); }));
      std::vector<Node*> found;
      for (Node* directory : level)
        for (Node& child : directory->children) found.push_back(&child);
      FOREBAY_CHECK(parallel_for((found.size() + kLooks - 1) / kLooks, store::kCallsAtOnce, [&](size_t turn) {
        return look(std::span(found).subspan(turn * kLooks, std::min(kLooks, found.size() - turn * kLooks)));
      }));
      std::erase_if(found, [](const Node* node) { return !S_ISDIR(node->mode); });
      level = std::move(found);
    }
    return {};
  }

  // Finds the names in a directory, but for those that are excluded.
  Result<void> list(Node& node) const {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(node.path.c_str()), ::closedir);
    if (!directory) return fail_errno(errno, "opendir", node.path);
    while (true) {
      errno = 0;
      const dirent* entry = ::readdir(directory.get());
      if (!entry && errno != 0) return fail_errno(errno, "readdir", node.path);
      if (!entry) break;
      const std::string child = entry->d_name;
      std::string name = node.row.name.empty() ? child : node.row.name + "/" + child;
      if (child == "." || child == ".." || is_excluded(name)) continue;
      node.children.push_back(
          {.path = node.path + "/" + child, .row = {.name = std::move(name)}, .mode = 0, .children = {}});
    }
    std::ranges::sort(node.children, {}, &Node::path);
    return {};
  }

  static Result<void> look(std::span<Node* const> nodes) {
    for (Node* node : nodes) {
      struct stat info{};
      if (::lstat(node->path.c_str(), &info) != 0) return fail_errno(errno, "stat", node->path);
      node->row = row_of(std::move(node->row.name), info);
      node->mode = info.st_mode;
      if (S_ISLNK(info.st_mode)) {
        FOREBAY_TRY(node->row.link_target, read_link(node->path));
      }
    }
    return {};
  }

  // `is_included`: what is above it was asked for.
  Result<void> add(Node& node, bool is_included) {
    const std::string name = node.row.name;
    if (is_excluded(name)) return {};
    is_included = is_included || (!name.empty() && matches_any(options_.include, name));
    if (!is_included && !S_ISDIR(node.mode)) return {};
    if (const char* special = special_kind(node.mode)) {
      if (options_.strict) return refuse(node.path, special);
      tree_.skipped.push_back(node.path + " " + special);
      return {};
    }
    if (!name.empty()) FOREBAY_CHECK(add_row(std::move(node.path), std::move(node.row)));
    const size_t before = tree_.files.size();
    for (Node& child : node.children) FOREBAY_CHECK(add(child, is_included));
    if (!S_ISDIR(node.mode) || is_included || name.empty() || tree_.files.size() > before) return {};
    names_.erase(name);  // nothing in it was asked for
    tree_.files.pop_back();
    return {};
  }

  Result<void> add_row(std::string path, FileRow row) {
    if (!is_safe_name(row.name))
      return fail(ErrorKind::unsupported, "its name is too long", path, {}, "pack a directory further down");
    if (!names_.insert(row.name).second)
      return fail(ErrorKind::exists, "two sources have the name '" + row.name + "'", path);
    tree_.bytes += row.size;
    tree_.files.push_back({std::move(path), std::move(row)});
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
    if (::stat(root.c_str(), &info) != 0) {
      if (errno == ENOENT)
        return fail(ErrorKind::not_found, "there is no such directory or file", root, {}, "is the path right?");
      return fail_errno(errno, "stat", root);
    }
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
