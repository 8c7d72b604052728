// Numbers of bytes for people. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace forebay {

// "12 B", "3.4 MiB": with one decimal from 1024 on.
std::string format_bytes(uint64_t bytes);

}  // namespace forebay
