// The verbs of the program forebay-mount.
#pragma once

#include <memory>

#include "cli/verb.h"

namespace forebay::cli {

std::unique_ptr<Verb> make_mount();

}  // namespace forebay::cli
