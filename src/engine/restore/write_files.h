// Files out of open containers into a target: what restore() is made of, and a job's restart.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/catalogue.h"
#include "engine/options.h"
#include "engine/restore/target.h"
#include "engine/set/set.h"
#include "store/store.h"

namespace forebay::engine {

// The part of one container that is written.
struct Selection {
  const OpenContainer* container = nullptr;
  std::vector<bool> wanted;      // per file
  std::vector<uint32_t> frames;  // that hold bytes of wanted files

  bool is_empty() const;  // whether no file is wanted
};

// `container` must outlive the selection.
Selection select(const OpenContainer& container, const std::function<bool(const FileRow&)>& is_wanted);

// Entries of all kinds.
struct WrittenFiles {
  uint64_t files = 0, bytes = 0;
};

// Writes files of one container after the other, and gives all of them their names in the end: after an error before
// that none has one. Every byte is checked before it is written. Not thread-safe.
class FileWriter {
 public:
  // `target`, whose finish() is the caller's, and `resources` must outlive this; of the latter threads and progress
  // count. `total_bytes` is what will be written, for the progress; if it proves to be less than that, it rises.
  FileWriter(Target& target, const Resources& resources, uint64_t total_bytes, std::stop_token stop = {});

  // Writes what is selected of one container, which may be closed then, with `memory_bytes` for its frames. Returns the
  // memory that is kept until the end. Errors: corrupt (naming container and frame or file; there are find_misfits(),
  // too), limit, those of the target and of reading; cancelled soon after `stop` is requested.
  Result<uint64_t> write(const Selection& selection, uint64_t memory_bytes);

  // Gives the files their names, directories and links their places. corrupt, before anything has a name, if two
  // containers have entries that no directory can hold together. To be called once.
  Result<WrittenFiles> name_files();

 private:
  // A file, directory or link that has been written.
  struct Written {
    FileRow row;  // without variables
    std::unique_ptr<TargetFile> file;
    size_t container = 0;  // index into containers_
  };
  using OpenFiles = std::vector<std::unique_ptr<TargetFile>>;  // per file of a container: regular wanted ones

  Result<void> check_stop() const;
  Result<OpenFiles> make_files(const Selection& selection);
  Result<void> fill(const Selection& selection, const OpenFiles& files, uint64_t memory_bytes);
  Result<void> check_entries() const;
  uint64_t keep(const Selection& selection, OpenFiles files);

  Target& target_;
  const Resources& resources_;
  const std::stop_token stop_;
  std::vector<std::string> containers_;  // paths
  std::vector<Written> written_;
  uint64_t done_bytes_ = 0, wanted_bytes_ = 0, total_bytes_;
};

// Opens the container `entry` of `set`, and writes those of its files, directories and links that `ranks` wrote
// (directories, links and files in no series are rank 0's). Nothing happens if there are none. `resources` are
// resolved, and their memory, for buffers alone, also pays for the container's index and those of the parents. Errors
// as of FileWriter, and corrupt if the container is missing, damaged, or not the one that the manifest lists.
Result<WrittenFiles> write_container_files(const store::SetInfo& set, const store::ContainerEntry& entry,
                                           const std::set<uint32_t>& ranks, Target& target, const Resources& resources,
                                           std::stop_token stop = {});

}  // namespace forebay::engine
