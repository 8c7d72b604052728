// Looks at the files of a stage, for the rules of stage.h.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "format/reader.h"
#include "job/stage/stage.h"

namespace forebay::job {

// The names in the stage that sets have, of directories that are there or that something is known about; sorted.
Result<std::vector<std::string>> sets_in(const std::string& stage);

// The largest marker of the application's whose bytes are looked at (StagedFile::marker).
inline constexpr uint64_t kMostMarkerBytes = 1 << 20;

// What judge() is to be given. Files that vanish meanwhile are left out. If a rank of `ranks` has not left its marker,
// nothing is listed but the ranks of the markers. Errors: permission, io; corrupt if a marker is damaged.
Result<Listing> scan_set(const std::string& stage, const std::string& set, const std::set<uint32_t>& ranks,
                         const Completion& completion);

// When the newest of its regular files was modified, in nanoseconds since 1970. Nothing if it has none, or cannot be
// read.
std::optional<int64_t> newest_time(const std::string& stage, const std::string& set);

// Whether there is anything but directories in STAGE/SET, whoever has put it there.
Result<bool> holds_files(const std::string& stage, const std::string& set);

// The last change of an inode among the files of STAGE/NAME, or of it itself if it is a file: nanoseconds since 1970.
Result<int64_t> last_change_of(const std::string& stage, const std::string& name);

// Whether STAGE/NAME is there, and belongs to neither this user nor root.
bool is_anothers(const std::string& stage, const std::string& name);

// Verdict::needs_check: corrupt, naming the file, if a format reader recognises a file and does not accept it; changed
// if the file is not what was listed.
Result<void> check_formats(const std::string& directory, const Listing& listing, const format::FormatOptions& options);

}  // namespace forebay::job
