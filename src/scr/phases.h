// The order of SCR's calls, as a state machine: what may be called when, and what to say otherwise. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace forebay::scr {

enum class Call : uint8_t {
  init,
  finalize,
  config_set,
  need_checkpoint,
  start_output,
  complete_output,
  have_restart,
  start_restart,
  complete_restart,
  current,
  drop,
  remove,
  should_exit,
  route_file,
};

class Phases {
 public:
  enum class Phase : uint8_t { before, between, output, restart, after };

  Phase phase() const { return phase_; }

  // Why `call` is out of order, with what to do; nothing: it is not. Changes nothing.
  std::optional<std::string> fault(Call call) const;

  // The call has been done. init, start_output and start_restart are told only if they succeeded.
  void done(Call call);

 private:
  Phase phase_ = Phase::before;
};

}  // namespace forebay::scr
