// The verbs of the program forebay-adaptable.
#pragma once

#include <memory>

#include "cli/verb.h"

namespace forebay::cli {

std::unique_ptr<Verb> make_config();

// The parts of verbs of the core that know what this program knows.
std::unique_ptr<Verb> make_info_file();
std::unique_ptr<Verb> make_repair_file();

}  // namespace forebay::cli
