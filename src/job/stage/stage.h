// When is a checkpoint set complete on its node? (decision 0019, "The stage is the state"; docs/wire.md, "Stage")
// Everything here is pure: stage_scan.h looks at the files.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/catalogue.h"
#include "base/error.h"
#include "job/client/marker.h"
#include "job/wire/messages.h"

namespace forebay::job {

// How the sets of applications that do not call forebay.h are known to be complete. The sets of those that do are, by
// their ranks' markers, whatever is chosen here.
struct Completion {
  enum class Kind : uint8_t {
    api,      // by markers of forebay.h only
    marker,   // by a file of the application's
    rename,   // by being there under a final name
    settled,  // by having been left alone for a while
  };
  Kind kind = Kind::api;
  std::string marker{};                     // marker: relative to the stage, with one "{set}" in it
  uint64_t files = 0;                       // settled: regular files that a set has on this node
  std::chrono::milliseconds quiet{30'000};  // settled: how long no file may have been written to
};

// "api", "marker:PATTERN" with one {set} in the pattern ("marker:{set}/DONE", "marker:{set}.done"), "rename" or
// "settled:FILES[:SECONDS]". invalid_argument, with the rule that is broken, for anything else.
Result<Completion> parse_completion(std::string_view text);

// The set that a change at `path`, relative to the stage, may have completed or spoilt. Nothing: none.
std::optional<std::string> set_of(std::string_view path, const Completion& completion);

// The path of the set's marker, relative to the stage.
std::string marker_of(std::string_view set, const Completion& completion);

// Whether `name`, which lies in the stage itself, is a marker of the application's or a directory of markers, and no
// set.
bool is_of_marker(std::string_view name, const Completion& completion);

using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;

// What is in STAGE/SET.
struct StagedFile {
  FileRow row;                    // `rank` does not count
  FileSource::Identity identity;  // regular files
  uint64_t marker = 0;            // of the application's own marker: hash64 of its bytes; 0: it is none
};
struct Listing {
  std::vector<StagedFile> files;           // by name
  std::string foreign;                     // a socket, device or FIFO among them, or empty
  std::string anothers;                    // one of another user's, who is not root either, or empty
  std::vector<Marker> markers;             // of forebay.h, by rank
  bool is_begun = false;                   // by forebay_begin()
  std::optional<int64_t> step;             // as it was told there
  std::optional<wire::SetPolicyT> policy;  // likewise
  std::optional<WallTime> own_marker;      // Kind::marker: when it was written, if it is there
};

// Of a complete set: what is offered.
struct Content {
  std::optional<int64_t> step;
  uint32_t ranks = 0;  // of the whole job, or 0
  struct File {
    uint32_t listed = 0;  // index into Listing::files
    int64_t rank = -1;    // -1: to be told from the name
  };
  std::vector<File> files;         // regular ones first
  std::vector<uint32_t> complete;  // the ranks whose markers are there
  std::string fingerprint;         // differs when a file was added, removed or written to
  int64_t written_ns = 0;          // wall clock: when one of its regular files was changed last; 0: it has none
};

struct Verdict {
  std::optional<Content> content;  // if the set is complete
  std::string reason;              // if it is not
  std::optional<WallTime> again;   // settled: when to look again although nothing happens
  bool needs_check = false;        // settled: complete if a format reader accepts each file
  bool is_misfit = false;          // settled: it was left alone, and has another number of files than announced
};

// `ranks`: those of this node. A set of forebay.h is complete if each of them has left a marker, if at least one is
// there, and if every file is as its marker says; its content is what the markers list. For other sets,
//   marker   the file is there, and no file of the set is newer than it;
//   rename   there is a file;
//   settled  there are as many regular files as announced, none of them temporary, and all old enough at `now`, or
//            older than `at_rest`: then nobody was writing.
Verdict judge(std::string_view set, const Listing& listing, const std::set<uint32_t>& ranks,
              const Completion& completion, WallTime now, WallTime at_rest = WallTime::min());

}  // namespace forebay::job
