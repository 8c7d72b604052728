// The thread in which a coordinator's store operations run: a file system that hangs stops no message.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "job/coordinator/store_commands.h"

namespace forebay::job {

// Errors of the store are answers; it is opened, and made if it is not there, by the first command that succeeds.
class StoreWorker {
 public:
  // `answer` is called by the thread, or by that in which Prune runs, until the destructor has returned.
  StoreWorker(std::string store, std::function<void(StoreAnswer)> answer);

  // Abandons what is staged, after the command that is under way.
  ~StoreWorker();
  StoreWorker(const StoreWorker&) = delete;
  StoreWorker& operator=(const StoreWorker&) = delete;

  void submit(StoreCommand command);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace forebay::job
