#include "convert/target/array_file.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "store/files.h"

namespace forebay::convert {

Result<void> write_box(int fd, uint64_t offset, const Dataset& dataset, const Piece& piece, const std::string& path) {
  if (piece.values.empty()) return {};
  if (dataset.shape.empty()) return store::write_all(fd, offset, piece.values, path);
  FOREBAY_TRY(const auto layout,
              engine::BoxLayout::make(dataset.shape, dataset.shape, dataset.type.bytes(), piece.box));
  Result<void> done;
  layout.for_each_run(0, layout.stored_bytes(), [&](uint64_t stored, uint64_t target, uint64_t length) {
    if (done) done = store::write_all(fd, offset + stored, piece.values.subspan(target, length), path);
  });
  return done;
}

Result<void> reserve(int fd, uint64_t begin, uint64_t end, const std::string& path) {
  if (begin == end) return {};
  const uint64_t bytes = end - begin;
  const int failed = ::posix_fallocate(fd, static_cast<off_t>(begin), static_cast<off_t>(bytes));
  if (failed == 0 || failed == EOPNOTSUPP || failed == EINVAL) return {};
  return fail_errno(failed, "reserve room for " + std::to_string(bytes) + " bytes in", path);
}

Result<void> make_parents(const NewTarget& target, const std::string& file, std::set<std::string>& made) {
  const size_t root = target.temporary().size();
  made.insert(target.temporary());
  for (size_t slash = root; (slash = file.find('/', slash + 1)) != std::string::npos;) {
    const std::string directory = file.substr(0, slash);
    if (!made.insert(directory).second) continue;
    FOREBAY_CHECK(store::make_directory(directory));
  }
  return {};
}

}  // namespace forebay::convert
