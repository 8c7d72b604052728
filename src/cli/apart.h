// Tries something that may crash, hang, or change the process for good: in a process of its own.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/error.h"

namespace forebay::cli {

// The text that `attempt` gives in a child of this process, of 4 KiB at most, or its error's message as unsupported. A
// child that crashes, or takes longer than `patience`, is an error, too. No other thread may run.
Result<std::string> try_apart(const std::function<Result<std::string>()>& attempt,
                              std::chrono::milliseconds patience = std::chrono::seconds(20));

}  // namespace forebay::cli
