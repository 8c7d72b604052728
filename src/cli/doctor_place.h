// Judges one directory that a job would use. Pure; a part of doctor_judge.h.
#pragma once

#include <vector>

#include "cli/doctor_judge.h"

namespace forebay::cli {

std::vector<Finding> judge_place(const PlaceFacts& place);

}  // namespace forebay::cli
