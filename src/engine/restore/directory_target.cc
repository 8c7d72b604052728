#include "engine/restore/directory_target.h"

namespace forebay::engine {
namespace {

store::Attributes attributes_of(const FileRow& file) { return {file.mode, file.mtime_s, file.mtime_ns}; }

class DirectoryFile final : public TargetFile {
 public:
  DirectoryFile(std::unique_ptr<store::TargetFile> file, const store::Attributes& attributes)
      : file_(std::move(file)), attributes_(attributes) {}

  Result<void> write_at(uint64_t offset, std::span<const std::byte> bytes) override {
    return file_->write_at(offset, bytes);
  }
  Result<void> commit() override { return file_->commit(attributes_); }
  store::TargetDir::Finished finished() const { return {file_.get(), attributes_}; }

 private:
  const std::unique_ptr<store::TargetFile> file_;
  const store::Attributes attributes_;
};

}  // namespace

Result<DirectoryTarget> DirectoryTarget::open(const std::string& path, bool overwrite, bool special_modes) {
  FOREBAY_TRY(auto directory, store::TargetDir::open(path, special_modes));
  return DirectoryTarget(std::move(directory), overwrite);
}

Result<void> DirectoryTarget::check(const FileRow& file) {
  const auto becomes = file.kind == FileKind::regular     ? store::Thing::file
                       : file.kind == FileKind::directory ? store::Thing::directory
                                                          : store::Thing::link;
  return directory_.check(file.name, becomes, overwrite_);
}

Result<std::unique_ptr<TargetFile>> DirectoryTarget::create_file(const FileRow& file) {
  FOREBAY_TRY(auto created, directory_.create_file(file.name, file.size, overwrite_));
  return std::make_unique<DirectoryFile>(std::move(created), attributes_of(file));
}

Result<void> DirectoryTarget::make_directory(const FileRow& directory) {
  return directory_.make_directory(directory.name, attributes_of(directory));
}

Result<void> DirectoryTarget::make_symlink(const FileRow& link) {
  return directory_.make_symlink(link.name, link.link_target, attributes_of(link), overwrite_);
}

Result<void> DirectoryTarget::commit(std::span<TargetFile* const> files) {
  std::vector<store::TargetDir::Finished> finished;
  for (TargetFile* file : files) finished.push_back(static_cast<const DirectoryFile*>(file)->finished());
  return directory_.commit(finished);
}

Result<void> DirectoryTarget::finish() { return directory_.finish(); }

}  // namespace forebay::engine
