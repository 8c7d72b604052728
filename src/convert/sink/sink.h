// Where converted arrays go. A new format is a class that implements Sink, and a row of all_formats() (formats.cc).
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "convert/plan/plan.h"

namespace forebay::convert {

// Begins with a plan, takes pieces of its datasets, and commits. Destroyed without commit(), it leaves nothing behind.
// Called from one thread; write() of formats whose abilities say so by several at a time (Format::takes_several).
class Sink {
 public:
  virtual ~Sink() = default;

  // Before the first piece. The plan outlives the sink. no_space, permission, exists, unsupported.
  virtual Result<void> begin(const Plan& plan) = 0;

  // A piece; pieces of a dataset do not overlap, and together they are all of it. They come step by step, and in each
  // dataset in C order.
  virtual Result<void> write(const Piece& piece) = 0;

  // All pieces were written: makes them durable and gives the target its name. exists if that is taken and `overwrite`
  // is false. No call may follow.
  virtual Result<void> commit(bool overwrite) = 0;
};

}  // namespace forebay::convert
