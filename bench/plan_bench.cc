// Planning a rank group of many small variables: the catalogue, the keys, the plan and its slices.
#include <benchmark/benchmark.h>

#include "merge/plan.h"
#include "merge/similarity.h"

namespace forebay::merge {
namespace {

constexpr uint64_t kFiles = 32, kElements = 1125;

Layout layout_of(uint64_t variables) {
  Layout layout{"hdf5", {}};
  uint64_t at = 2048;
  for (uint64_t v = 0; v < variables; ++v) {
    layout.variables.push_back({.path = "/Grid00000001/variable" + std::to_string(v),
                                .type = *DataType::parse("f8"),
                                .shape = {kElements},
                                .extents = {{at, 8 * kElements}}});
    at += 8 * kElements;
  }
  return layout;
}

Catalogue directory_of(const Layout& layout, const std::vector<std::string>& keys) {
  Catalogue catalogue;
  for (uint64_t file = 0; file < kFiles; ++file)
    catalogue.add({.name = "file" + std::to_string(file),
                   .size = layout.variables.back().extents[0].end(),
                   .rank = static_cast<uint32_t>(file)},
                  layout, keys);
  return catalogue;
}

void count(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * state.range(0) * static_cast<int64_t>(kFiles));
}

void make_keys(benchmark::State& state) {
  const Layout layout = layout_of(static_cast<uint64_t>(state.range(0)));
  for (auto _ : state)
    for (uint64_t file = 0; file < kFiles; ++file) benchmark::DoNotOptimize(Similarity{}.keys(layout));
  count(state);
}
BENCHMARK(make_keys)->Arg(100)->Arg(8900)->Unit(benchmark::kMillisecond);

void make_directory(benchmark::State& state) {
  const Layout layout = layout_of(static_cast<uint64_t>(state.range(0)));
  const auto keys = Similarity{}.keys(layout);
  for (auto _ : state) benchmark::DoNotOptimize(directory_of(layout, keys));
  count(state);
}
BENCHMARK(make_directory)->Arg(100)->Arg(8900)->Unit(benchmark::kMillisecond);

void make_plan(benchmark::State& state) {
  const Layout layout = layout_of(static_cast<uint64_t>(state.range(0)));
  const Catalogue catalogue = directory_of(layout, Similarity{}.keys(layout));
  for (auto _ : state) {
    const auto plan = Plan::make(catalogue, {.scheme = static_cast<Scheme>(state.range(1))});
    for (const Frame& frame : plan->frames()) benchmark::DoNotOptimize(plan->shape(frame, plan->slices(frame)));
  }
  count(state);
  state.SetLabel(to_string(static_cast<Scheme>(state.range(1))));
}
BENCHMARK(make_plan)
    ->ArgsProduct({{100, 8900}, {static_cast<int>(Scheme::aware), static_cast<int>(Scheme::aware_block)}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace forebay::merge
