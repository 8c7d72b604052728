#include "cli/parents.h"

#include <fmt/format.h>

#include "cli/text.h"
#include "cli/units.h"

namespace forebay::cli {

std::string parents_text(std::span<const store::ParentEntry> parents) {
  std::string text;
  for (const store::ParentEntry& parent : parents)
    text += fmt::format("{}{} in {} of {}", text.empty() ? "" : ", ", format_bytes(parent.raw_bytes),
                        plural(parent.frames, "frame"), parent.name);
  return text;
}

Json json_parents(std::span<const store::ParentEntry> parents) {
  Json list = Json::array();
  for (const store::ParentEntry& parent : parents)
    list.push_back({{"name", json_text(parent.name)}, {"frame_count", parent.frames}, {"raw_bytes", parent.raw_bytes}});
  return list;
}

}  // namespace forebay::cli
