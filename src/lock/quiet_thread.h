// Threads beside those of an application.
#pragma once

#include <functional>
#include <thread>

#include "base/error.h"

namespace forebay::lock {

// A thread to which no signal of the application is ever delivered: all are blocked. `name` has 15 letters at most.
// limit if the system starts none.
Result<std::thread> quiet_thread(const char* name, std::function<void()> body);

}  // namespace forebay::lock
