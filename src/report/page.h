// A report as one page of HTML that needs nothing else: no network, no script. Pure.
#pragma once

#include <string>

#include "report/model.h"

namespace forebay::report {

// What the page begins with: how a page of ours is known.
inline constexpr const char* kPageBegin = "<!doctype html>\n<!-- forebay report -->\n";

std::string page_of(const Report& report);

}  // namespace forebay::report
