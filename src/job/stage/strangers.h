// What lies in a stage and is none of Forebay's: it was there before the run began, and no note of an earlier run says
// that Forebay has seen it come. It is left alone: not drained, not removed, not replaced (decision 0050).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace forebay::job {

class Strangers {
 public:
  // Of the run `run`: those that an agent of the same run has noted (STAGE/.forebay/found), else what is there now and
  // unknown, which is noted. Unknown is also not what came in the time of a run before this one that has not ended, or
  // in the minute after its agent was there last: its application may have outlived it. A directory without a file in
  // it is nobody's: the application may have made it to fill it. Hidden names and those that are not UTF-8 do not
  // count: no set has such a name.
  static Result<Strangers> find(const std::string& stage, const std::string& run);

  // The agent is still there. To be called now and then.
  void renew() const;

  // Whether STAGE/NAME is one: not if something else has taken its place.
  bool has(const std::string& name) const;
  // Whether one of its files, or it itself if it is a file, was written to since the run began.
  bool was_changed(const std::string& name) const;

  std::vector<std::string> names() const;
  // Whether find() has noted them, so that nobody has named them yet.
  bool are_new() const { return are_new_; }

 private:
  struct Identity {
    uint64_t inode = 0;
    int64_t born_ns = 0;  // 0: the file system does not say
    bool operator==(const Identity&) const = default;
  };
  struct Seen {
    Identity identity;
    int64_t changed_ns = 0;  // wall clock: when it was made, came there, or a name in it changed
  };
  // What an agent has noted.
  struct Note {
    std::string run;
    int64_t since_ns = 0, alive_ns = 0;  // wall clock: when the run began here, and when the agent was last there
    std::map<std::string, Identity, std::less<>> names;
  };
  explicit Strangers(std::string stage) : stage_(std::move(stage)) {}
  static Result<Seen> see(const std::string& path);
  std::string note_path() const;
  std::optional<Note> read_note() const;
  Result<void> look(const std::string& run, const std::optional<Note>& before);
  static bool came_with(const Note& before, const std::string& name, const Seen& seen);

  std::string stage_;
  std::map<std::string, Identity, std::less<>> found_;
  int64_t since_ns_ = 0;
  bool are_new_ = false;
};

// The run is over: what lies in the stage when an agent comes again, and is not known by then, is none of this run's.
void end_run(const std::string& stage);

// The names, or the first of so many, as messages have them: "a, b and 3 more".
std::string listed(const std::vector<std::string>& names, size_t most = 8);

}  // namespace forebay::job
