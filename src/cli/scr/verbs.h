// The verbs of the program forebay-scr.
#pragma once

#include <memory>

#include "cli/verb.h"

namespace forebay::cli {

std::unique_ptr<Verb> make_scr();

}  // namespace forebay::cli
