// Which variables of a container are stored with loss, and how verbs tell it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error_bound.h"
#include "cli/json.h"
#include "engine/set/set.h"

namespace forebay::cli {

// Per variable of a container's directory: the bound of its frames with the largest error, or none if all of them are
// lossless.
using Losses = std::vector<std::optional<LossyNote>>;

Losses losses_of(const engine::OpenContainer& container);

// Of two parts of one thing: the loss that is the more to be told.
std::optional<LossyNote> worse(const std::optional<LossyNote>& a, const std::optional<LossyNote>& b);

// "rel:0.001".
std::string bound_text(const ErrorBound& bound);

// "rel:0.001, largest 0.00042", or "-".
std::string loss_text(const std::optional<LossyNote>& loss);

// {"kind", "bound", "max_error"}, or null.
Json json_loss(const std::optional<LossyNote>& loss);

}  // namespace forebay::cli
