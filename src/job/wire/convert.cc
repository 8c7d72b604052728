#include "job/wire/convert.h"

#include <algorithm>

namespace forebay::job::wire {
namespace {

ErrorKind kind_of(uint8_t number) {
  return number <= static_cast<uint8_t>(ErrorKind::internal) ? static_cast<ErrorKind>(number) : ErrorKind::internal;
}

}  // namespace

RefusedT refusal_of(const Error& error, uint64_t attempt) {
  RefusedT refused;
  refused.error_kind = static_cast<uint8_t>(error.kind);
  refused.message = error.message();
  refused.attempt = attempt;
  return refused;
}

Error error_of(const RefusedT& refused) { return {.kind = kind_of(refused.error_kind), .what = refused.message}; }

void set_error(TaskDoneT& done, const Error& error) {
  done.failed = true;
  done.error_kind = static_cast<uint8_t>(error.kind);
  done.error = error.message();
}

Error error_of(const TaskDoneT& done) { return {.kind = kind_of(done.error_kind), .what = done.error}; }

FileT file_of(const FileRow& row, int64_t rank) {
  FileT file;
  file.name = row.name;
  file.kind = static_cast<uint8_t>(row.kind);
  file.mode = row.mode;
  file.mtime_s = row.mtime_s;
  file.mtime_ns = row.mtime_ns;
  file.size = row.size;
  file.link_target = row.link_target;
  file.rank = static_cast<int32_t>(rank);
  return file;
}

FileRow row_of(const FileT& file) {
  return {.name = file.name,
          .kind = static_cast<FileKind>(file.kind),
          .mode = file.mode,
          .mtime_s = file.mtime_s,
          .mtime_ns = file.mtime_ns,
          .size = file.size,
          .link_target = file.link_target,
          .rank = static_cast<uint32_t>(std::max(file.rank, 0))};
}

}  // namespace forebay::job::wire
