// Patterns of paths, as rules have them (docs/rules.md): "processor{rank}/{set:time}/**". Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace forebay::launch::rules {

inline constexpr size_t kMostPatternPieces = 64;   // of one pattern
inline constexpr size_t kMostMatchedBytes = 4096;  // of a path or a line; longer ones match nothing

// What a field takes, of one component of a path. Digits are taken whole: a number does not begin or end within
// another.
struct FieldClass {
  enum class Kind : uint8_t {
    digits,  // one or more
    time,    // a decimal number: "0.8", "1e-05"
    date,    // a digit, then digits and any of _ : . T Z -
    word,    // a letter, digit or _, then anything
    free,    // anything
    shape,   // `shape`, where each 0 stands for one digit
    words,   // one of `words`
  };
  Kind kind = Kind::digits;
  std::string shape{};
  std::vector<std::string> words{};
  bool operator==(const FieldClass&) const = default;
};

struct Piece {
  enum class Kind : uint8_t {
    text,
    any,    // *: any number of characters
    one,    // ?: one character
    range,  // [a-c]: one of these
    field,  // {name} or {name:class}
  };
  Kind kind = Kind::text;
  std::string text{};      // range: what lies between the brackets; field: its name
  FieldClass taken{};      // field
  bool is_again = false;   // field: that name occurred before, and has the same value here
  bool is_copied = false;  // field: one behind has the same name
  bool operator==(const Piece&) const = default;
};

struct Pattern {
  std::vector<Piece> pieces;
  bool is_below = false;  // "/**": any file below
  bool operator==(const Pattern&) const = default;

  bool has_field(std::string_view name) const;
};

// What is matched: a path, whose components no piece crosses, or a line of text, where * takes anything, and fields end
// at blanks.
enum class Subject : uint8_t { path, line };

// invalid_argument with the column, from `column` for the first character, and what was expected.
Result<Pattern> parse_pattern(std::string_view text, Subject subject, size_t column = 1);

// The text that parse_pattern() makes the same pattern of.
std::string print_pattern(const Pattern& pattern);

using Words = std::map<std::string, std::string, std::less<>>;

struct Captures {
  Words fields;                    // {set} and {rank} among them
  std::vector<std::string> stars;  // what each * took, in order
  size_t set_end = 0;              // behind the first {set}; 0: there is none
};

// Takes time that grows with the product of the lengths, for any pattern that parse_pattern() returned; words that
// occur twice cost more, within bounds. Where a path can be cut in several ways, words and * are as short as possible.
std::optional<Captures> match(const Pattern& pattern, std::string_view subject, Subject kind = Subject::path);

// The pattern with the fields that `words` names replaced by their values. invalid_argument if a value is no part of a
// path.
Result<Pattern> with_words(const Pattern& pattern, const Words& words, Subject subject = Subject::path);

}  // namespace forebay::launch::rules
