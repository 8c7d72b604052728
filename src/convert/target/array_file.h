// Arrays that lie in a file in C order without gaps.
#pragma once

#include <set>
#include <string>

#include "convert/plan/plan.h"
#include "convert/target/new_target.h"

namespace forebay::convert {

// Writes a piece of a dataset that begins at `offset` of the file: a run of bytes at once, where rows of the box follow
// each other in the array. `path` is what messages call the file.
Result<void> write_box(int fd, uint64_t offset, const Dataset& dataset, const Piece& piece, const std::string& path);

// Makes the file, which ends at `begin` or before, so long that it ends at `end`, so that a full disk is found out
// before anything is written, where the file system can tell.
Result<void> reserve(int fd, uint64_t begin, uint64_t end, const std::string& path);

// Makes the directories that lead to a file below a target that is a directory, and notes them, with the target's own,
// in `made`: what has to be synced.
Result<void> make_parents(const NewTarget& target, const std::string& file, std::set<std::string>& made);

}  // namespace forebay::convert
