// A directory that is gone, with all that is in it, when its object is.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace forebay::cli {

class TemporaryDirectory {
 public:
  // In $TMPDIR, else /tmp; its name begins with `prefix`. io: there is no such directory, or it cannot be written.
  static Result<TemporaryDirectory> make(std::string_view prefix) {
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    if (error) return fail(ErrorKind::io, "there is no directory for temporary files", {}, {}, "set TMPDIR");
    std::string path = parent / (std::string(prefix) + "-XXXXXX");
    if (::mkdtemp(path.data()) == nullptr) return fail_errno(errno, "make a directory in", parent);
    return TemporaryDirectory(std::move(path));
  }
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace forebay::cli
