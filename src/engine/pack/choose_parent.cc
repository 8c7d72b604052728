#include "engine/pack/choose_parent.h"

#include <fmt/format.h>

#include "store/series.h"

namespace forebay::engine {
namespace {

// None if the store has no set of the series that can be read.
Result<std::optional<store::SetInfo>> newest(const store::Store& store, const std::string& series) {
  return store.choose([&](std::span<const store::SetInfo> sets) -> Result<std::optional<std::string>> {
    const store::SetInfo* const newest = store::newest_of(sets, series);
    return newest != nullptr ? std::optional(newest->name) : std::nullopt;
  });
}

Result<std::optional<store::SetInfo>> named(const store::Store& store, const std::string& name) {
  FOREBAY_TRY(auto set, store.find(name));
  FOREBAY_CHECK(set.manifest);
  return set;
}

}  // namespace

Result<std::optional<Parent>> choose_parent(const store::Store& store, const PackOptions& options,
                                            uint64_t memory_bytes, std::vector<std::string>& remarks) {
  if (options.parent.empty()) return std::nullopt;
  FOREBAY_TRY(const auto set,
              options.parent == "latest" ? newest(store, options.origin.series) : named(store, options.parent));
  if (!set) {
    remarks.push_back(
        fmt::format("the store has no set yet of the series '{}' that this one could refer to: everything is stored",
                    options.origin.series));
    return std::nullopt;
  }
  if (set->manifest->since_full + 1 >= options.full_every) {
    remarks.push_back(
        fmt::format("it is time for a full set (--full-every {}): everything is stored", options.full_every));
    return std::nullopt;
  }
  return read_parent(*set, memory_bytes, remarks);
}

}  // namespace forebay::engine
