// Verbs that are no part of the core: programs of their own, which are found by the command's place alone.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/exit_code.h"

namespace forebay::cli {

struct Extension {
  std::string_view verb, summary;
  std::string_view program;  // its file in libexec/forebay, and the package that has it
};

// In the order of `forebay --help`.
inline constexpr Extension kExtensions[] = {
    {"extract", "write one variable of one or all ranks as NumPy files", "forebay-arrays"},
    {"read", "list the arrays of a run, or read a part of one, whichever ranks wrote it", "forebay-arrays"},
    {"query", "find the steps, ranks and places where values are as asked", "forebay-arrays"},
    {"convert", "write arrays of a run in the formats of other programs, or what these wrote into a store",
     "forebay-arrays"},
    {"report", "write a page about a run: sizes, values of variables over the steps, damage", "forebay-arrays"},
    {"diff", "show what differs between two sets", "forebay-arrays"},
    {"mount", "show the sets of a store as directories of the original files", "forebay-mount"},
    {"config", "check an XML file of adaptable I/O, or generate source text from it", "forebay-adaptable"},
    {"scr", "what job scripts of programs that use SCR's interface call", "forebay-scr"},
};

// Null if there is none of that name.
constexpr const Extension* find_extension(std::string_view verb) {
  const auto* const found = std::ranges::find(kExtensions, verb, &Extension::verb);
  return found == std::end(kExtensions) ? nullptr : found;
}

// The program that a verb of an extension is in, as trusted_file() has it. not_found, with the package, where it is not
// installed; permission where others could have changed it.
Result<std::string> find_program(std::string_view verb, std::string_view program);

// Becomes the program of an extension, with these words; the first is the verb. Returns only if that fails. No thread
// may need more than this process's memory: all end.
std::unexpected<Error> become(std::string_view program, std::span<const std::string> words);

}  // namespace forebay::cli
