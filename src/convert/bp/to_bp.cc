#include "convert/bp/to_bp.h"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convert/bp/bp_file.h"
#include "convert/pump/pump.h"

namespace forebay::convert {
namespace {

constexpr uint64_t kShares = 4;  // of memory: two batches, the indices, and these as bytes
constexpr uint64_t kMostIndexBytes = uint64_t{2} << 30;

BpAttribute text_attribute(BpNames& names, const std::string& group, const char* name, std::string_view text) {
  const auto bytes = as_bytes(text);
  return {.head = names.attribute(group, name, static_cast<uint8_t>(io::ValueType::string)),
          .value = Bytes(bytes.begin(), bytes.end())};
}

BpAttribute number_attribute(BpNames& names, const std::string& group, const char* name, int32_t number) {
  const auto bytes = std::as_bytes(std::span(&number, 1));
  return {.head = names.attribute(group, name, static_cast<uint8_t>(io::ValueType::int32)),
          .value = Bytes(bytes.begin(), bytes.end())};
}

// What every BP file says of itself, which readers do not list.
void describe(BpGroup& group, BpNames& names) {
  const auto now = static_cast<int32_t>(std::time(nullptr));
  group.attributes.push_back(text_attribute(names, group.head.group, "/__adios__/version", "1.13.1"));
  for (const char* name : {"/__adios__/create_time_epoch", "/__adios__/update_time_epoch"})
    group.attributes.push_back(number_attribute(names, group.head.group, name, now));
}

}  // namespace

Result<Converted> convert_to_bp(const view::Run& run, const Wish& wish, const SinkOptions& options,
                                uint64_t memory_bytes) {
  BlockPlanner planner(wish, "BP");
  BpNames names;
  std::set<std::string> remarks;
  Converted converted;
  FOREBAY_TRY(converted.plan, planner.survey(run));
  if (!planner.retyped().empty())
    return fail(ErrorKind::unsupported,
                fmt::format("in a BP file an array has one type, and these have others in some steps: '{}'",
                            fmt::join(planner.retyped(), "', '")),
                {}, {}, "convert the steps of each type to a file of their own, with --steps");
  FOREBAY_TRY(NewTarget target, NewTarget::file(options.target, options.overwrite));
  const uint64_t share = memory_bytes / kShares;
  BpFile file(std::move(target), options.statistics, std::min(share, kMostIndexBytes));
  bool is_described = false;
  for (const uint64_t number : wish.steps) {
    FOREBAY_TRY(const StepBlocks blocks, planner.plan_step(run, number));
    FOREBAY_TRY(BpStep step, bp_step(blocks, names, remarks));
    if (step.groups.empty()) continue;
    if (!std::exchange(is_described, true)) describe(step.groups.front(), names);
    FOREBAY_CHECK(file.begin_step(step, blocks.plan));
    const Take take = [&](const Piece& piece) { return file.write(piece); };
    FOREBAY_TRY(const Pumped pumped, pump(run, blocks.plan, {.batch_bytes = share}, take));
    FOREBAY_CHECK(file.end_step());
    converted.holes += pumped.holes;
    converted.cost.add(pumped.cost);
    converted.plan.bytes += blocks.plan.bytes;
  }
  FOREBAY_CHECK(file.commit(options.overwrite));
  remarks.insert(planner.remarks().begin(), planner.remarks().end());
  converted.plan.remarks.assign(remarks.begin(), remarks.end());
  return converted;
}

}  // namespace forebay::convert
