// How programs hear of errors: adios_errno, the last message, and stderr.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include <adios_error.h>

#include "io/group/failure.h"

namespace forebay::adios {

// 0 nothing, 1 errors, 2 warnings too (what programs start with), 3 and 4 more.
void set_verbosity(int level);
void set_log_file(const std::string& path);  // instead of stderr; "" for stderr
void set_abort_on_error(bool aborts);

// Whether reading leaves out steps that are damaged, and warns, instead of failing.
void set_skip_damaged(bool skips);
bool skips_damaged();

// Leaves the error in adios_errno and the last message, prints it unless another rank does so for all, and returns its
// number.
int report(const io::Failure& failure);

void warn(const std::string& text);

// adios_errno as of a call that has just begun.
void begin_call();

// What the call of a program returns: `body` is Outcome<void>(). Nothing that is thrown passes.
template <class Body>
int guarded(Body&& body) {
  begin_call();
  try {
    if (io::Outcome<void> outcome = std::forward<Body>(body)(); !outcome) return report(outcome.error());
    return err_no_error;
  } catch (const std::bad_alloc&) {
    return report(io::Failure(io::Code::no_memory, Error{ErrorKind::limit, "there is no more memory", {}, {}, {}}));
  } catch (const std::exception& thrown) {
    return report(io::Failure(io::Code::unspecified, Error{ErrorKind::internal, thrown.what(), {}, {}, {}}));
  }
}

}  // namespace forebay::adios
