// What the coordinator's machines share: who is connected, by number, and lines for the log.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fabric/hub.h"

namespace forebay::job {

using SessionId = fabric::ConnectionId;

struct LogLine {
  fabric::Severity severity = fabric::Severity::info;
  std::string text;
};

// In the order in which things happened.
struct LogLines {
  std::vector<LogLine> lines;
  void info(std::string text) { lines.push_back({fabric::Severity::info, std::move(text)}); }
  void warn(std::string text) { lines.push_back({fabric::Severity::warning, std::move(text)}); }
};

}  // namespace forebay::job
