// A method whose functions are a plug-in's.
#pragma once

#include <memory>

#include "forebay/forebay_method.h"
#include "io/method/method.h"
#include "io/method/parameters.h"

namespace forebay::io {

// `table` was checked: its version is this one's and its functions are there. It has to live for ever.
Outcome<std::unique_ptr<Method>> make_plugin_method(const forebay_method& table, const Parameters& parameters);

}  // namespace forebay::io
