// How a set is kept, by the CKPT and STORE lines of the configuration. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "job/wire/messages.h"
#include "launch/scr/config.h"

namespace forebay::scr {

struct Descriptor {
  std::string id;
  int64_t interval = 1;
  job::wire::Scheme scheme = job::wire::Scheme::xor_;
  uint32_t group_size = 8, losses = 0;  // 0: not RS
  std::string failure_group;            // empty: the node
  std::string level;                    // a directory; empty: where the stage is
  bool takes_outputs = false;
  bool is_bypass = true;  // files go straight to the prefix
};

// One for each CKPT line, or one of the single keys if there is none. invalid_argument names line and item.
Result<std::vector<Descriptor>> descriptors_of(const Config& config);

// The one that serves the set with this number, from 1: of those for outputs, if it is one and there are any, else the
// one with the largest interval that divides the number. Null if no interval does.
const Descriptor* choose(const std::vector<Descriptor>& descriptors, int64_t number, bool is_output);

}  // namespace forebay::scr
