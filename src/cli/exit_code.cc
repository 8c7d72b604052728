#include "cli/exit_code.h"

namespace forebay::cli {

ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return ExitCode::usage;
    case ErrorKind::not_found:
      return ExitCode::not_found;
    case ErrorKind::exists:
      return ExitCode::exists;
    case ErrorKind::permission:
    case ErrorKind::io:
    case ErrorKind::cancelled:
    case ErrorKind::timeout:
    case ErrorKind::disconnected:
      return ExitCode::failed;
    case ErrorKind::no_space:
      return ExitCode::no_space;
    case ErrorKind::corrupt:
      return ExitCode::damaged;
    case ErrorKind::unsupported:
      return ExitCode::unsupported;
    case ErrorKind::changed:
      return ExitCode::changed;
    case ErrorKind::limit:
      return ExitCode::limit;
    case ErrorKind::internal:
      return ExitCode::internal;
  }
  return ExitCode::internal;
}

}  // namespace forebay::cli
