// Checksums and characteristics: what every byte passes through beside the codecs.
#include <benchmark/benchmark.h>

#include "base/checksum.h"
#include "container/characteristics.h"
#include "sample_data.h"

namespace forebay {
namespace {

void count(benchmark::State& state, size_t bytes) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
}

void hash_frame(benchmark::State& state) {
  const Bytes& bytes = bench::fields()[0].bytes;
  for (auto _ : state) benchmark::DoNotOptimize(hash64(bytes));
  count(state, bytes.size());
}
BENCHMARK(hash_frame);

void crc_whole(benchmark::State& state) {
  const Bytes& bytes = bench::fields()[0].bytes;
  for (auto _ : state) benchmark::DoNotOptimize(crc64(bytes));
  count(state, bytes.size());
}
BENCHMARK(crc_whole);

// A file's CRC joined from pieces of the given size, out of order.
void crc_joined(benchmark::State& state) {
  const std::span<const std::byte> bytes = bench::fields()[0].bytes;
  const auto piece = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    FileCrc crc(bytes.size());
    for (size_t end = bytes.size(); end > 0;) {
      const size_t length = std::min(piece, end);
      end -= length;
      crc.add(end, bytes.subspan(end, length));
    }
    benchmark::DoNotOptimize(crc.value());
  }
  count(state, bytes.size());
}
BENCHMARK(crc_joined)->Arg(1 << 10)->Arg(9000)->Arg(64 << 10);

void characterise_field(benchmark::State& state) {
  const bench::Field& field = bench::fields()[static_cast<size_t>(state.range(0))];
  for (auto _ : state) benchmark::DoNotOptimize(container::characterise(field.shape.type, field.bytes));
  count(state, field.bytes.size());
  state.SetLabel(field.shape.type.name());
}
BENCHMARK(characterise_field)->Arg(0)->Arg(2)->Arg(3);

}  // namespace
}  // namespace forebay
