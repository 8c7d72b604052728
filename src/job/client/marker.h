// The marker by which a rank tells that its files of a set are complete (docs/wire.md, "Stage"): shared by the agent
// and the application's library. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace forebay::job {

struct MarkedFile {
  std::string name;  // relative to the set's directory; UTF-8
  uint64_t size = 0;
  int64_t mtime_s = 0;
  uint32_t mtime_ns = 0;
  bool operator==(const MarkedFile&) const = default;
};

struct Marker {
  uint32_t rank = 0, ranks = 1;  // of the whole job
  uint64_t pid = 0;              // of the rank's process
  std::optional<int64_t> step;
  std::vector<MarkedFile> files;
  bool operator==(const Marker&) const = default;
};

inline constexpr uint64_t kMaxMarkerBytes = 64u << 20;

std::string encode_marker(const Marker& marker);

// corrupt or unsupported as store::unseal(), or if a member is missing or makes no sense. `path` is for messages.
Result<Marker> decode_marker(std::string_view text, const std::string& path);

// Whether JSON can hold `name` as it is.
bool is_utf8(std::string_view name);

}  // namespace forebay::job
