// The system's list of mounts, /proc/self/mountinfo. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::cli {

struct Mount {
  std::string type;                  // "ext4", "nfs4", "fuse.glusterfs"
  std::string point;                 // where
  std::vector<std::string> options;  // of the mount, then of the file system
};

// The mount of number `id`; nothing if the text has none, or not in the form that proc(5) tells.
std::optional<Mount> find_mount(std::string_view mountinfo, uint64_t id);

}  // namespace forebay::cli
