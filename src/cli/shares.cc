#include "cli/shares.h"

namespace forebay::cli {

// Calls visit(frame number, slice, its share of the frame's encoded bytes) for each slice of the plan.
template <class Visit>
static void for_each_slice(const engine::OpenContainer& container, const Visit& visit) {
  const auto frames = container.plan->frames();
  for (size_t number = 0; number < frames.size(); ++number) {
    const double encoded = static_cast<double>(container.index().frames[number].encoded_bytes);
    const double raw = static_cast<double>(frames[number].raw_bytes);
    for (const merge::Slice& slice : container.plan->slices(frames[number]))
      visit(number, slice, encoded * static_cast<double>(slice.length) / raw);
  }
}

static bool is_agnostic(const engine::OpenContainer& container) {
  const Scheme scheme = container.index().plan.scheme;
  return scheme == Scheme::agnostic || scheme == Scheme::agnostic_block;
}

static void charge_by_file(const Catalogue& catalogue, Shares& shares) {
  for (size_t f = 0; f < catalogue.files.size(); ++f) {
    const FileRow& file = catalogue.files[f];
    if (file.size == 0) continue;  // its variables have no bytes
    for (uint32_t v = file.first_variable; v < file.first_variable + file.variable_count; ++v)
      shares.variables[v] = shares.files[f] * static_cast<double>(catalogue.bytes_of(catalogue.variables[v])) /
                            static_cast<double>(file.size);
  }
}

Shares shares_of(const engine::OpenContainer& container) {
  const Catalogue& catalogue = container.catalogue();
  Shares shares{std::vector<double>(catalogue.variables.size()), std::vector<double>(catalogue.files.size())};
  for_each_slice(container, [&](size_t, const merge::Slice& slice, double encoded) {
    shares.files[slice.stream.file] += encoded;
    if (slice.stream.variable < shares.variables.size()) shares.variables[slice.stream.variable] += encoded;
  });
  if (is_agnostic(container)) charge_by_file(catalogue, shares);
  return shares;
}

std::vector<KeyFrames> frames_of_keys(const engine::OpenContainer& container) {
  const Catalogue& catalogue = container.catalogue();
  std::vector<KeyFrames> keys(catalogue.keys.size());
  std::vector<size_t> last(keys.size(), SIZE_MAX);
  for_each_slice(container, [&](size_t number, const merge::Slice& slice, double) {
    if (slice.stream.variable >= catalogue.variables.size()) return;
    const uint32_t key = catalogue.variables[slice.stream.variable].key;
    if (last[key] == number) return;
    last[key] = number;
    ++keys[key].frames;
    keys[key].chains.insert(container.index().frames[number].chain);
  });
  return keys;
}

}  // namespace forebay::cli
