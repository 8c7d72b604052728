// Errors of the rooms as Python's exceptions, and what every function of the module does around its work.
#pragma once

#include <utility>

#include <nanobind/nanobind.h>

#include "base/error.h"

namespace forebay::python {

// Sets the exception that forebay/_errors.py makes of it, and throws. Holds the interpreter's lock.
[[noreturn]] void raise(const Error& error);

// The exception, not raised.
nanobind::object exception_of(const Error& error);

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// `work()`, which touches no object of Python, with the interpreter's lock given up.
template <class Work>
auto unlocked(Work&& work) {
  const nanobind::gil_scoped_release release;
  return std::forward<Work>(work)();
}

}  // namespace forebay::python
