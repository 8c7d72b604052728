// Why an array was not found.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "engine/options.h"
#include "store/store.h"
#include "view/source/run.h"

namespace forebay::cli {

// The set that a step of a run is. not_found if it is none, as those of files that grow.
Result<store::SetInfo> set_of_step(const view::Run& run, const view::StepInfo& info);

// `error`, which `names` of arrays in the store or file `path` have led to. If one of them is the name of a set, it
// says that instead.
Error unless_set(Error error, const std::string& path, const std::vector<std::string>& names);

// As unless_set(); if a name was not found, and the step has no arrays at all, it says why.
Error with_reason(Error error, const view::Run& run, uint64_t step, const std::vector<std::string>& names,
                  const engine::Resources& resources);

// With the reason behind it why `set`, of which no file has variables, has none.
Error with_reason(Error error, const store::SetInfo& set, const engine::Resources& resources);

}  // namespace forebay::cli
