// Cache levels: directories on other media than the stage's, in which sets may lie (decision 0046, docs/wire.md,
// "Levels"). A level belongs to one stage. STAGE/SET is then a symbolic link to LEVEL/SET.TOKEN, and the note that the
// set was begun says so: a link that no note tells of is not the agent's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace forebay::job {

struct LevelOptions {
  std::string directory;  // made if it is not there, for its owner alone; its parent must be there
  uint64_t every = 0;     // every so manieth set lies there; 0: those alone that ask for it
  unsigned keep = 1;      // of the durable and cached sets on it, the newest ones that stay
  uint64_t capacity = 0;  // bytes of sets that it may hold; 0: no limit
};

// Pure: where the `number`-th set that is begun lies, from 1 on, if it does not say so: on the level with the largest
// `every` that divides the number. Empty: in the stage.
std::string level_of_set(std::span<const LevelOptions> levels, uint64_t number);

// A level that is this stage's as long as this lives, and as long as no other agent serves the stage.
class Level {
 public:
  // Makes it, if it is not there. invalid_argument if `directory` is no absolute path; permission if it is not this
  // user's alone; exists if it belongs to another stage, or an agent that still runs.
  static Result<Level> take(const std::string& directory, const std::string& stage);

  const std::string& directory() const { return directory_; }

  // Removes what was let go (release_place()).
  Result<void> empty_bin() const;

  // What lies there, by name, and is none of `places`: of a stage that is gone, for all that is known.
  Result<std::vector<std::string>> strangers(std::span<const std::string> places) const;

 private:
  Level(std::string directory, Fd lock) : directory_(std::move(directory)), lock_(std::move(lock)) {}
  std::string directory_;
  Fd lock_;
};

// A new directory for a set on the level: "LEVEL/SET.TOKEN".
Result<std::string> make_place(const std::string& level, const std::string& set);

// The level of a place.
std::string level_of(std::string_view place);

// Where the files of STAGE/SET lie, if that is a link of the agent's, whether its target is there or not.
std::optional<std::string> place_of(const std::string& stage, const std::string& set);

// Takes the files of such a set out of sight; its link stays. Likewise where the link is gone, and the note is there: a
// program may remove what it takes for its directory. Nothing to do for others.
Result<void> release_place(const std::string& stage, const std::string& set);
// Of a place that is known.
Result<void> release_place(const std::string& place);

// Where STAGE/SET is a link that leads nowhere, or not to where the set was begun: takes it away with markers and note.
// A level in memory is empty after a power cut.
Result<void> discard_lost(const std::string& stage, const std::string& set);

// `directory` as levels are told from each other: without links before its last component, and slashes behind it.
std::string level_name(const std::string& directory);

}  // namespace forebay::job
