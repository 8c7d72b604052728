// Work in progress that dies with its owner, in STORE/staging (docs/store.md) or a restore's target.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "store/files.h"

namespace forebay::store {

// A name in the directory `staging` that this process owns: it holds the lock on NAME.lock as long as this object
// lives. The destructor removes NAME, if it is there, and then NAME.lock.
class StagingName {
 public:
  // Takes a new name that starts with `label`. NAME itself is not there yet.
  static Result<StagingName> take(const std::string& staging, std::string_view label);
  StagingName(StagingName&&) = default;
  StagingName& operator=(StagingName&&) = delete;
  ~StagingName();

  const std::string& path() const { return path_; }  // `staging`/NAME

  // From now on remove_taken_names() leaves it to the next cleaner, which looks at what is there.
  void leave_to_cleaner() const;

 private:
  StagingName(std::string path, Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  Fd lock_;
};

// Removes what lies under the names that this process has taken, but for those that are left to a cleaner. For a
// process that ends at once, whose other threads may still be at work: they can take and release no name any more.
void remove_taken_names();

// Removes what dead owners left under `staging` in names that start with `label` and a dot; with any label if it is
// empty. Leaves alone what it may not or cannot remove: the next one may. `look` is given the path of each name first,
// while its lock is held: it may move away what is there, and says whether the rest is to be removed.
using LookBeforeRemoval = std::function<bool(const std::string& path)>;
void clean_staging(const std::string& staging, std::string_view label = {}, const LookBeforeRemoval& look = {});

// Pure parts, for tests.
enum class LockState : uint8_t { held, free, unknown };  // unknown: no lock file, or a file system without locks
inline constexpr int64_t kForeignAgeSeconds = 24 * 60 * 60;
bool may_clean(LockState lock, bool is_same_host, int64_t age_seconds);
std::string host_token(std::string_view host_name);  // at most 24 letters, digits and '-'
// The parts of a name that StagingName::take() makes, LABEL.HOST.PID.RANDOM, where only the label may have dots.
struct StagingParts {
  std::string_view label, host;
};
std::optional<StagingParts> parse_staging_name(std::string_view name);

}  // namespace forebay::store
