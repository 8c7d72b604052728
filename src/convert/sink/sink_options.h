// What sinks are made with.
#pragma once

#include <string>

namespace forebay::convert {

struct SinkOptions {
  std::string target;
  bool overwrite = false;
};

}  // namespace forebay::convert
