// Where process groups wait in memory until they are packed: a directory that one process at a time owns, whatever
// others of the user do, with one directory for each set. What a process that died has left complete is found again by
// the next one that owns the directory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace forebay::io {

// A set whose process groups are all there, one file for each rank.
struct WaitingSet {
  std::string name;
  uint64_t step = 0;
  std::string directory;
};

// Not thread-safe, but complete() and remove() of different sets may be called at once.
class StagePlace {
 public:
  // Makes a place below `root`, for sets that are to go into `store`, and owns it until it is destroyed. Only the user
  // can look into it. permission if somebody else has a directory in its place; io, no_space.
  static Result<StagePlace> own(const std::string& root, const std::string& store);

  StagePlace(StagePlace&&) = default;
  StagePlace& operator=(StagePlace&&) = default;
  ~StagePlace();  // removes the directory if nothing is left in it, and that of the user if it is the last one there

  const std::string& directory() const { return directory_; }

  // Those that were complete when own() was called, oldest first. Those that were not are removed by then.
  const std::vector<WaitingSet>& left_over() const { return left_over_; }

  // Makes an empty directory for a set, beside one of that name that waits. The ranks' files come into it.
  Result<WaitingSet> begin(const std::string& name, uint64_t step) const;

  // All files of the set are there. Its directory gets the set's name, beside one of that name that waits: under it
  // people look for what could not be stored.
  Result<void> complete(WaitingSet& set) const;

  // Removes a set, complete or not. What cannot be removed stays until own() is called again.
  static void remove(const WaitingSet& set);

 private:
  StagePlace() = default;
  Result<void> adopt();
  Result<void> name_directory(WaitingSet& set) const;
  std::string directory_;
  Fd lock_;
  std::vector<WaitingSet> left_over_;
};

}  // namespace forebay::io
