#include "io/hdf5/damaged.h"

#include <mutex>
#include <set>

namespace forebay::hdf5 {
namespace {

struct DamagedFiles {
  std::mutex mutex;
  std::set<std::string> paths;
};

DamagedFiles& damaged_files() {
  static DamagedFiles all;
  return all;
}

}  // namespace

void note_damage(const std::string& path) {
  const std::lock_guard lock(damaged_files().mutex);
  damaged_files().paths.insert(path);
}

void forget_damage(const std::string& path) {
  const std::lock_guard lock(damaged_files().mutex);
  damaged_files().paths.erase(path);
}

bool is_damaged(const std::string& path) {
  const std::lock_guard lock(damaged_files().mutex);
  return damaged_files().paths.contains(path);
}

}  // namespace forebay::hdf5
