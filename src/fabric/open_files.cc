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
  const std::lock_guard lock(mutex_);
  const auto begin = places_.lower_bound({exposure, 0});
  auto end = begin;
  for (; end != places_.end() && end->first.first == exposure; ++end) entries_.erase(end->second);
  places_.erase(begin, end);
}

std::shared_ptr<FileSource> OpenFiles::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(key);
  if (found == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void OpenFiles::keep(const Key& key, std::shared_ptr<FileSource> file) {
  const std::lock_guard lock(mutex_);
  if (places_.contains(key)) return;  // another thread was faster
  entries_.emplace_front(key, std::move(file));
  places_.emplace(key, entries_.begin());
  if (entries_.size() <= most_) return;
  places_.erase(entries_.back().first);
  entries_.pop_back();
}

}  // namespace forebay::fabric
