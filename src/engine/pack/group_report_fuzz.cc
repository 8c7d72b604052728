// Hostile reports: what can be parsed is written as text that parses again.
#include <cstdlib>

#include "base/bytes.h"
#include "engine/pack/group_report.h"

using namespace forebay;
using namespace forebay::engine;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = as_text(std::as_bytes(std::span(data, size)));
  if (const auto report = parse_group_report(text); report && !parse_group_report(to_text(*report))) std::abort();
  const auto reports = parse_group_reports(text);
  if (!reports) return 0;
  const auto again = parse_group_reports(to_text(*reports));
  if (!again || to_text(*again) != to_text(*reports)) std::abort();
  (void)make_manifest({.name = "set"}, *reports);
  return 0;
}
