#include "cli/new_file.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"

namespace forebay::cli {

static Result<void> give_name(const std::string& from, const std::string& path, bool overwrite) {
  if (overwrite)
    return std::rename(from.c_str(), path.c_str()) == 0 ? Result<void>() : fail_errno(errno, "rename", path);
  auto named = store::rename_new(AT_FDCWD, from, AT_FDCWD, path, path);
  if (!named && named.error().kind == ErrorKind::exists && named.error().hint.empty())
    named.error().hint = "use --overwrite to replace it";
  return named;
}

Result<NewFile> NewFile::create(std::string path) {
  std::string temporary = path + "." + store::random_token();
  auto fd = store::open_at(AT_FDCWD, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, path, 0666);
  if (!fd && fd.error().kind == ErrorKind::not_found)
    return fail(ErrorKind::not_found, "cannot be made: the directory that it should lie in is not there", path, {},
                "make that one first, with 'mkdir -p'");
  if (!fd) return std::unexpected(std::move(fd).error());
  return NewFile(std::move(path), std::move(temporary), *std::move(fd));
}

NewFile::~NewFile() {
  if (fd_.get() >= 0) unlink(temporary_.c_str());
}

Result<void> NewFile::write(std::span<const std::byte> bytes) {
  FOREBAY_CHECK(store::write_all(fd_.get(), size_, bytes, path_));
  size_ += bytes.size();
  return {};
}

Result<void> NewFile::commit(bool overwrite) {
  FOREBAY_CHECK(give_name(temporary_, path_, overwrite));
  fd_ = Fd();
  return {};
}

}  // namespace forebay::cli
