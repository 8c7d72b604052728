// What the C interfaces share: each keeps the text of the last call that failed, for each thread, and lets nothing that
// is thrown leave the library.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>

namespace forebay::api {

// Of one thread and one interface. Takes no memory from the heap: what fails may be that there is none.
class LastFailure {
 public:
  // Keeps as much of the text as there is room for; returns the code.
  int set(int code, const char* what) {
    std::strncpy(text_.data(), what, text_.size() - 1);
    return code;
  }

  const char* text() const { return text_.data(); }  // empty if nothing has failed

  // What body() returns, or `failed` if it throws; little does: when memory is used up.
  template <class Body>
  int guarded(int failed, const Body& body) {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      return set(failed, "no memory left");
    } catch (...) {
      return set(failed, "a defect of Forebay");
    }
  }

 private:
  std::array<char, 1024> text_{};
};

// A timeout of the C interfaces, in milliseconds. Nothing if it is for ever, as one of more than a year is.
inline std::optional<int64_t> bounded(int64_t timeout_ms) {
  constexpr int64_t kLongest = int64_t{1000} * 3600 * 24 * 365;
  if (timeout_ms < 0 || timeout_ms > kLongest) return {};
  return timeout_ms;
}

}  // namespace forebay::api
