// Runs and steps as Python holds them.
#pragma once

#include <memory>

#include "view/source/run.h"

namespace forebay::python {

// What was opened keeps threads and positions that a child of fork() has not: there nothing may be used.
class OpenedHere {
 public:
  OpenedHere();
  void check() const;  // raises

 private:
  int process_;
};

struct RunHandle : OpenedHere {
  explicit RunHandle(std::unique_ptr<view::Run> opened) : run(std::move(opened)) {}
  std::shared_ptr<view::Run> run;
};

struct StepHandle : OpenedHere {
  explicit StepHandle(std::shared_ptr<const view::Step> opened, std::shared_ptr<view::Run> of)
      : run(std::move(of)), step(std::move(opened)) {}
  std::shared_ptr<view::Run> run;  // outlives the step
  std::shared_ptr<const view::Step> step;
};

}  // namespace forebay::python
