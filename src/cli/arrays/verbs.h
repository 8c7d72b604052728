// The verbs of the program forebay-arrays.
#pragma once

#include <memory>

#include "cli/verb.h"

namespace forebay::cli {

std::unique_ptr<Verb> make_extract();
std::unique_ptr<Verb> make_read();
std::unique_ptr<Verb> make_query();
std::unique_ptr<Verb> make_convert();
std::unique_ptr<Verb> make_report();
std::unique_ptr<Verb> make_diff();

// The parts of verbs of the core that know what this program knows.
std::unique_ptr<Verb> make_verify_consistency();

}  // namespace forebay::cli
