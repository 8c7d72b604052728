#include "base/error.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/printable.h"

namespace forebay {

const char* to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return "invalid_argument";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::exists:
      return "exists";
    case ErrorKind::permission:
      return "permission";
    case ErrorKind::io:
      return "io";
    case ErrorKind::no_space:
      return "no_space";
    case ErrorKind::corrupt:
      return "corrupt";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::changed:
      return "changed";
    case ErrorKind::limit:
      return "limit";
    case ErrorKind::cancelled:
      return "cancelled";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::disconnected:
      return "disconnected";
    case ErrorKind::internal:
      return "internal";
  }
  return "unknown";
}

std::string Error::message() const {
  std::string text;
  if (!path.empty()) text += path + ": ";
  if (offset) text += fmt::format("at byte {}: ", *offset);
  text += what;
  if (!hint.empty()) text += " (" + hint + ")";
  return printable(text);
}

static ErrorKind kind_of_errno(int value) {
  switch (value) {
    case ENOENT:
    case ENOTDIR:
      return ErrorKind::not_found;
    case EEXIST:
    case ENOTEMPTY:
      return ErrorKind::exists;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
      return ErrorKind::permission;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorKind::no_space;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return ErrorKind::limit;
    case EINVAL:
      return ErrorKind::invalid_argument;
    case ETIMEDOUT:
      return ErrorKind::timeout;
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EPIPE:
      return ErrorKind::disconnected;
    default:
      return ErrorKind::io;
  }
}

std::unexpected<Error> fail_errno(int errno_value, const std::string& call, std::string path) {
  const bool is_out_of_descriptors = errno_value == EMFILE || errno_value == ENFILE;
  return fail(kind_of_errno(errno_value), call + ": " + std::strerror(errno_value), std::move(path), {},
              is_out_of_descriptors ? "raise the limit of open files (ulimit -n)" : "");
}

}  // namespace forebay
