#include "cli/loss.h"

#include <fmt/format.h>

namespace forebay::cli {

std::optional<LossyNote> worse(const std::optional<LossyNote>& a, const std::optional<LossyNote>& b) {
  if (!a || !b) return a ? a : b;
  return b->error > a->error ? b : a;
}

Losses losses_of(const engine::OpenContainer& container) {
  Losses losses(container.catalogue().variables.size());
  const auto frames = container.plan->frames();
  for (size_t number = 0; number < frames.size(); ++number) {
    const auto& note = container.index().frames[number].lossy;
    if (!note) continue;
    for (const merge::Slice& slice : container.plan->slices(frames[number]))
      if (slice.stream.variable < losses.size())
        losses[slice.stream.variable] = worse(losses[slice.stream.variable], note);
  }
  return losses;
}

std::string bound_text(const ErrorBound& bound) { return fmt::format("{}:{:.4g}", to_string(bound.kind), bound.value); }

std::string loss_text(const std::optional<LossyNote>& loss) {
  return loss ? fmt::format("{}, largest {:.3g}", bound_text(loss->bound), loss->error) : "-";
}

Json json_loss(const std::optional<LossyNote>& loss) {
  if (!loss) return nullptr;
  return {{"kind", to_string(loss->bound.kind)}, {"bound", loss->bound.value}, {"max_error", loss->error}};
}

}  // namespace forebay::cli
