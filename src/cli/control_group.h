// The limits that a control group (cgroup, version 1 or 2) puts on this process. Pure but for what is passed in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace forebay::cli {

struct GroupLimits {
  std::optional<uint64_t> memory;  // bytes
  double processors = 0;           // so many processors' worth of time; 0: no limit
};

// `memberships` is /proc/self/cgroup; `read` gives the text of a file, empty if there is none. The tightest limit of
// the group and of those above it counts. Groups whose files are not to be seen, as from within a container, count as
// the topmost one that is.
GroupLimits group_limits(std::string_view memberships, const std::function<std::string(const std::string& path)>& read);

}  // namespace forebay::cli
