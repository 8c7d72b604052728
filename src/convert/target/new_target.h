// Files and directories that a conversion writes: under a temporary name beside their own, until they are complete.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"

namespace forebay::convert {

// Without commit(), nothing is left of it. Movable.
class NewTarget {
 public:
  // A file that is open for writing, or a directory. exists at once if `path` is taken, unless `overwrite`; not_found
  // if the directory that it should lie in is not there.
  static Result<NewTarget> file(std::string path, bool overwrite);
  static Result<NewTarget> directory(std::string path, bool overwrite);
  NewTarget(NewTarget&& other) noexcept = default;
  NewTarget& operator=(NewTarget&& other) = delete;
  ~NewTarget();

  const std::string& path() const { return path_; }            // as it will be called
  const std::string& temporary() const { return temporary_; }  // as it is called now
  int fd() const { return fd_.get(); }                         // of a file

  // Of a file: what was written so far is brought to the disk from now on, so that commit() has less to wait for.
  void begin_sync() const;

  // Makes a file durable (what is in a directory must be so already), gives it its name, and makes that durable. With
  // `overwrite`, what was there is gone; of a directory, there is an instant without either. exists otherwise.
  Result<void> commit(bool overwrite);

 private:
  NewTarget(std::string path, std::string temporary, Fd fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}

  std::string path_, temporary_;
  Fd fd_;
};

}  // namespace forebay::convert
