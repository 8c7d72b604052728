// Encoding and decoding of every codec of this build, and of the profiles' choice, by type and shape.
#include <benchmark/benchmark.h>

#include "codec/chooser.h"
#include "codec/codec.h"
#include "sample_data.h"

namespace forebay::codec {
namespace {

using bench::Field;

void count(benchmark::State& state, size_t raw, size_t encoded) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * raw));
  state.counters["ratio"] = static_cast<double>(raw) / static_cast<double>(encoded);
}

void encode_with(benchmark::State& state, const Codec& codec, const Field& field) {
  Bytes out(codec.bound(field.bytes.size()));
  size_t size = 0;
  for (auto _ : state) benchmark::DoNotOptimize(size = codec.encode(field.shape, 0, field.bytes, out));
  if (size == 0) return state.SkipWithError("the codec would rather not");
  count(state, field.bytes.size(), size);
}

void decode_with(benchmark::State& state, const Codec& codec, const Field& field) {
  Bytes encoded(codec.bound(field.bytes.size())), out(field.bytes.size());
  encoded.resize(codec.encode(field.shape, 0, field.bytes, encoded));
  if (encoded.empty()) return state.SkipWithError("the codec would rather not");
  for (auto _ : state)
    if (!codec.decode(field.shape, 0, encoded, out)) return state.SkipWithError("cannot decode");
  if (out != field.bytes) state.SkipWithError("decoded something else");
  count(state, field.bytes.size(), encoded.size());
}

void choose_with(benchmark::State& state, const Profile& profile, const Field& field) {
  for (auto _ : state) benchmark::DoNotOptimize(profile.choose(field.shape, field.bytes));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * field.bytes.size()));
}

int register_all() {
  for (const Field& field : bench::fields()) {
    for (const Codec* codec : all_codecs()) {
      if (!codec->accepts(field.shape)) continue;
      const std::string name = std::string(codec->name()) + "/" + field.name;
      benchmark::RegisterBenchmark(("encode/" + name).c_str(),
                                   [codec, &field](auto& state) { encode_with(state, *codec, field); });
      benchmark::RegisterBenchmark(("decode/" + name).c_str(),
                                   [codec, &field](auto& state) { decode_with(state, *codec, field); });
    }
    for (const char* name : {"fast", "balanced"})
      benchmark::RegisterBenchmark(
          ("choose/" + std::string(name) + "/" + field.name).c_str(),
          [profile = *Profile::parse(name), &field](auto& state) { choose_with(state, profile, field); });
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace forebay::codec
