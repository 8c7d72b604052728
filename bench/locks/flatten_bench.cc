// Patterns of datatypes: making them, walking over them, and their regions. Time is per part or per segment.
#include <random>

#include <benchmark/benchmark.h>

#include "mpiio/pattern.h"
#include "mpiio/type_contents.h"

namespace forebay::lock::mpiio {
namespace {

constexpr int64_t kParts = 1'000'000;

// hindexed: every length another, at random distances.
TypeContents irregular() {
  std::mt19937_64 random(1);
  TypeContents contents{.combiner = Combiner::hindexed, .numbers = {kParts}, .types = {Pattern::bytes(8)}};
  for (int64_t i = 0; i < kParts; ++i) contents.numbers.push_back(static_cast<int64_t>(1 + random() % 4));
  int64_t at = 0;
  for (int64_t i = 0; i < kParts; ++i) contents.numbers.push_back(at += static_cast<int64_t>(40 + random() % 1000));
  contents.extent = at + 40;
  return contents;
}

// hindexed: the rows of a box, listed one by one.
TypeContents regular() {
  TypeContents contents{.combiner = Combiner::hindexed, .numbers = {kParts}, .types = {Pattern::bytes(8)}};
  contents.numbers.insert(contents.numbers.end(), kParts, 4);
  for (int64_t i = 0; i < kParts; ++i) contents.numbers.push_back(i / 1000 * 1'000'000 + i % 1000 * 100);
  contents.extent = 1'000'000'000;
  return contents;
}

Pattern nested() {
  Pattern row = *Pattern::loop(100, 24, Pattern::bytes(8), 0, 2400);
  Pattern plane = *Pattern::loop(100, 4000, row, 0, 400'000);
  return *Pattern::loop(100, 500'000, plane, 0, 50'000'000);
}

// Each element a structure of two pieces.
Pattern structures() {
  Part parts[] = {{0, Pattern::bytes(8)}, {12, Pattern::bytes(4)}};
  return *Pattern::loop(kParts / 2, 24, *Pattern::sequence(parts, 0, 24), 0, 12 * kParts);
}

void per_item(benchmark::State& state, uint64_t items) {
  state.counters["each"] = benchmark::Counter(
      static_cast<double>(items), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void make(benchmark::State& state, const TypeContents& contents) {
  for (auto _ : state) benchmark::DoNotOptimize(pattern_of(contents));
  per_item(state, kParts);
}

void walk(benchmark::State& state, const Pattern& pattern) {
  for (auto _ : state) {
    Cursor cursor(pattern, 0, 0, pattern.size());
    int64_t sum = 0;
    for (Segment segment; cursor.next(segment);) sum += segment.offset;
    benchmark::DoNotOptimize(sum);
  }
  per_item(state, pattern.segment_count());
}

void seek(benchmark::State& state, const Pattern& pattern) {
  uint64_t at = 0;
  for (auto _ : state) {
    at = (at + 123'456'789) % pattern.size();
    Cursor cursor(pattern, 0, at, pattern.size());
    Segment segment;
    benchmark::DoNotOptimize(cursor.next(segment));
  }
}

void region(benchmark::State& state, const Pattern& pattern) {
  for (auto _ : state) benchmark::DoNotOptimize(region_of(pattern, 0, 3, pattern.size() - 3));
}

BENCHMARK_CAPTURE(make, irregular, irregular())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(make, regular, regular())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(walk, irregular, *pattern_of(irregular()))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(walk, regular, *pattern_of(regular()))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(walk, nested, nested())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(walk, structures, structures())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(seek, irregular, *pattern_of(irregular()));
BENCHMARK_CAPTURE(seek, nested, nested());
BENCHMARK_CAPTURE(region, irregular, *pattern_of(irregular()))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(region, nested, nested());

}  // namespace
}  // namespace forebay::lock::mpiio
