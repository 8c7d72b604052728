// The files below a directory at one look, and what happened between two looks, as a rule's evaluator wants it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "base/error.h"
#include "launch/rules/evaluator.h"

namespace forebay::launch {

struct TreeFile {
  uint64_t size = 0;
  int64_t mtime_ns = 0;  // wall clock
  uint64_t device = 0, inode = 0;
  bool is_open = false;  // a process of this node has it open for writing
  bool is_link = false;

  // Whether nobody wrote to it in between, as far as size and time show.
  bool is_as(const TreeFile& other) const {
    return size == other.size && mtime_ns == other.mtime_ns && device == other.device && inode == other.inode;
  }
};

// Of what stat() or lstat() says; whether it is open is not known.
TreeFile tree_file_of(const struct stat& info);

// Paths are relative to the directory.
using Tree = std::map<std::string, TreeFile>;

// A file or directory that got another name, in the order in which that happened.
struct Moved {
  std::string from, to;
};

inline constexpr size_t kMostTreeFiles = 4'000'000;

// The regular files and links below `directory` that `wants` says yes to. What is Forebay's own, and the directories
// `leave_out` (as stat() knows them: device and inode), are not looked into. Links are not followed. Whether a file is
// open is looked up only where it is not as it was in `before`, or was open then. Files that vanish meanwhile are left
// out. Errors: permission, io; limit if there are more than kMostTreeFiles.
using FileId = std::pair<uint64_t, uint64_t>;
Result<Tree> look_at_tree(const std::string& directory, const std::set<FileId>& leave_out,
                          const std::function<bool(std::string_view path)>& wants, const Tree& before);

// The end of a text file and where in the file it begins; of a link its target.
struct TextEnd {
  std::string text;
  uint64_t offset = 0;
};
using TextOf = std::function<std::optional<TextEnd>(const std::string& path)>;

// Reports to the evaluator what happened between `before` and `now`, all of it at the time `at`: what grew of
// companions first, then `moves`, files that are gone, what was written, and lines of texts. Pure but for `text_of`,
// which is asked for files that the rule reads.
void report_changes(rules::Evaluator& evaluator, Tree before, const Tree& now, std::span<const Moved> moves,
                    rules::Time at, const TextOf& text_of);

// As TextOf, below `directory`.
std::optional<TextEnd> read_text_end(const std::string& directory, const std::string& path);

}  // namespace forebay::launch
