// forebay-measure-frames: what chains and profiles make of the frames of a real set, and the processor time that
// encoding (with the choice) and decoding take, without files around them. Every frame is decoded and compared. Usage:
// forebay-measure-frames DIR ROUNDS DUMP|- ARM...
//   ARM is a profile, a chain of codecs (on the frames that the profile balanced makes), or best:PROFILE, which encodes
//   each frame with everything that the profile may choose and takes the smallest. The arms take turns, ROUNDS times.
//   DUMP is a directory for the raw frames of numbers that the profile balanced makes, as NNNNN-TYPE-grid or -line.
//   Prints one JSON object a line: for each round and arm the sums over each group of variables.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <fmt/format.h>

#include "codec/chain.h"
#include "codec/codec_ids.h"
#include "engine/cpu_clock.h"
#include "frame_set.h"

namespace forebay::bench {
namespace {

constexpr uint64_t kGroupSize = 64;  // the command's default
constexpr char kUsualProfile[] = "balanced";
constexpr std::string_view kBest = "best:";

struct Arm {
  std::string name;
  codec::Profile profile;
  std::string plan;  // the profile whose frames it takes
  bool tries_all = false;
};

Result<Arm> parse_arm(const std::string& text) {
  Arm arm{.name = text, .profile = {}, .plan = kUsualProfile, .tries_all = text.starts_with(kBest)};
  const std::string name = arm.tries_all ? text.substr(kBest.size()) : text;
  FOREBAY_TRY(arm.profile, codec::Profile::parse(name));
  const auto& all = codec::profiles();
  if (std::ranges::find(all, name, &codec::ProfileInfo::name) != all.end()) arm.plan = name;
  return arm;
}

struct Cost {
  uint64_t frames = 0, raw = 0, stored = 0;
  double encode = 0, decode = 0;
  std::set<std::string> chains;
};

const char* dimensions(const FrameShape& shape) {
  const bool is_grid = std::ranges::any_of(shape.blocks, [](const Block& block) {
    return std::ranges::count_if(block.dims, [](auto n) { return n > 1; }) > 1;
  });
  return is_grid ? "grid" : "line";
}

// Group, type and dimensions: frames of a group may differ in the last, where some hold a part of a plane.
using CostKey = std::tuple<std::string, std::string, std::string>;

CostKey key_of(const LoadedFrame& frame) {
  return {frame.group, frame.is_data ? frame.shape.type.name() : "skeletons", dimensions(frame.shape)};
}

// What `profile` may choose for the frame. Its candidates do not name those with a relation, which need parameters.
std::vector<codec::Chain> all_chains(const codec::Profile& profile, const LoadedFrame& frame) {
  std::vector<codec::Chain> chains = profile.candidates(frame.shape.type);
  if (frame.related.parameters.empty()) return chains;
  const codec::Stage relation{codec::kRelationId, 0, frame.related.parameters};
  for (const char* rest : {"lch:1", "shuffle,zstd:3", "bitshuffle,zstd:3", "shuffle,zstd:9", "bitshuffle,zstd:9"}) {
    codec::Chain chain = *codec::parse_chain(rest);
    chain.insert(chain.begin(), {relation, codec::Stage{codec::kHaloId, 0, {}}});
    chains.push_back(std::move(chain));
  }
  return chains;
}

codec::Encoded encode_best(const codec::Profile& profile, const LoadedFrame& frame) {
  codec::Encoded best;
  bool is_first = true;
  for (const codec::Chain& chain : all_chains(profile, frame)) {
    codec::Encoded encoded = codec::encode(chain, frame.shape, frame.raw->raw.span(), frame.related.references);
    if (is_first || encoded.payload.size() < best.payload.size()) best = std::move(encoded);
    is_first = false;
  }
  return best;
}

Result<void> measure(const Arm& arm, const LoadedFrame& frame, Cost& cost) {
  const auto raw = frame.raw->raw.span();
  const auto& references = frame.related.references;
  const engine::CpuClock clock;
  const codec::Encoded encoded =
      arm.tries_all ? encode_best(arm.profile, frame) : arm.profile.encode(frame.shape, raw, frame.related).encoded;
  const double encoded_at = clock.seconds();
  Buffer back(raw.size());
  FOREBAY_CHECK(codec::decode(encoded.recipe, frame.shape, encoded.payload, back.span(), references));
  cost.decode += clock.seconds() - encoded_at;
  cost.encode += encoded_at;
  if (!std::ranges::equal(raw, back.span()))
    return fail(ErrorKind::internal, "a frame does not decode to what was encoded with " + arm.name);
  FOREBAY_TRY(const codec::Chain used, codec::chain_of(encoded.recipe));
  cost.chains.insert(codec::to_string(used));
  ++cost.frames;
  cost.raw += raw.size();
  cost.stored += encoded.payload.size();
  return {};
}

Result<void> measure(const Arm& arm, const FrameSet& set, int round) {
  std::map<CostKey, Cost> costs;
  for (const LoadedFrame& frame : set.frames()) FOREBAY_CHECK(measure(arm, frame, costs[key_of(frame)]));
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [key, cost] : costs)
    rows.push_back({{"group", std::get<0>(key)},
                    {"type", std::get<1>(key)},
                    {"dimensions", std::get<2>(key)},
                    {"frames", cost.frames},
                    {"raw", cost.raw},
                    {"stored", cost.stored},
                    {"encode", cost.encode},
                    {"decode", cost.decode},
                    {"chains", cost.chains}});
  const bool is_profile = arm.plan == arm.profile.name() && !arm.tries_all;
  const nlohmann::json line = {{"arm", arm.name},
                               {"round", round},
                               {"interleave", is_profile ? set.interleave_seconds() : 0.0},
                               {"relations", is_profile ? set.relations_seconds() : 0.0},
                               {"groups", rows}};
  fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  std::fflush(stdout);
  return {};
}

Result<void> dump(const FrameSet& set, const std::string& directory) {
  int number = 0;
  for (const LoadedFrame& frame : set.frames()) {
    if (!frame.shape.type.is_number()) continue;
    const std::string path =
        fmt::format("{}/{:05}-{}-{}", directory, number++, frame.shape.type.name(), dimensions(frame.shape));
    const auto raw = frame.raw->raw.span();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(raw.data()), static_cast<std::streamsize>(raw.size()));
    if (!file.flush()) return fail(ErrorKind::io, "cannot write", path);
  }
  return {};
}

