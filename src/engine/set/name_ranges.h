// What the files of a container are called, in few words, so that who looks for some of them need not open every
// container (docs/store.md, "Names"). Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::engine {

// Texts that stand for all of `names`, and perhaps for others: names as they are, and names with a range in the place
// of a number ("dump.{0000-0063}.h5"). Empty if few texts would not do, or names cannot be told in a manifest.
std::vector<std::string> name_ranges(std::span<const std::string_view> names);

// Whether one of the names that the texts stand for matches one of the shell patterns, as matches_any() would have it.
// True, too, if that cannot be told: of no texts, of texts that name_ranges() would not make, and of very long ranges.
bool may_match(const std::vector<std::string>& globs, std::span<const std::string> ranges);

}  // namespace forebay::engine
