// What `forebay scr run` shares with `forebay run`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/verb.h"

namespace forebay::cli {

// `forebay run` for an application that is not started again while `hold` gives a reason.
std::unique_ptr<Verb> make_run_unless(std::function<std::optional<std::string>()> hold);

}  // namespace forebay::cli
