// Comparing regions, and the lock table with few and with many holders: of bytes that lie apart, of bytes that
// interleave, and of the whole file.
#include <cstdlib>
#include <deque>

#include <benchmark/benchmark.h>

#include "lock/overlap.h"
#include "lock/table.h"

namespace forebay::lock {
namespace {

constexpr uint64_t kCell = 8;
constexpr uint64_t kBlock = 64;   // cells in each direction
constexpr uint64_t kBlocks = 22;  // in each direction: 10,648 ranks

Region with(uint64_t start, uint64_t length, std::initializer_list<Level> levels = {}) {
  Region region;
  if (!region.add(start, length, {levels.begin(), levels.size()})) std::abort();
  return region;
}

// What one rank writes of a three-dimensional array that all of them write: bounds of most ranks overlap.
Region block_of(uint64_t rank) {
  constexpr uint64_t kRow = kBlocks * kBlock * kCell, kPlane = kBlocks * kBlock * kRow;
  const uint64_t x = rank % kBlocks, y = rank / kBlocks % kBlocks, z = rank / kBlocks / kBlocks;
  return with(z * kBlock * kPlane + y * kBlock * kRow + x * kBlock * kCell, kBlock * kCell,
              {{kBlock, kPlane}, {kBlock, kRow}});
}

// Each rank's cell in every row: all bounds overlap.
Region column_of(uint64_t rank) { return with(rank * kCell, kCell, {{1u << 20, 20'000 * kCell}}); }

Region slab_of(uint64_t rank) { return with(rank << 20, 1u << 20); }

// `count` segments, every second stretch of bytes from the `side`; in order if `leap` is 1.
Region list_of(uint64_t count, uint64_t side, uint64_t leap = 1) {
  Region list;
  for (uint64_t i = 0; i < count; ++i)
    if (!list.add(2 * kCell * (i * leap % count) + side * kCell, kCell)) std::abort();
  return list;
}

void overlap_blocks(benchmark::State& state) {
  const Region a = block_of(0), b = block_of(1);
  for (auto _ : state) benchmark::DoNotOptimize(overlap(a, b));
}
BENCHMARK(overlap_blocks);

void overlap_columns(benchmark::State& state) {
  const Region a = column_of(0), b = column_of(1);
  for (auto _ : state) benchmark::DoNotOptimize(overlap(a, b));
}
BENCHMARK(overlap_columns);

// Whole planes, which are one level, against a block of two.
void overlap_planes_and_block(benchmark::State& state) {
  const Region a = with(0, 100, {{1u << 20, 1000}}), b = with(100, 300, {{100, 256'000}, {10, 1000}});
  for (auto _ : state) benchmark::DoNotOptimize(overlap(a, b));
}
BENCHMARK(overlap_planes_and_block);

void overlap_coprime_strides(benchmark::State& state) {
  const Region a = with(0, 4, {{1u << 30, 1'000'003}}), b = with(5, 1, {{3000, 999'983}});
  for (auto _ : state) benchmark::DoNotOptimize(overlap(a, b));
}
BENCHMARK(overlap_coprime_strides);

// As hard as it gets: pairs of bytes around the segments of the other term, at a phase of its own each time.
void overlap_many_phases(benchmark::State& state) {
  const Region a = with(1'200'000, 500'000, {{600'000, 10'000'000}});
  const Region b = with(0, 1, {{500'000, 10'000'001}, {2, 2'000'000}});
  for (auto _ : state) benchmark::DoNotOptimize(overlap(a, b));
}
BENCHMARK(overlap_many_phases)->Unit(benchmark::kMicrosecond);

void overlap_lists(benchmark::State& state) {
  const auto count = static_cast<uint64_t>(state.range(0));
  const Region a = list_of(count, 0), b = list_of(count, 1);
  for (auto _ : state) benchmark::DoNotOptimize(overlap(a, b));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(overlap_lists)->Arg(1000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);

void overlap_shuffled_lists(benchmark::State& state) {
  const auto count = static_cast<uint64_t>(state.range(0));
  const Region a = list_of(count, 0, 7919), b = list_of(count, 1, 104'729);
  for (auto _ : state) benchmark::DoNotOptimize(overlap(a, b));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(overlap_shuffled_lists)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);

void overlap_list_and_block(benchmark::State& state) {
  const Region a = list_of(1'000'000, 0), b = with(kCell, kCell, {{1'000'000, 2 * kCell}});
  for (auto _ : state) benchmark::DoNotOptimize(overlap(a, b));
}
BENCHMARK(overlap_list_and_block)->Unit(benchmark::kMicrosecond);

void compress_list(benchmark::State& state) {
  std::vector<Extent> segments;
  for (uint64_t i = 0; i < 1'000'000; ++i) segments.push_back({i * 64 + i / 100 * 640, i * 64 + i / 100 * 640 + 8});
  for (auto _ : state) benchmark::DoNotOptimize(compressed(segments));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(segments.size()));
}
BENCHMARK(compress_list)->Unit(benchmark::kMillisecond);

// Adds and removes a request while others hold what does not conflict with it.
void add_and_remove(benchmark::State& state, Region (*region_of)(uint64_t)) {
  Table table;
  const auto holders = static_cast<uint64_t>(state.range(0));
  for (uint64_t rank = 0; rank < holders; ++rank) table.add(region_of(rank), Access::exclusive);
  const Region region = region_of(holders);
  for (auto _ : state) {
    const Table::Added added = table.add(region, Access::exclusive);
    if (!added.granted) return state.SkipWithError("it waits");
    table.remove(added.ticket);
  }
}
BENCHMARK_CAPTURE(add_and_remove, apart, slab_of)->Arg(0)->Arg(100)->Arg(10'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(add_and_remove, blocks, block_of)->Arg(100)->Arg(10'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(add_and_remove, columns, column_of)->Arg(100)->Arg(10'000)->Unit(benchmark::kMicrosecond);

// A queue for the whole file: its first leaves and is its last again.
void queue_for_the_file(benchmark::State& state) {
  Table table;
  std::deque<Ticket> queue;
  for (int64_t i = 0; i <= state.range(0); ++i)
    queue.push_back(table.add(Region::whole_file(), Access::exclusive).ticket);
  for (auto _ : state) {
    if (table.remove(queue.front()).size() != 1) return state.SkipWithError("nobody was woken");
    queue.pop_front();
    queue.push_back(table.add(Region::whole_file(), Access::exclusive).ticket);
  }
}
BENCHMARK(queue_for_the_file)->Arg(100)->Arg(10'000)->Unit(benchmark::kMicrosecond);

// Segments as terms of their own, against four holders of as many that lie between them.
void add_list(benchmark::State& state) {
  Table table;
  const auto count = static_cast<uint64_t>(state.range(0));
  for (int i = 0; i < 4; ++i) table.add(list_of(count, 0), Access::shared);
  const Region region = list_of(count, 1);
  for (auto _ : state) table.remove(table.add(region, Access::exclusive).ticket);
}
BENCHMARK(add_list)->Arg(1000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);

// Many wait for one writer and are granted together.
void wake_readers(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    Table table;
    const Ticket writer = table.add(Region::whole_file(), Access::exclusive).ticket;
    for (int64_t i = 0; i < state.range(0); ++i) table.add(Region::whole_file(), Access::shared);
    state.ResumeTiming();
    if (table.remove(writer).size() != static_cast<size_t>(state.range(0))) return state.SkipWithError("some sleep");
    state.PauseTiming();
    table = Table();
    state.ResumeTiming();
  }
}
BENCHMARK(wake_readers)->Arg(10'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace forebay::lock
