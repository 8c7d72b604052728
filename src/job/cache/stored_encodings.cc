#include "job/cache/stored_encodings.h"

#include <cerrno>
#include <charconv>
#include <climits>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/client/stage_names.h"
#include "job/stage/stage_notes.h"
#include "store/files.h"

namespace forebay::job {
namespace {

constexpr const char* kRecord = "record";
constexpr const char* kSealed = "sealed";
constexpr mode_t kOwner = 0700;

std::string name_of(const EncodingKey& key) { return fmt::format("{:016x}-{}-{}", key.id, key.group, key.position); }

std::optional<EncodingKey> key_of(const std::string& name) {
  EncodingKey key;
  const char* end = name.data() + name.size();
  const auto id = std::from_chars(name.data(), end, key.id, 16);
  if (id.ec != std::errc() || id.ptr == end) return std::nullopt;
  const auto group = std::from_chars(id.ptr + 1, end, key.group);
  if (group.ec != std::errc() || group.ptr == end) return std::nullopt;
  const auto position = std::from_chars(group.ptr + 1, end, key.position);
  if (position.ec != std::errc() || name != name_of(key)) return std::nullopt;
  return key;
}

Result<void> make_own(const std::string& path) {
  if (::mkdir(path.c_str(), kOwner) == 0 || errno == EEXIST) return {};
  return fail_errno(errno, "mkdir", path);
}

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace

std::string StoredEncodings::root() const { return fmt::format("{}/{}/cache", stage_, kOwnDirectory); }

std::string StoredEncodings::directory(const EncodingKey& key) const {
  return fmt::format("{}/{}", root(), name_of(key));
}

Result<std::vector<EncodingKey>> StoredEncodings::list() const {
  auto names = store::names_in(root());
  if (!names && names.error().kind == ErrorKind::not_found) return std::vector<EncodingKey>();
  if (!names) return std::unexpected(names.error());
  std::vector<EncodingKey> keys;
  for (const std::string& name : *names) {
    const auto key = key_of(name);
    const std::string path = root() + "/" + name;
    if (key && is_there(path + "/" + kRecord))
      keys.push_back(*key);
    else
      FOREBAY_CHECK(key ? discard(*key) : put_into_bin(stage_, path));
  }
  return keys;
}

Result<Fd> StoredEncodings::create(const EncodingKey& key, uint64_t parity_bytes, const std::string& level) const {
  FOREBAY_CHECK(make_own(root()));
  FOREBAY_CHECK(discard(key));
  const std::string path = directory(key);
  FOREBAY_CHECK(make_own(path));
  std::string parity = parity_path(key);
  if (!level.empty()) {
    const std::string there = fmt::format("{}/{}.parity", level, name_of(key));
    ::unlink(there.c_str());
    if (::symlink(there.c_str(), parity.c_str()) != 0) return fail_errno(errno, "symlink", parity);
    parity = there;
  }
  FOREBAY_TRY(Fd file, store::open_at(AT_FDCWD, parity, O_RDWR | O_CREAT | O_EXCL, parity, 0600));
  if (::ftruncate(file.get(), static_cast<off_t>(parity_bytes)) != 0) return fail_errno(errno, "truncate", parity);
  return file;
}

Result<void> StoredEncodings::put_record(const EncodingKey& key, const redundancy::Record& record, bool sync) const {
  const std::string path = directory(key);
  if (sync) {
    FOREBAY_TRY(const Fd parity, store::open_at(AT_FDCWD, parity_path(key), O_RDWR, parity_path(key)));
    FOREBAY_CHECK(store::sync_file(parity.get(), parity_path(key)));
    FOREBAY_CHECK(store::sync_directory(root()));
  }
  FOREBAY_CHECK(store::write_text(path, kRecord, redundancy::encode_record(record)));
  return sync ? store::sync_directory(path) : Result<void>();
}

Result<redundancy::Record> StoredEncodings::read_record(const EncodingKey& key) const {
  const std::string path = directory(key) + "/" + kRecord;
  FOREBAY_TRY(const std::string text, store::read_text(path, redundancy::kMaxRecordBytes));
  FOREBAY_TRY(redundancy::Record record, redundancy::decode_record(text, path));
  if (record.id != key.id || record.group != key.group || record.position != key.position)
    return fail(ErrorKind::corrupt, "is the record of another encoding", path);
  return record;
}

Result<void> StoredEncodings::seal(const EncodingKey& key, bool sync) const {
  const std::string path = directory(key);
  if (!is_there(path + "/" + kRecord)) return fail(ErrorKind::not_found, "there is no record to be sealed", path);
  FOREBAY_CHECK(store::write_text(path, kSealed, "sealed\n"));
  return sync ? store::sync_directory(path) : Result<void>();
}

bool StoredEncodings::is_sealed(const EncodingKey& key) const { return is_there(directory(key) + "/" + kSealed); }

Result<void> StoredEncodings::discard(const EncodingKey& key) const {
  char target[PATH_MAX];
  if (const ssize_t size = ::readlink(parity_path(key).c_str(), target, sizeof target); size > 0)
    ::unlink(std::string(target, static_cast<size_t>(size)).c_str());
  return put_into_bin(stage_, directory(key));
}

}  // namespace forebay::job
