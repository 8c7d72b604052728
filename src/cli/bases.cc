#include "cli/bases.h"

#include <fmt/format.h>

#include "cli/text.h"
#include "cli/units.h"

namespace forebay::cli {

std::string bases_text(std::span<const store::BaseEntry> bases) {
  std::string text;
  for (const store::BaseEntry& base : bases)
    text += fmt::format("{}{} in {} of {}", text.empty() ? "" : ", ", format_bytes(base.raw_bytes),
                        plural(base.frames, "frame"), base.name);
  return text;
}

Json json_bases(std::span<const store::BaseEntry> bases) {
  Json list = Json::array();
  for (const store::BaseEntry& base : bases)
    list.push_back({{"name", json_text(base.name)}, {"frames", base.frames}, {"raw_bytes", base.raw_bytes}});
  return list;
}

}  // namespace forebay::cli
