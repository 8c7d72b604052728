#include "cli/packing.h"

#include <utility>

#include "store/files.h"

namespace forebay::cli {

static constexpr uint64_t kMostDescriptionBytes = 1 << 20;

void declare_description(Syntax& syntax, Description& description) {
  syntax.option(
      "--match", "REGEX=KEY",
      "Variables whose path matches REGEX as a whole (ECMAScript) are alike and have the key KEY; $1 in KEY is "
      "the first capture. May be repeated: the first that matches wins.",
      [&description](const std::string& text) -> Result<void> {
        FOREBAY_TRY(auto rule, merge::MatchRule::parse(text));
        description.similarity.rules.push_back(std::move(rule));
        return {};
      });
  syntax.flag("--exact", description.exact,
              "Variables are alike only if their groups have the same names. Default: runs of digits in group names "
              "count as equal.");
  syntax.option("--describe", "FILE",
                "A TOML description of the files, where they are raw binary (docs/raw-binary.md).",
                set_text(description.raw_file));
  syntax.flag("--opaque", description.format.opaque, "Do not look for variables inside the files.");
}

Result<void> complete(Description& description) {
  if (description.exact) description.similarity.matching = merge::Matching::exact;
  if (description.raw_file.empty()) return {};
  FOREBAY_TRY(description.format.raw_description, store::read_text(description.raw_file, kMostDescriptionBytes));
  return {};
}

void declare_compression(Syntax& syntax, Compression& compression) {
  syntax.option(
      "--scheme", "SCHEME",
      "How files are merged: auto, agnostic, agnostic-block, aware or aware-block. Default: auto, which tries "
      "aware and aware-block on samples of each variable group.",
      set_text(compression.scheme));
  syntax.option("--block-size", "SIZE", "Block of the block schemes. Default: 64K.",
                set_bytes(compression.block_bytes));
  syntax.option("--profile", "PROFILE", "One of those below, or a chain of codecs. Default: balanced.",
                set_text(compression.profile));
  syntax.option("--lossy", "GLOB=KIND:E",
                "Variables whose path matches the shell pattern GLOB need not come back byte for byte: f4 and f8 "
                "numbers may be off by E (abs:E), by E of their own magnitude (rel:E), or by E of the range of "
                "values that are stored together (range:E). Every value is checked. May be repeated: the first that "
                "matches wins. Default: nothing is lossy.",
                [&compression](const std::string& text) -> Result<void> {
                  FOREBAY_TRY(auto rule, engine::LossyRule::parse(text));
                  compression.lossy.push_back(std::move(rule));
                  return {};
                });
  std::vector<std::pair<std::string, std::string>> profiles;
  for (const auto& profile : codec::profiles()) profiles.emplace_back(profile.name, profile.description);
  profiles.emplace_back("CODEC[:LEVEL],...", "An explicit chain, as 'shuffle,zstd:3'.");
  syntax.section("Profiles", std::move(profiles));
}

Result<void> complete(const Compression& compression, engine::PackOptions& options) {
  FOREBAY_TRY(options.scheme, engine::SchemeChoice::parse(compression.scheme));
  if (compression.block_bytes > 0) options.scheme.block_bytes = compression.block_bytes;
  FOREBAY_TRY(options.profile, codec::Profile::parse(compression.profile));
  options.lossy = compression.lossy;
  return {};
}

}  // namespace forebay::cli
