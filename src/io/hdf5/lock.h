// Keeps other programs from writing a file that one writes, by whatever method, and lets the HDF5 library in, which
// locks files by itself.
#pragma once

#include <string>
#include <utility>

#include "base/fd.h"
#include "io/hdf5/file.h"

namespace forebay::hdf5 {

// Held as long as it lives. Movable.
class FileLock {
 public:
  // Of a file that others may read meanwhile, with the library, which locks what it reads. Nothing if there is none,
  // or where it cannot be opened for writing. FILE_OPEN if another program is writing it, or if it is a directory.
  static Outcome<FileLock> of_file(const std::string& path);

  // Of a new file, which nobody reads; removes what a writer that died left there. FILE_OPEN if it cannot be made, too.
  static Outcome<FileLock> of_new_file(const std::string& path);

  FileLock() = default;
  explicit operator bool() const { return static_cast<bool>(file_); }

  // From now on keeps out readers as well that lock the file, as programs with the HDF5 library do. FILE_OPEN if there
  // is such a reader, or if another program has begun to write the file or has put another one in its place.
  Outcome<void> keep_readers_out();

  // Open for reading and writing, as long as this lives.
  int fd() const { return file_.get(); }

  // Whether the file still has its name.
  bool is_named() const;

 private:
  FileLock(Fd file, std::string path, int sort) : file_(std::move(file)), path_(std::move(path)), sort_(sort) {}
  Outcome<void> take();

  Fd file_;
  std::string path_;
  int sort_ = 0;  // of flock()
};

}  // namespace forebay::hdf5
