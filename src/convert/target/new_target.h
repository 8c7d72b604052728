// Files and directories that are written beside stores: under a name of their own in the directory that they should lie
// in, until they are complete.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "store/staging.h"

namespace forebay::convert {

// Begins the names of what is not complete; the rest is StagingName's.
inline constexpr std::string_view kPartLabel = ".forebay-part";

// Without commit(), nothing is left of it; what a process that was killed left, the next one that writes into the
// directory removes. Movable.
class NewTarget {
 public:
  // A file that is open for writing, or a directory. exists at once if `path` is taken, unless `overwrite` is given and
  // store::may_replace() allows it: what is there was made by Forebay, as its mark says, or `begins` is not
  // empty and it is a file that begins so, or an empty one. not_found if the directory that it should lie in is not
  // there.
  static Result<NewTarget> file(std::string path, bool overwrite, std::string_view begins = {});
  static Result<NewTarget> directory(std::string path, bool overwrite);

  // A directory that lies beside `path` and never gets a name: commit() must not be called.
  static Result<NewTarget> unnamed_directory(std::string path);

  const std::string& path() const { return path_; }                 // as it will be called
  const std::string& temporary() const { return staging_.path(); }  // as it is called until commit()
  int fd() const { return fd_.get(); }                              // of a file

  // Of a file: what was written so far is brought to the disk from now on, so that commit() has less to wait for.
  void begin_sync() const;

  // Makes a file durable (what is in a directory must be so already), marks it as made by Forebay, gives it its name,
  // and makes that durable. With `overwrite`, what was there is gone if it still may be: a file in one instant, a
  // directory likewise where the file system can exchange two names. exists otherwise. If only the last step fails, the
  // name is there, and the error says so.
  Result<void> commit(bool overwrite);

  // The same for two files in one directory that belong together: both get their names, `second` last, or neither does.
  // Where the file system cannot exchange two names, a file that was replaced does not come back.
  static Result<void> commit_both(const NewTarget& first, const NewTarget& second, bool overwrite);

 private:
  enum class Named : uint8_t { as_new, exchanged, over };  // the old thing: there was none, is at temporary(), is gone
  Result<void> prepare() const;
  Result<Named> give_name(bool overwrite, bool keeps_old) const;
  void take_back(Named named) const;

  NewTarget(std::string path, std::string_view begins, store::StagingName staging, Fd fd)
      : path_(std::move(path)), begins_(begins), staging_(std::move(staging)), fd_(std::move(fd)) {}

  std::string path_, begins_;
  store::StagingName staging_;
  Fd fd_;
};

}  // namespace forebay::convert
