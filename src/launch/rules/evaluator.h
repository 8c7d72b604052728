// Which sets are complete, from what happens to files: a pure state machine (docs/rules.md, "When a set is complete").
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launch/rules/rule.h"
#include "launch/rules/set_id.h"

namespace forebay::launch::rules {

// Since whatever the caller counts from.
using Time = std::chrono::nanoseconds;

struct Verdict {
  enum class State : uint8_t {
    complete,
    suspect,     // stored and marked, and not the first choice of a restart
    unfinished,  // nothing to store
  };
  struct File {
    std::string path;
    uint64_t size = 0;
    std::string rank;  // {rank}; empty where the item has none
  };
  struct Companion {
    std::string path;
    uint64_t length = 0;       // when the last member was written
    bool is_appended = false;  // stored is its length, to which it is cut back; else its content
  };
  SetId id;
  State state = State::complete;
  Time at{};                          // when it was so
  std::string reason;                 // of suspect and unfinished
  bool is_loss = false;               // unfinished: it was probably a set, and the newest one (decision 0058)
  std::vector<File> members;          // by path
  std::vector<Companion> companions;  // likewise
};

const char* to_string(Verdict::State state);

// A set that is begun and not complete, and why.
struct Waiting {
  SetId id;
  size_t files = 0;
  Time since{};  // when something happened to it last
  std::string reason;
};

// Paths are relative to the stage. Times never go back; an event at a time first completes what was due before. Events
// of files that the rule does not match may be left out, except for the file of "says", and for files that are open
// while they get their names. Not thread-safe. What it keeps grows with the files of sets that are not complete, the
// companions and the labels.
class Evaluator {
 public:
  explicit Evaluator(Rule rule);
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;
  ~Evaluator();

  const Rule& rule() const;

  // A file that lies there before the code runs: no member until it is written again.
  void there(std::string_view path, uint64_t size);

  // A version that a store has: the next one of that label has a larger number.
  void known(const SetId& id);

  // Created, opened for writing or written to; it counts as open until closed().
  void written(std::string_view path, uint64_t size, Time at);
  void closed(std::string_view path, uint64_t size, Time at);
  // By one call of the system: a file, or all files below a directory. What had the name `to` is gone.
  struct Move {
    std::string from, to;
    uint64_t size = 0;
  };
  void renamed(std::span<const Move> moves, Time at);
  void removed(std::string_view path, Time at);

  // Whether the rule wants to know the text of this file when it was written to, or where a link there leads.
  bool wants_text(std::string_view path) const;
  // `text` is what the file has from byte `offset` on: its end at least, and kMostText bytes at most. What was there
  // already, as far as the file has only grown, names no set for a second time.
  static constexpr size_t kMostText = 1 << 20;
  void text(std::string_view path, std::string_view text, uint64_t offset, Time at);

  void passed(Time at);  // time has: whatever is due is complete

  // A process of the code ended, perhaps by a kill, which closes its files; whether the code was killed is not known
  // yet. What waits for nothing but time now waits until then at least.
  void doubted(Time until);

  // The code ended: its files are closed. What it left by itself is complete if nothing but time is missing. After a
  // kill, that is suspect, since nobody knows whether it was written to its end. All that is begun is then forgotten,
  // and the next set of each series counts as its first.
  void ended(Time at);
  void killed(Time at);

  // In the order of completion.
  std::vector<Verdict> take_verdicts();

  // When to call passed(), if nothing happens before.
  std::optional<Time> again() const;

  std::vector<Waiting> waiting() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace forebay::launch::rules
