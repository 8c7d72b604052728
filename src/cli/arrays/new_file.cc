#include "cli/arrays/new_file.h"

#include "store/files.h"

namespace forebay::cli {

Result<NewFile> NewFile::create(std::string path, bool overwrite, std::string_view begins) {
  FOREBAY_TRY(auto target, convert::NewTarget::file(std::move(path), overwrite, begins));
  return NewFile(std::move(target), overwrite);
}

Result<void> NewFile::write(std::span<const std::byte> bytes) {
  FOREBAY_CHECK(store::write_all(target_.fd(), size_, bytes, target_.path()));
  size_ += bytes.size();
  return {};
}

}  // namespace forebay::cli
