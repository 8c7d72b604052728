// The kernel's side of a mount: FUSE 3.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "base/error.h"
#include "mount/mounted_store.h"

namespace forebay::mount {

// A mounted store. Not thread-safe, but for what serve() calls.
class FileSystem {
 public:
  // Mounts on the directory `path`, which must be there. `allow_other`: users but the one who mounts may look in.
  // unsupported if this build or this machine has no FUSE, permission if it may not be used; exists if the directory is
  // not empty, or a mount already; not_found, io.
  static Result<std::unique_ptr<FileSystem>> mount(std::unique_ptr<MountedStore> store, const std::string& path,
                                                   bool allow_other);
  ~FileSystem();  // unmounts
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  // Answers the kernel, in several threads, until the directory is unmounted or `stop` is requested.
  Result<void> serve(const std::stop_token& stop);

 private:
  struct State;
  explicit FileSystem(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace forebay::mount
