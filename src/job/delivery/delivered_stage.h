// Where in a stage a delivered set lies until it is published.
#pragma once

#include <string>

#include "base/error.h"

namespace forebay::job {

// Makes the directories above delivered_path(stage, stored), and returns that path. invalid_argument if `stored` cannot
// be the name of a set; not_found if `stage` has no directory of Forebay's own.
Result<std::string> make_way_for_delivery(const std::string& stage, const std::string& stored);

// The mode of a directory of a delivered set: its owner can always write to it, for several workers may have files to
// put there, after its mode was set.
inline constexpr uint32_t kOwnerMayAll = 0700;

}  // namespace forebay::job
