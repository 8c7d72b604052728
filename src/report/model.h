// What a report of a run tells. Pure values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forebay::report {

// What a stage of a set's way into the store took; 0: not told.
struct StageSeconds {
  std::string stage{};
  double clock = 0, cpu = 0;
};

// A set, as its manifest has it.
struct SetLine {
  std::string name{};
  std::optional<int64_t> step{};
  int64_t created_ns = 0;  // since 1970, UTC
  uint64_t raw_bytes = 0, stored_bytes = 0, files = 0, ranks = 0, parents = 0;
  std::string profile{};
  std::vector<StageSeconds> stages{};
  std::string problem{};    // why it cannot be used, or what it lacks; empty: nothing is known to be wrong
  bool is_readable = true;  // whether the numbers above are known
};

// What a variable's values were in one set.
struct Values {
  size_t set = 0;                                // in Report::sets
  uint64_t count = 0, nans = 0, infinities = 0;  // finite values, and others
  double min = 0, max = 0, mean = 0;             // of the finite ones, if there are any
};

struct Variable {
  std::string name{}, type{}, shape{};
  std::vector<Values> values{};  // in the order of sets; not of all of them perhaps
};

// A set in which a variable becomes larger by orders of magnitude than it was in all sets before.
struct Leap {
  std::string variable{};
  size_t set = 0;              // in Report::sets
  double before = 0, now = 0;  // the largest magnitude in the sets before, and in this one
};

// How a variable of the newest set was predicted from others.
struct Relation {
  std::string text{}, kind{};  // "x ~ 0.5 y", "values"
  double bits = 0;             // that an element of it takes as it is stored
};

// Files without variables that look alike.
struct PlainFiles {
  std::string format{}, looks{}, example{};  // the name of one of them
  uint64_t files = 0, bytes = 0;
};

struct Report {
  std::string store{}, series{};
  int64_t made_ns = 0;
  std::vector<SetLine> sets{};        // oldest first
  std::vector<Leap> leaps{};          // of all variables, the earliest first
  std::vector<Variable> variables{};  // those that leapt first, then by name
  std::vector<Relation> relations{};
  std::string related_set{};  // of which they are; empty if there is none whose relations could be looked at
  std::string plain_set{};    // if no set has variables, the newest that could be looked into
  std::vector<PlainFiles> plain_files{};  // of it, the most bytes first
  std::vector<std::string> notes{};       // what was left out, and what could not be looked at: sentences
};

}  // namespace forebay::report
