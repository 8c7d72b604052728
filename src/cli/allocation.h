// Where `forebay run` runs a job and for how long: what its user says, else what the batch system says.
#pragma once

#include <chrono>
#include <string>

#include "base/error.h"
#include "cli/run_plan.h"
#include "cli/syntax.h"

namespace forebay::cli {

class Allocation {
 public:
  void declare(Syntax& syntax);  // --nodes-file, --launcher, --deadline, --drain-before

  // What was given, but for the nodes, as words of `forebay run`.
  void append_to(std::vector<std::string>& words) const;

  // Sets nodes, launcher and deadline of `options`, whose `grace` is set. Asks the batch system where it is needed.
  Result<void> complete(RunOptions& options) const;

  static constexpr std::chrono::seconds kDrain{120};  // the default of --drain-before is this and --grace

 private:
  std::string nodes_file_, launcher_ = "auto", deadline_;
  std::chrono::milliseconds drain_before_{0};  // 0: the default
};

}  // namespace forebay::cli
