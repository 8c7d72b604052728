#include "convert/plan/coordinates.h"

#include <algorithm>
#include <array>

#include "view/read/selection.h"

namespace forebay::convert {

bool is_coordinate(const std::string& name, const Seen& seen) {
  return seen.form == view::Form::global && seen.dimensions.size() == 1 && seen.dimensions[0] == name;
}

std::string joined_dimension(const Seen& seen) {
  constexpr std::array<std::string_view, 6> kTimes = {"time", "Time", "TIME", "t", "time_counter", "ocean_time"};
  const bool has_one = seen.form == view::Form::global && !seen.dimensions.empty() && seen.shape[0] == 1;
  return has_one && std::ranges::find(kTimes, seen.dimensions[0]) != kTimes.end() ? seen.dimensions[0] : std::string();
}

std::string reference_of(const view::Step& step, const std::string& name) {
  std::string found;
  for (const view::Attribute& attribute : step.attributes()) {
    const std::string_view full = std::string_view(attribute.name).substr(attribute.name.starts_with('/') ? 1 : 0);
    if (full.starts_with(name) && (full.substr(name.size()) == "/units" || full.substr(name.size()) == "/calendar"))
      found += std::string(as_text(attribute.value)) + '\n';
  }
  return found;
}

Result<bool> is_the_same(const view::Run& run, std::span<const view::StepInfo> steps, std::span<const Seen> all) {
  constexpr uint64_t kMostBytes = 16 << 20;
  Bytes first, values;
  for (const Seen& seen : all) {
    const uint64_t bytes = element_count(seen.shape) * seen.type.bytes();
    if (bytes > kMostBytes) return false;
    FOREBAY_TRY(const auto step, run.step(steps[seen.source.step].number));
    values.assign(bytes, std::byte{});
    const view::Strided part = seen.part.value_or(view::Strided{engine::whole_box(seen.shape), {}});
    const view::Request request{step.get(), seen.source.array, part, values};
    const view::ReadResult result = view::read({&request, 1});
    if (result.outcomes[0].error) return std::unexpected(*result.outcomes[0].error);
    if (&seen == &all.front())
      first = values;
    else if (values != first)
      return false;
  }
  return true;
}

}  // namespace forebay::convert
