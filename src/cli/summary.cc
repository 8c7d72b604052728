#include "cli/summary.h"

#include <fmt/format.h>

#include "cli/text.h"
#include "cli/units.h"

namespace forebay::cli {

static uint64_t total(const Json& status, const char* key) {
  const auto totals = status.is_object() ? status.find("totals") : status.end();
  if (!status.is_object() || totals == status.end() || !totals->is_object()) return 0;
  const auto value = totals->find(key);
  return value != totals->end() && value->is_number() ? value->get<uint64_t>() : 0;
}

std::string summary_text(const Json& status) {
  const uint64_t raw = total(status, "raw_bytes"), stored = total(status, "stored_bytes");
  return fmt::format("{} durable, {} skipped, {} failed; {} -> {} (ratio {})", plural(total(status, "durable"), "set"),
                     total(status, "skipped"), total(status, "failed"), format_bytes(raw), format_bytes(stored),
                     format_ratio(static_cast<double>(raw), static_cast<double>(stored)));
}

std::vector<std::string> failures(const Json& status) {
  std::vector<std::string> lines;
  const auto past = status.is_object() ? status.find("past_sets") : status.end();
  if (!status.is_object() || past == status.end() || !past->is_array()) return lines;
  for (const Json& set : *past)
    if (set.is_object() && set.value("state", "") == "failed")
      lines.push_back(
          fmt::format("{} failed: {}", printable(set.value("name", "")), printable(set.value("message", ""))));
  return lines;
}

}  // namespace forebay::cli
