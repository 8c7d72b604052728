// Where a restore writes: files, directories and links strictly beneath one directory, whatever the names of the set
// say and whatever links are or get in the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "store/may_replace.h"

namespace forebay::store {

struct Attributes {
  uint32_t mode = 0644;  // permission bits, 07777
  int64_t mtime_s = 0;
  uint32_t mtime_ns = 0;
};

// The mode bits that lend a file's user or group to whoever runs it: they are worth what the owner is, whom a restore
// does not know. The sticky bit lends nothing, and stays.
inline constexpr uint32_t kSpecialModes = 06000;

// Begins the names of what TargetDir has of its own in its target.
inline constexpr std::string_view kRestoreLabel = ".forebay-restore";

// Whether to make `files` files of `bytes` bytes in all durable by writing back all of the file system, of which
// `dirty_bytes` wait to be written, whoever wrote them: cheaper for many small files, unless others have written a lot.
// Pure.
bool sync_together(uint64_t files, uint64_t bytes, uint64_t dirty_bytes);

class TargetDir;

// A file being restored. It has no name in the target until commit(); if it is destroyed before, nothing of it remains.
class TargetFile {
 public:
  ~TargetFile();
  TargetFile(const TargetFile&) = delete;
  TargetFile& operator=(const TargetFile&) = delete;

  // Writes at [offset, offset + bytes.size()), which must lie inside the file, each byte at most once; what is never
  // written reads as zero. Aligned blocks of 4 KiB of zeros become holes. Thread-safe. no_space names the file.
  Result<void> write_at(uint64_t offset, std::span<const std::byte> bytes);

  // Sets mode and modification time, makes the content durable and gives the file its name. exists if the name is taken
  // and the file was not created with `overwrite`, or by a directory. The name is durable after TargetDir::finish().
  Result<void> commit(const Attributes& attributes);

 private:
  friend class TargetDir;
  struct State;
  explicit TargetFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Names are as is_safe_name() (base/catalogue.h) wants them: invalid_argument otherwise. The directories on the way to
// a name are made as needed. exists, naming the culprit, if anything but a directory is in the way: links are never
// followed, neither those that were there before nor those that the restore made. Thread-safe; the files may outlive
// it.
//
// Files are written in a directory of their own, TARGET/.forebay-restore.*, whose lock this process holds; what a
// killed restore left there is removed when the target is opened again. However many files are being written, no more
// than 512 of them, and a quarter of the process's limit, are held open.
class TargetDir {
 public:
  // Opens the directory at `path`, made if it is not there (its parent must be). exists if it is a store, or lies in
  // one. Unless `special_modes`, nothing in it
  // gets a bit of kSpecialModes, whatever its attributes say.
  static Result<TargetDir> open(const std::string& path, bool special_modes = false);

  // Whether nothing is in the way of a file, a directory or a link of that name; makes nothing. exists if something is:
  // with `overwrite`, what store::may_replace() does not let go of for a name that somebody asked for.
  Result<void> check(const std::string& name, Thing becomes, bool overwrite) const;

  // Begins a file of `size` bytes, all zero. Makes nothing in the target before the file gets its name. Errors as of
  // check(), at once.
  Result<std::unique_ptr<TargetFile>> create_file(const std::string& name, uint64_t size, bool overwrite);

  // Makes a directory, or takes the one that is there; finish() gives it its attributes.
  Result<void> make_directory(const std::string& name, const Attributes& attributes);

  // Makes a symbolic link; only the time of `attributes` counts. exists as for files.
  Result<void> make_symlink(const std::string& name, const std::string& target, const Attributes& attributes,
                            bool overwrite);

  // A file that has all its bytes, and what it gets with its name.
  struct Finished {
    TargetFile* file = nullptr;
    Attributes attributes;
  };

  // TargetFile::commit() of many files, all of this target, in two steps: no file gets its name before all of them are
  // durable. After an error some may have their names if, and only if, it came up while names were given. Many small
  // files are made durable by one syncfs() where that is sure and cheap (sync_together()), else one by one, many at
  // once.
  Result<void> commit(std::span<const Finished> files);

  // When all files are committed: gives directories their modes and times, deepest first, and makes all names durable.
  Result<void> finish();

 private:
  friend class TargetFile;
  struct Shared;
  explicit TargetDir(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;
};

}  // namespace forebay::store
