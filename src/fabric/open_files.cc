#include "fabric/open_files.h"

namespace forebay::fabric {

static std::unexpected<Error> changed(const char* what, const std::string& path) {
  return fail(ErrorKind::changed, what, path);
}

Result<std::shared_ptr<FileSource>> OpenFiles::open(uint64_t exposure, uint32_t number, const ExposedFile& file) {
  const Key key{exposure, number};
  std::shared_ptr<FileSource> source = find(key);
  if (!source) {
    auto opened = FileSource::open(file.path);
    if (!opened && opened.error().kind == ErrorKind::not_found)
      return changed("the file has vanished since it was offered", file.path);
    if (!opened) return std::unexpected(std::move(opened).error());
    source = std::move(*opened);
    keep(key, source);
  } else {
    FOREBAY_CHECK(source->check_unchanged());
  }
  if (source->identity() != file.identity) return changed("the file has changed since it was offered", file.path);
  return source;
}

void OpenFiles::forget(uint64_t exposure) {
  std::vector<std::shared_ptr<FileSource>> closed;  // after the lock is given back
  const std::lock_guard lock(mutex_);
  closed = open_.take_range({exposure, 0}, {exposure, UINT32_MAX});
}

std::shared_ptr<FileSource> OpenFiles::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto* const known = open_.find(key);
  return known == nullptr ? nullptr : *known;
}

void OpenFiles::keep(const Key& key, std::shared_ptr<FileSource> file) {
  std::vector<std::shared_ptr<FileSource>> closed;  // after the lock is given back
  const std::lock_guard lock(mutex_);
  open_.add(key, std::move(file));
  closed = open_.trim(most_);
}

}  // namespace forebay::fabric
