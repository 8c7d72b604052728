// What a checkpoint set of a code is, and when it is complete: the language of docs/rules.md. Pure.
//
//   chk{set}/**; done renamed
//   processor{rank}/{set:time}/**; not processor*/0/**; with processor*/constant/**; done same quiet 2s
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "launch/rules/pattern.h"

namespace forebay::launch::rules {

inline constexpr size_t kMostRuleBytes = 8192;
inline constexpr size_t kMostItems = 64;

struct Item {
  enum class Kind : uint8_t { member, optional, companion, never };
  Kind kind = Kind::member;
  Pattern pattern{};
  bool is_appended = false;  // companion: what counts is its length, to which it is cut back
  bool operator==(const Item&) const = default;
};

struct Says {
  Pattern file, line;  // of a path, and of a line
  bool operator==(const Says&) const = default;
};

// All of them have to hold.
struct Done {
  bool is_renamed = false;                         // every member came to its name by a rename
  std::optional<Pattern> last;                     // a member of that name is closed, and none is open
  std::optional<Says> says;                        // a line of a file names the set
  bool is_same = false;                            // every member and every rank of the set before is there again
  std::optional<std::chrono::milliseconds> quiet;  // all members are closed, and nothing happened to them for this time
  std::optional<std::chrono::milliseconds> still;  // nothing happened for this time, open or not
  bool operator==(const Done&) const = default;
};

struct Rule {
  std::vector<Item> items;
  Done done;
  bool operator==(const Rule&) const = default;

  // Whether sets have a label, {set}; else there is one that is written in place.
  bool has_label() const;
};

// invalid_argument, with the column, what is wrong there and what was expected. Bounded in time and memory for any
// text.
Result<Rule> parse_rule(std::string_view text);

// The text that parse_rule() makes the same rule of.
std::string print_rule(const Rule& rule);

// The rule with words replaced by what they are on this run: --let name=sedov. invalid_argument if the rule has no such
// word, or the value is no part of a path.
Result<Rule> with_words(const Rule& rule, const Words& words);

// Which sets a file belongs to.
struct Role {
  Item::Kind kind = Item::Kind::never;  // never: the file is not looked at
  size_t item = 0;                      // index into Rule::items
  Captures captures{};
  Words series{};     // members: the words that tell sets of one series from those of others
  std::string label;  // members: {set}; empty where the rule has none
  std::string rank;   // members: {rank}; empty where the item has none

  bool is_member() const { return kind == Item::Kind::member || kind == Item::Kind::optional; }
};

// `path` is relative to the stage. What a "not" matches, what is Forebay's own and what a network file system keeps of
// removed files (.nfs*) is never a member or companion. Of several items the first one counts, members before
// companions.
Role role_of(const Rule& rule, std::string_view path);

}  // namespace forebay::launch::rules
