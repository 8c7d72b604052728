// Encoding and decoding with the coders of this build, and the profiles' choice, by type and shape.
#include <benchmark/benchmark.h>

#include "codec/choice/chooser.h"
#include "codec/codec.h"
#include "sample_data.h"

namespace forebay::codec {
namespace {

using bench::Field;

void count(benchmark::State& state, size_t raw, size_t encoded) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * raw));
  state.counters["ratio"] = static_cast<double>(raw) / static_cast<double>(encoded);
}

void encode_with(benchmark::State& state, const Chain& chain, const Field& field) {
  Encoded encoded;
  for (auto _ : state) benchmark::DoNotOptimize(encoded = encode(chain, field.shape, field.bytes));
  count(state, field.bytes.size(), encoded.payload.size());
}

void decode_with(benchmark::State& state, const Chain& chain, const Field& field) {
  const Encoded encoded = encode(chain, field.shape, field.bytes);
  Bytes out(field.bytes.size());
  for (auto _ : state)
    if (!decode(encoded.recipe, field.shape, encoded.payload, out)) return state.SkipWithError("cannot decode");
  if (out != field.bytes) state.SkipWithError("decoded something else");
  count(state, field.bytes.size(), encoded.payload.size());
}

void choose_with(benchmark::State& state, const Profile& profile, const Field& field) {
  for (auto _ : state) benchmark::DoNotOptimize(profile.encode(field.shape, field.bytes));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * field.bytes.size()));
}

// Chains to measure: every coder that takes the field by itself, and what the profiles put together.
std::vector<std::string> chains_for(const Field& field) {
  std::vector<std::string> chains = {"shuffle,zstd:1", "lorenzo,shuffle,zstd:1", "lorenzo,lch", "lorenzo,lch:1"};
  for (const Codec* codec : all_codecs())
    if (!codec->is_transform() && !has_parameters(codec->id()) && codec->accepts(field.shape))
      chains.emplace_back(codec->name());
  return chains;
}

int register_all() {
  for (const Field& field : bench::fields()) {
    for (const std::string& text : chains_for(field)) {
      const Chain chain = *parse_chain(text);
      const std::string name = text + "/" + field.name;
      benchmark::RegisterBenchmark(("encode/" + name).c_str(),
                                   [chain, &field](auto& state) { encode_with(state, chain, field); });
      benchmark::RegisterBenchmark(("decode/" + name).c_str(),
                                   [chain, &field](auto& state) { decode_with(state, chain, field); });
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
