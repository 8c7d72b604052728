// What a worker does: one function for each kind of task.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "base/error.h"
#include "job/wire/messages.h"
#include "job/worker/agent_access.h"
#include "job/worker/task_progress.h"
#include "job/worker/worker.h"

namespace forebay::job {

struct TaskContext {
  const WorkerOptions& options;
  const engine::Resources& resources;  // of this task; the memory is that for buffers alone
  const AgentAccess& access;
  TaskProgress& progress;
  std::stop_token stop;
};

struct TaskResult {
  Result<std::string> report;         // of a pack; empty of a delivery
  std::optional<uint32_t> peer = {};  // whose error it is
};

TaskResult pack_task(const wire::TaskT& task, const TaskContext& context);
TaskResult deliver_task(const wire::TaskT& task, const TaskContext& context);

// The side of an error that is no peer's.
wire::FaultSide side_of(const Error& error);

}  // namespace forebay::job
