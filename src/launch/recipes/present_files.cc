#include "launch/recipes/present_files.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/rules/evaluator.h"

namespace forebay::launch {
namespace {

namespace fs = std::filesystem;

// Empty if it cannot be read any more.
std::string end_of_file(const std::string& path, uint64_t size) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return {};
  std::string text(std::min<uint64_t>(size, rules::Evaluator::kMostText), '\0');
  size_t got = 0;
  while (got < text.size()) {
    const ssize_t count =
        ::pread(fd.get(), text.data() + got, text.size() - got, static_cast<off_t>(size - text.size() + got));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    got += static_cast<size_t>(count);
  }
  text.resize(got);
  return text;
}

std::string text_at(const std::string& path, const struct stat& status) {
  if (S_ISREG(status.st_mode)) return end_of_file(path, static_cast<uint64_t>(status.st_size));
  std::error_code error;
  const fs::path target = fs::read_symlink(path, error);
  return error ? std::string() : target.string();
}

class Lister {
 public:
  Lister(std::string root, std::span<const rules::Rule> rules) : root_(std::move(root)), rules_(rules) {}

  // `below`: empty, or a directory with a slash behind it.
  Result<void> list(const std::string& below) {
    std::error_code error;
    std::vector<std::string> directories;
    for (fs::directory_iterator at(root_ + "/" + below, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      std::string path = below + name;
      struct stat status{};
      if (name.starts_with(".forebay") || ::lstat(at->path().c_str(), &status) != 0) continue;
      if (S_ISDIR(status.st_mode)) directories.push_back(std::move(path));
      if (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode)) add(std::move(path), at->path(), status);
    }
    const bool is_gone = error == std::errc::no_such_file_or_directory && !below.empty();
    if (error && !is_gone) return fail_errno(error.value(), "readdir", root_ + "/" + below);
    for (std::string& directory : directories) {
      FOREBAY_CHECK(list(directory + "/"));
      found.directories.push_back(std::move(directory));
    }
    return {};
  }

  PresentFiles found;

 private:
  void add(std::string path, const std::string& full, const struct stat& status) {
    rules::PresentFile file{.path = std::move(path),
                            .size = static_cast<uint64_t>(status.st_size),
                            .written_ns = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
    const auto wants = [&](const rules::Rule& rule) {
      return rule.done.says && match(rule.done.says->file, file.path);
    };
    if (std::ranges::any_of(rules_, wants)) file.text = text_at(full, status);
    found.files.push_back(std::move(file));
  }

  const std::string root_;
  const std::span<const rules::Rule> rules_;
};

}  // namespace

Result<PresentFiles> present_files(const std::string& directory, std::span<const rules::Rule> rules) {
  Lister lister(directory, rules);
  FOREBAY_CHECK(lister.list(""));
  std::ranges::sort(lister.found.files, {}, &rules::PresentFile::path);
  std::ranges::sort(lister.found.directories);
  return std::move(lister.found);
}

}  // namespace forebay::launch
