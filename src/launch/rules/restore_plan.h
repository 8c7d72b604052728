// What a restart does to a directory before the code runs again (docs/rules.md, "How the code is resumed"): decided
// here, of what lies there and what the store has; done elsewhere. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "launch/rules/evaluator.h"
#include "launch/rules/resume.h"

namespace forebay::launch::rules {

// A regular file or link below the directory.
struct PresentFile {
  std::string path;
  uint64_t size = 0;
  int64_t written_ns = 0;  // wall clock; 0: not known
  bool is_same = false;    // it is what the chosen set has of that path, or of an older one that is given as well
  std::string text{};      // of files that a "point" with += names
};

// A set as the store has it.
struct StoredSet {
  struct Companion {
    std::string path;
    uint64_t length = 0;
    bool is_appended = false;
    bool is_stored = true;  // the store has its content, at least up to `length`
  };
  SetId id;
  std::vector<Verdict::File> members;
  std::vector<Companion> companions{};
  int64_t complete_ns = 0;  // wall clock; 0: not known
};

struct RestoreInput {
  std::string root;                      // the directory: absolute, without a slash at its end
  std::vector<PresentFile> files;        // all below it that are not Forebay's own
  std::vector<std::string> directories;  // likewise
  std::vector<SetId> known;              // sets that were begun, complete or not, the newest last
  std::vector<StoredSet> sets;           // what is given, the chosen one last
};

// In the order in which it is to be done. Paths are relative to the root, and stay below it.
struct RestorePlan {
  std::vector<std::string> aside;  // files, and whole directories, that go where somebody can look at them
  struct Put {
    size_t set = 0;      // index into RestoreInput::sets
    std::string stored;  // as the set has it
    std::string to;
    bool operator==(const Put&) const = default;
  };
  std::vector<Put> put;
  struct Cut {
    std::string path;
    uint64_t length = 0;  // what lies beyond goes aside
    bool operator==(const Cut&) const = default;
  };
  std::vector<Cut> cut;
  struct Link {
    std::string path, target;
    bool operator==(const Link&) const = default;
  };
  std::vector<Link> links;
  struct Text {
    std::string path, text;
    bool operator==(const Text&) const = default;
  };
  std::vector<Text> texts;
  bool operator==(const RestorePlan&) const = default;
};

// invalid_argument if a path would leave the root; not_found if something is neither there nor stored, with what to do;
// what fill() returns.
Result<RestorePlan> plan_restore(const Rule& rule, const Resume& resume, const RestoreInput& input);

// What the command gets at a restart.
struct ResumedCommand {
  std::vector<std::string> command;  // replaces the command; empty: the command stays
  std::vector<std::string> args;     // is appended
  std::map<std::string, std::string> env;
};

// `root`: where the set was put, absolute. {path} is the set's directory or file there, or `root` if it has several of
// them.
Result<ResumedCommand> resumed_command(const Rule& rule, const Resume& resume, const std::string& root,
                                       const StoredSet& set);

}  // namespace forebay::launch::rules
