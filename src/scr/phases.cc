#include "scr/phases.h"

#include <fmt/format.h>

namespace forebay::scr {
namespace {

const char* name_of(Call call) {
  switch (call) {
    case Call::init:
      return "SCR_Init";
    case Call::finalize:
      return "SCR_Finalize";
    case Call::config_set:
      return "SCR_Config, to set a value,";
    case Call::need_checkpoint:
      return "SCR_Need_checkpoint";
    case Call::start_output:
      return "SCR_Start_output";
    case Call::complete_output:
      return "SCR_Complete_output";
    case Call::have_restart:
      return "SCR_Have_restart";
    case Call::start_restart:
      return "SCR_Start_restart";
    case Call::complete_restart:
      return "SCR_Complete_restart";
    case Call::current:
      return "SCR_Current";
    case Call::drop:
      return "SCR_Drop";
    case Call::remove:
      return "SCR_Delete";
    case Call::should_exit:
      return "SCR_Should_exit";
    case Call::route_file:
      return "SCR_Route_file";
  }
  return "the call";
}

}  // namespace

std::optional<std::string> Phases::fault(Call call) const {
  const auto out_of_order = [&](const char* why) { return fmt::format("{} is out of order: {}", name_of(call), why); };
  if (call == Call::route_file) return std::nullopt;
  if (call == Call::init || call == Call::config_set) {
    if (phase_ == Phase::before) return std::nullopt;
    return out_of_order(call == Call::init ? "SCR_Init was called already" : "call it before SCR_Init");
  }
  if (phase_ == Phase::before) return out_of_order("call SCR_Init before");
  if (phase_ == Phase::after) return out_of_order("SCR_Finalize was called already");
  if (call == Call::need_checkpoint || call == Call::should_exit) return std::nullopt;
  if (call == Call::complete_output)
    return phase_ == Phase::output ? std::nullopt : std::optional(out_of_order("no SCR_Start_output was before it"));
  if (call == Call::complete_restart)
    return phase_ == Phase::restart ? std::nullopt : std::optional(out_of_order("no SCR_Start_restart was before it"));
  if (phase_ == Phase::output) return out_of_order("call SCR_Complete_output before");
  if (phase_ == Phase::restart) return out_of_order("call SCR_Complete_restart before");
  return std::nullopt;
}

void Phases::done(Call call) {
  if (call == Call::init || call == Call::complete_output || call == Call::complete_restart) phase_ = Phase::between;
  if (call == Call::start_output) phase_ = Phase::output;
  if (call == Call::start_restart) phase_ = Phase::restart;
  if (call == Call::finalize) phase_ = Phase::after;
}

}  // namespace forebay::scr
