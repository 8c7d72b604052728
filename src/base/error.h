// Errors as values: every fallible function across rooms returns Result<T>.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>

namespace forebay {

// What went wrong, as far as a caller may want to act on it. The command maps kinds to exit codes
// (src/cli/exit_code.h).
enum class ErrorKind : uint8_t {
  invalid_argument,  // the caller's request makes no sense
  not_found,         // a file, set, variable or record that was named is not there
  exists,            // a name that must be new is taken
  permission,        // the system denies access
  io,                // the system failed to read or write
  no_space,          // a file system, quota or size limit is full
  corrupt,           // stored bytes do not match their checksum or their format
  unsupported,       // well-formed, but newer than or outside of what this build can do
  changed,           // a source changed while it was read
  limit,             // a bound (memory budget, size limit) would be passed
  cancelled,         // another part of the same operation failed first
  timeout,           // a deadline passed
  disconnected,      // a peer cannot be reached, or no longer
  internal,          // a broken promise inside Forebay: please report
};

// The name of a kind, as used in JSON output ("corrupt", "no_space", ...).
const char* to_string(ErrorKind kind);

// What, where, and what to do.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string what;                // one sentence without a final full stop
  std::string path;                // the file concerned, or empty
  std::optional<uint64_t> offset;  // the byte in that file, when known
  std::string hint;                // what the user can do, or empty

  // "PATH: at byte OFFSET: WHAT (HINT)", leaving out what is not known.
  std::string message() const;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorKind kind, std::string what, std::string path = {},
                                   std::optional<uint64_t> offset = {}, std::string hint = {}) {
  return std::unexpected(Error{kind, std::move(what), std::move(path), offset, std::move(hint)});
}

// The error that `errno_value` stands for, after the system call `call` on `path`.
std::unexpected<Error> fail_errno(int errno_value, const std::string& call, std::string path);

}  // namespace forebay

#define FOREBAY_CONCAT_(a, b) a##b
#define FOREBAY_CONCAT(a, b) FOREBAY_CONCAT_(a, b)

// Returns the error of `expression` from the enclosing function, if it has one.
#define FOREBAY_CHECK(expression)                                 \
  do {                                                            \
    if (auto forebay_result_ = (expression); !forebay_result_)    \
      return std::unexpected(std::move(forebay_result_).error()); \
  } while (false)

// `FOREBAY_TRY(auto x, f());` declares x as the value of f(), or returns f()'s error.
#define FOREBAY_TRY(declaration, expression) \
  FOREBAY_TRY_(declaration, expression, FOREBAY_CONCAT(forebay_try_, __LINE__))
#define FOREBAY_TRY_(declaration, expression, temporary)                \
  auto temporary = (expression);                                        \
  if (!temporary) return std::unexpected(std::move(temporary).error()); \
  declaration = std::move(*temporary)
