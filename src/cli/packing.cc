#include "cli/packing.h"

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

}  // namespace forebay::cli
