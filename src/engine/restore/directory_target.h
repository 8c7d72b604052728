// A restore into a directory of this machine.
#pragma once

#include <string>
#include <utility>

#include "engine/restore/target.h"
#include "store/safe_tree.h"

namespace forebay::engine {

// A store::TargetDir, with its guarantees: nothing outside of it is touched, whatever names and links say.
class DirectoryTarget final : public Target {
 public:
  // Opens the directory at `path`, made if it is not there (its parent must be). `overwrite`: files and links replace
  // those of their name. `special_modes`: files and directories keep bits of store::kSpecialModes.
  static Result<DirectoryTarget> open(const std::string& path, bool overwrite, bool special_modes = false);

  Result<void> check(const FileRow& file) override;
  Result<std::unique_ptr<TargetFile>> create_file(const FileRow& file) override;
  Result<void> make_directory(const FileRow& directory) override;
  Result<void> make_symlink(const FileRow& link) override;
  Result<void> commit(std::span<TargetFile* const> files) override;  // no name before all files are durable
  Result<void> finish() override;

 private:
  DirectoryTarget(store::TargetDir directory, bool overwrite)
      : directory_(std::move(directory)), overwrite_(overwrite) {}

  store::TargetDir directory_;
  bool overwrite_;
};

}  // namespace forebay::engine
