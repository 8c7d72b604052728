// Texts with words in braces, which a restart replaces: "-restart {step}". Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "launch/rules/pattern.h"

namespace forebay::launch::rules {

// {set} {step} {path} {dir} {rank}, {file:PATTERN}, the rule's words, and as many * as the pattern has that it goes
// with.
struct Template {
  struct Piece {
    enum class Kind : uint8_t { text, word, file, star };
    Kind kind = Kind::text;
    std::string text{};  // word: its name
    Pattern file{};      // file
    bool operator==(const Piece&) const = default;
  };
  std::vector<Piece> pieces;
  bool operator==(const Template&) const = default;

  bool has_word(std::string_view name) const;
};

// invalid_argument with the column. `*` is itself unless `has_stars`.
Result<Template> parse_template(std::string_view text, bool has_stars = false, size_t column = 1);
std::string print_template(const Template& text);

struct Filling {
  Words words;                     // by name; "file" is none
  std::vector<std::string> stars;  // in order
  std::string root;                // of {file:}
  std::vector<std::string>
      files;  // the paths below it that {file:} may mean; a pattern without '/' matches the last component
};

// not_found for a word that has no value, {file:} without a file, or too few stars; invalid_argument where {file:}
// means several files.
Result<std::string> fill(const Template& text, const Filling& filling);

}  // namespace forebay::launch::rules
