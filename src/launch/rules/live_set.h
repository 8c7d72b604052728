// A set that is begun and not complete: what is known of its files, counted as they change. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "launch/rules/evaluator.h"

namespace forebay::launch::rules {

using SetKey = std::pair<Words, std::string>;  // series and label

// Whether a file or line that has these fields may belong to the set.
bool agrees(const Words& fields, const SetKey& key);

// A kind of member and its rank: what a set has to have again, if the one before had it.
using Part = std::pair<size_t, std::string>;

// What is known of the sets of a series that are complete.
struct SeriesState {
  bool is_first = true;       // none since the code was started
  std::set<Part> needed;      // what the last one had
  uint64_t bytes = 0;         // of the last one; 0: not known
  uint64_t small_bytes = 0;   // of a suspect one after it, with less than half of them
  Time newest = Time::min();  // when something happened to the last one of this start that is complete
};

struct LiveSet {
  struct File {
    uint64_t size = 0;
    Part part;
    bool is_mandatory = false, is_open = false, is_renamed = false, is_last = false;
  };

  uint64_t version = 1;
  std::map<std::string, File> files;
  std::map<Part, size_t> parts;  // of mandatory files, how many each has
  size_t open = 0, not_renamed = 0, closed_last = 0;
  size_t missing = 0;  // of SeriesState::needed
  uint64_t bytes = 0;
  Time last{};  // when something happened to it
  bool is_said = false;
  std::map<std::string, uint64_t> lengths;  // of appended companions that grew after `last`: before
  std::optional<Time> due;
  Time least_due = Time::min();  // for what waits for time

  // Takes the place of what is there of that path.
  void put(const std::string& path, File file, const SeriesState& series);
  void drop(const std::string& path, const SeriesState& series);
  void count_missing(const SeriesState& series);

 private:
  void count(const File& file, bool is_added, const SeriesState& series);
};

// Why a set is not complete, whatever the time.
enum class Lack : uint8_t { none, member, renamed, said, last, open, missing };

// `is_over`: the code has ended, and all files are closed.
Lack lack_of(const Done& done, const LiveSet& set, bool is_over);

// Whether what is unfinished at the end of the code was probably a set, and the newest one. A code that marks its sets
// says itself what is none, once it has marked any.
bool is_loss(const Done& done, const LiveSet& set, const SeriesState& series, Lack lack);

// When a set that lacks nothing is complete.
Time due_of(const Done& done, const LiveSet& set, const SeriesState& series);

// "rank 3 of restart.{rank} is not there again".
std::string lack_text(const Rule& rule, const LiveSet& set, const SeriesState& series, Lack lack);

}  // namespace forebay::launch::rules
