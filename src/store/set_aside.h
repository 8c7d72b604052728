// The note of a set that was set aside: why (docs/store.md, "Sets that were set aside").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace forebay::store {

inline constexpr uint64_t kMaxSetAsideBytes = 64 << 10;

std::string serialise_set_aside(std::string_view reason);
// The reason. corrupt or unsupported if it is no such note.
Result<std::string> parse_set_aside(std::string_view text, const std::string& path);

}  // namespace forebay::store
