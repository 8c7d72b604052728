#include "store/may_replace.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/byte_source.h"
#include "base/bytes.h"
#include "store/files.h"

namespace forebay::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = "user.forebay.made";
constexpr const char* kRemoveIt = "remove it yourself if it may go, or name another place";

std::unexpected<Error> refused(const char* what, const std::string& path, const char* hint = kRemoveIt) {
  return fail(ErrorKind::exists, what, path, {}, hint);
}

Thing thing_of(const struct stat& info) {
  if (S_ISREG(info.st_mode)) return Thing::file;
  if (S_ISDIR(info.st_mode)) return Thing::directory;
  return S_ISLNK(info.st_mode) ? Thing::link : Thing::other;
}

bool is_named_as_store_part(std::string_view name) {
  constexpr std::string_view kParts[] = {"forebay-store", "listing", "sets", "staging", "runs", "jobs"};
  return std::ranges::find(kParts, name) != std::end(kParts);
}

bool is_there(int directory, const char* name) {
  struct stat info{};
  return ::fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

// One that has lost its file is one as well.
bool is_store(int directory) {
  return is_there(directory, "forebay-store") || (is_there(directory, "sets") && is_there(directory, "staging"));
}

bool is_store(const std::string& path) {
  const auto fd = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, path);
  return fd && is_store(fd->get());
}

// What a mark holds, and whether a store lies below.
struct Sum {
  uint64_t entries = 0, bytes = 0;
  int64_t newest_ns = INT64_MIN;
  bool holds_store = false;

  void add(const struct stat& info) {
    constexpr int64_t kNanoseconds = 1'000'000'000;
    ++entries;
    if (S_ISREG(info.st_mode)) bytes += static_cast<uint64_t>(info.st_size);
    newest_ns = std::max(newest_ns, int64_t{info.st_mtim.tv_sec} * kNanoseconds + info.st_mtim.tv_nsec);
  }
  std::string text() const { return fmt::format("1 {} {} {}", entries, bytes, newest_ns); }
};

Result<Sum> sum_of(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return fail_errno(errno, "look at", path);
  Sum sum;
  sum.add(info);
  if (!S_ISDIR(info.st_mode)) return sum;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    const std::string below = entry->path().string();
    if (::lstat(below.c_str(), &info) != 0) return fail_errno(errno, "look at", below);
    sum.add(info);
    const std::string name = entry->path().filename().string();
    if (name == "forebay-store" || (S_ISDIR(info.st_mode) && is_store(below))) sum.holds_store = true;
  }
  if (error) return fail_errno(error.value(), "read directory", path);
  return sum;
}

std::optional<std::string> mark_of(const std::string& path) {
  std::array<char, 256> text{};
  const ssize_t size = ::lgetxattr(path.c_str(), kMark, text.data(), text.size());
  if (size < 0) return std::nullopt;
  return std::string(text.data(), static_cast<size_t>(size));
}

bool is_empty_or_begins_with(const std::string& path, std::string_view text) {
  const auto source = FileSource::open(path);
  std::string begin(text.size(), '\0');
  if (!source) return false;
  if ((*source)->size() == 0) return true;
  return (*source)->size() >= begin.size() && (*source)->read_at(0, std::as_writable_bytes(std::span(begin))) &&
         begin == text;
}

// A mark is looked for only where it counts.
Result<void> look_for_mark(const std::string& path, const Replacement& wish, Standing& standing) {
  if (standing.is == Thing::file && !wish.begins.empty() && is_empty_or_begins_with(path, wish.begins)) {
    standing.is_marked = true;
    return {};
  }
  const auto mark = mark_of(path);
  if (!mark) return {};
  FOREBAY_TRY(const Sum sum, sum_of(path));
  standing.is_marked = true;
  standing.is_changed = *mark != sum.text();
  standing.holds_store = sum.holds_store;
  return {};
}

Result<void> look_into(const std::string& path, const Replacement& wish, Standing& standing) {
  standing.is_store = is_store(path);
  if (!wish.is_own) return {};
  FOREBAY_TRY(const auto names, names_in(path));
  for (const std::string& name : names)
    if (!wish.is_own(name)) standing.foreign = name;
  return {};
}

Result<void> decide(int directory, const std::string& name, const std::string& path, const Replacement& wish,
                    bool in_store) {
  Standing standing{.becomes = wish.becomes, .right = wish.right, .in_store = in_store, .foreign = {}};
  struct stat info{};
  if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
    standing.is = thing_of(info);
  else if (errno != ENOENT && errno != ENOTDIR)
    return fail_errno(errno, "look at", path);
  if (standing.is == Thing::directory) FOREBAY_CHECK(look_into(path, wish, standing));
  const bool can_be_marked = standing.is == Thing::file || standing.is == Thing::directory;
  if (wish.right == Right::marked && can_be_marked) FOREBAY_CHECK(look_for_mark(path, wish, standing));
  return may_replace(standing, path);
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

Result<void> may_replace(const Standing& standing, const std::string& path) {
  if (standing.is_store) return refused("this is a store", path, "name another place");
  if (standing.in_store && standing.right != Right::own)
    return refused("this is a part of a store, in which nothing but sets may lie", path, "name another place");
  if (standing.is == Thing::nothing) return {};
  if (standing.holds_store) return refused("a store lies in this directory", path, "name another place");
  if (!standing.foreign.empty())
    return fail(ErrorKind::exists, fmt::format("it holds '{}', which Forebay did not put there", standing.foreign),
                path, {}, "move that away first");
  if (standing.right == Right::own) return {};
  if (standing.is == Thing::other) return refused("this is neither a file nor a directory", path);
  if (standing.is == Thing::directory && standing.becomes != Thing::directory)
    return refused("there is a directory of that name", path);
  if (standing.is != Thing::directory && standing.becomes == Thing::directory)
    return refused("a file is where a directory should be", path);
  if (standing.right == Right::named && standing.is == Thing::directory)
    return refused("there is a directory of that name", path);
  if (standing.right == Right::named) return {};
  if (standing.is == Thing::link) return refused("this is a symbolic link, which is not written through", path);
  if (!standing.is_marked) return refused("no mark says that Forebay has made this", path);
  if (standing.is_changed) return refused("somebody has changed this since Forebay made it", path);
  return {};
}

Result<void> may_replace(const std::string& path, const Replacement& wish) {
  const std::string plain = without_slashes(path);
  return decide(AT_FDCWD, plain, plain, wish, wish.right != Right::own && lies_in_store(plain));
}

Result<void> may_replace_at(int directory, const std::string& name, const std::string& path, const Replacement& wish) {
  return decide(directory, name, path, wish, false);
}

void mark_as_made(const std::string& path) {
  const auto sum = sum_of(path);
  if (!sum) return;
  const std::string text = sum->text();
  (void)::lsetxattr(path.c_str(), kMark, text.data(), text.size(), 0);
}

bool is_store_part(int directory, std::string_view name) {
  return is_named_as_store_part(name) && is_there(directory, "forebay-store");
}

bool lies_in_store(const std::string& path) {
  std::error_code error;
  const fs::path given = fs::absolute(path, error);
  const fs::path parent = fs::weakly_canonical(given.parent_path(), error);
  if (error) return false;
  if (is_store(path)) return true;
  fs::path above = parent;
  for (fs::path name = given.filename();; name = above.filename(), above = above.parent_path()) {
    if (is_named_as_store_part(name.string()) && is_store(above.string())) return true;
    if (above == above.parent_path()) return false;
  }
}

}  // namespace forebay::store
