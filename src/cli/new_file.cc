#include "cli/new_file.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"

namespace forebay::cli {

static Result<void> write_parts(const std::string& path, const std::string& shown,
                                const std::vector<std::span<const std::byte>>& parts) {
  FOREBAY_TRY(const Fd fd, store::open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, shown, 0666));
  uint64_t offset = 0;
  for (const auto part : parts) {
    FOREBAY_CHECK(store::write_all(fd.get(), offset, part, shown));
    offset += part.size();
  }
  return {};
}

static Result<void> give_name(const std::string& from, const std::string& path, bool overwrite) {
  if (overwrite)
    return std::rename(from.c_str(), path.c_str()) == 0 ? Result<void>() : fail_errno(errno, "rename", path);
  auto named = store::rename_new(AT_FDCWD, from, AT_FDCWD, path, path);
  if (!named && named.error().kind == ErrorKind::exists && named.error().hint.empty())
    named.error().hint = "use --overwrite to replace it";
  return named;
}

Result<void> write_new_file(const std::string& path, const std::vector<std::span<const std::byte>>& parts,
                            bool overwrite) {
  const std::string temporary = path + "." + store::random_token();
  auto written = write_parts(temporary, path, parts);
  if (written) written = give_name(temporary, path, overwrite);
  if (!written) unlink(temporary.c_str());
  return written;
}

Result<void> make_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0) return {};
  const int error = errno;
  struct stat status{};
  if (error == EEXIST && stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return {};
  return fail_errno(error, "mkdir", path);
}

}  // namespace forebay::cli
