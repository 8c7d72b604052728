#include "fabric/credentials.h"

#include <cerrno>

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

namespace forebay::fabric {
namespace {

constexpr size_t kDigits = 2 * kSecretBytes;

// Has libsodium choose what is fast on this processor, before there are threads.
[[maybe_unused]] const int sodium_is_ready = ::sodium_init();

Result<void> check_owner(int fd, const std::string& path) {
  struct stat status;
  if (::fstat(fd, &status) != 0) return fail_errno(errno, "fstat", path);
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::corrupt, "is not a regular file", path);
  if (status.st_uid != ::geteuid()) return fail(ErrorKind::permission, "the secret belongs to another user", path);
  if ((status.st_mode & 077) != 0)
    return fail(ErrorKind::permission, "others than its owner can read or write the secret", path, {}, "chmod 600");
  return {};
}

Result<void> write_all(int fd, const char* from, size_t size, const std::string& path) {
  while (size > 0) {
    const ssize_t written = ::write(fd, from, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno(errno, "write", path);
    from += written;
    size -= static_cast<size_t>(written);
  }
  return {};
}

}  // namespace

Secret new_secret() {
  Secret secret;
  randombytes_buf(secret.data(), secret.size());
  return secret;
}

Result<Secret> read_secret(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return fail_errno(errno, "open", path);
  FOREBAY_CHECK(check_owner(file.get(), path));
  char text[kDigits + 2];
  size_t size = 0;
  while (size < sizeof text) {
    const ssize_t got = ::read(file.get(), text + size, sizeof text - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "read", path);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  Secret secret;
  size_t decoded = 0;
  if (size != kDigits + 1 || text[kDigits] != '\n' ||
      sodium_hex2bin(reinterpret_cast<unsigned char*>(secret.data()), secret.size(), text, kDigits, nullptr, &decoded,
                     nullptr) != 0 ||
      decoded != kSecretBytes)
    return fail(ErrorKind::corrupt, "is not a secret: 64 hexadecimal digits and a line feed", path);
  return secret;
}

Result<void> write_secret(const std::string& path, const Secret& secret) {
  char text[kDigits + 1];
  sodium_bin2hex(text, sizeof text, reinterpret_cast<const unsigned char*>(secret.data()), secret.size());
  text[kDigits] = '\n';
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return fail_errno(errno, "open", path);
  auto written = write_all(file.get(), text, sizeof text, path);
  if (written && ::close(file.release()) != 0) written = fail_errno(errno, "close", path);
  if (!written) ::unlink(path.c_str());
  return written;
}

}  // namespace forebay::fabric
