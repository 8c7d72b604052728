// What a rule would take for sets in a directory that nobody watches, and what it would leave alone. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "launch/rules/restore_plan.h"
#include "launch/rules/rule.h"
#include "launch/rules/set_id.h"

namespace forebay::launch {

struct Look {
  struct Set {
    rules::SetId id;
    uint64_t files = 0, bytes = 0;
    int64_t last_ns = 0;
    std::vector<rules::Verdict::File> members{};  // by path
    std::string doubt;                            // why it may not be complete; empty: nothing speaks against it
  };
  struct Companion {
    std::string path;
    uint64_t size = 0;
    bool is_appended = false;
  };
  // Files, or directories with all that is below them (with a slash at the end).
  struct Left {
    std::string path;
    uint64_t files = 0, bytes = 0;
  };
  std::vector<Set> sets;           // the oldest first
  std::vector<std::string> notes;  // what is doubtful about the order
  std::vector<Companion> companions;
  std::vector<Left> left;
};

// By what a rule's evaluator asks of a set, as far as names, sizes and times show it: what was renamed does not count,
// and nothing is open. `files`: by path. The text of those that the rule's "says" means is PresentFile::text.
Look look(const rules::Rule& rule, std::span<const rules::PresentFile> files, int64_t now_ns);

}  // namespace forebay::launch
