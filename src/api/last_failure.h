// What the C interfaces share: the text of the last call that failed, for each thread, which forebay_message() gives,
// and that nothing that is thrown leaves a library.
#pragma once

#include <cstdint>
#include <new>
#include <optional>

#include "base/error.h"
#include "forebay/forebay.h"

// Keeps as much of the text, which ends with NUL, as there is room for; returns the code. libforebay has it, and the
// other interface libraries call it there: it is not for programs. Takes no memory from the heap. Thread-safe.
extern "C" FOREBAY_API int forebay_private_failed(int code, const char* what);

namespace forebay::api {

inline int failed(int code, const char* what) { return forebay_private_failed(code, what); }

// The code that stands for a kind of error, but where an interface has a code of its own for it.
constexpr int code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::timeout:
      return FOREBAY_TIMEOUT;
    case ErrorKind::invalid_argument:
      return FOREBAY_ARGUMENT;
    case ErrorKind::not_found:
      return FOREBAY_NOT_FOUND;
    case ErrorKind::permission:
      return FOREBAY_DENIED;
    case ErrorKind::limit:
      return FOREBAY_LIMIT;
    case ErrorKind::corrupt:
      return FOREBAY_DAMAGED;
    case ErrorKind::unsupported:
      return FOREBAY_UNSUPPORTED;
    default:
      return FOREBAY_FAILED;
  }
}

inline int failed(int code, const Error& error) { return failed(code, error.message().c_str()); }
inline int failed(const Error& error) { return failed(code_of(error.kind), error); }

// What body() returns, or FAILED if it throws; little does: when memory is used up.
template <class Body>
int guarded(const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return failed(FOREBAY_FAILED, "no memory left");
  } catch (...) {
    return failed(FOREBAY_FAILED, "a defect of Forebay");
  }
}

// A timeout of the C interfaces, in milliseconds. Nothing if it is for ever, as one of more than a year is.
inline std::optional<int64_t> bounded(int64_t timeout_ms) {
  constexpr int64_t kLongest = int64_t{1000} * 3600 * 24 * 365;
  if (timeout_ms < 0 || timeout_ms > kLongest) return {};
  return timeout_ms;
}

}  // namespace forebay::api
