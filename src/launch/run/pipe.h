// A pipe whose ends are closed with it, and that programs which are started do not inherit.
#pragma once

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"

namespace forebay::launch {

struct Pipe {
  Fd read, write;
};

// io: the process has no file descriptors left.
inline Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(errno, "pipe", {});
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

}  // namespace forebay::launch