Result<void> run(const std::string& directory, int rounds, const std::string& dump_to,
                 const std::vector<std::string>& names) {
  std::vector<Arm> arms;
  for (const std::string& name : names) {
    FOREBAY_TRY(auto arm, parse_arm(name));
    arms.push_back(std::move(arm));
  }
  FOREBAY_TRY(const auto tree, engine::scan_tree(std::span(&directory, 1)));
  std::map<std::string, FrameSet> sets;
  for (int round = 0; round < rounds; ++round)
    for (const Arm& arm : arms) {
      if (!sets.contains(arm.plan)) {
        FOREBAY_TRY(const auto profile, codec::Profile::parse(arm.plan));
        FOREBAY_TRY(auto set, FrameSet::load(tree, kGroupSize, profile));
        sets.emplace(arm.plan, std::move(set));
      }
      FOREBAY_CHECK(measure(arm, sets.at(arm.plan), round));
    }
  if (dump_to == "-") return {};
  const auto usual = sets.find(kUsualProfile);
  if (usual == sets.end()) return fail(ErrorKind::invalid_argument, "no arm takes the frames that are to be dumped");
  return dump(usual->second, dump_to);
}

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 0;
  if (argc < 5 || rounds < 1) {
    fmt::print(stderr, "usage: forebay-measure-frames DIR ROUNDS DUMP|- ARM...\n");
    return 2;
  }
  const auto done = forebay::bench::run(argv[1], rounds, argv[3], {argv + 4, argv + argc});
  if (done) return 0;
  fmt::print(stderr, "forebay-measure-frames: {}\n", done.error().message());
  return 1;
}
