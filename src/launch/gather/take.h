// Copies a set that a rule found complete into a stage, where it is a directory like any other set.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "launch/gather/tree.h"
#include "launch/rules/evaluator.h"

namespace forebay::launch {

// The set's files, copied to STAGE/NAME at their paths relative to `directory`, and its note (set_note.h); the
// directory appears by one rename, when all is there. The name is that of rules::name_of(); one that is taken gets a
// number. Returns the name. changed: a file was written to meanwhile, or is not what it was when it was judged: has
// another size than the verdict says, or is not as in `seen`, if it is there.
// unsupported: a path is no UTF-8. Otherwise as copy_file(). Nothing is left in the stage where it fails.
Result<std::string> take_set(const std::string& directory, const std::string& stage, const rules::Rule& rule,
                             const rules::Verdict& verdict, const Tree& seen, const std::string& otherwise_named,
                             int64_t complete_ns);

}  // namespace forebay::launch
