#include "scr/prefix_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/catalogue.h"
#include "base/checksum.h"
#include "base/fd.h"
#include "store/files.h"
#include "store/may_replace.h"

namespace forebay::scr {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = 4u << 20;

// Calls take(offset, bytes) for all bytes from `begin` to `end` of a file.
template <class Take>
Result<void> each_buffer(const FileSource& source, uint64_t begin, uint64_t end, const Take& take) {
  Bytes buffer(std::min<uint64_t>(kBufferBytes, end - begin));
  for (uint64_t at = begin; at < end; at += buffer.size()) {
    const auto part = std::span(buffer).first(std::min<uint64_t>(buffer.size(), end - at));
    FOREBAY_CHECK(source.read_at(at, part));
    FOREBAY_CHECK(take(at, std::span<const std::byte>(part)));
  }
  return {};
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Whether the file is still the one of the set, and not another one that somebody has put in its place since. Large
// ones are not read for that.
bool is_as_it_was(const std::string& prefix, const PrefixFile& file) {
  constexpr uint64_t kMostRead = uint64_t{64} << 20;
  struct stat info{};
  if (::lstat((prefix + "/" + file.name).c_str(), &info) != 0) return false;
  if (!S_ISREG(info.st_mode) || static_cast<uint64_t>(info.st_size) != file.size) return false;
  return file.size > kMostRead || check_file(prefix, file);
}

// The names of prefix/name and of the directories above it, below the prefix.
Result<void> sync_names(const std::string& prefix, const std::string& name) {
  for (std::string path = parent_of(prefix + "/" + name);; path = parent_of(path)) {
    FOREBAY_CHECK(store::sync_directory(path));
    if (path.size() <= prefix.size()) return {};
  }
}

}  // namespace

Result<std::string> name_below(const std::string& prefix, const std::string& name) {
  std::error_code fault;
  const fs::path whole = fs::weakly_canonical(fs::absolute(fs::path(name), fault), fault);
  if (fault) return fail_errno(fault.value(), "realpath", name);
  std::string path = whole.string();
  const std::string start = prefix == "/" ? prefix : prefix + "/";
  const bool is_below = path.starts_with(start) && is_safe_name(path.substr(start.size()));
  const bool is_own = is_below && (path.substr(start.size()) + "/").starts_with(".scr/");
  if (is_below && !is_own) return path.substr(start.size());
  return fail(ErrorKind::invalid_argument,
              fmt::format("'{}' {} the prefix {}", name, is_own ? "is what SCR keeps for itself below" : "is not below",
                          prefix),
              {}, {}, "SCR_PREFIX names the directory that all files of sets are below");
}

Result<void> make_directories_of(const std::string& prefix, const std::string& name) {
  std::string path = prefix;
  for (size_t from = 0, slash = name.find('/'); slash != std::string::npos;
       from = slash + 1, slash = name.find('/', from)) {
    path += "/" + name.substr(from, slash - from);
    if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) return fail_errno(errno, "mkdir", path);
  }
  return {};
}

Result<PrefixFile> make_durable(const std::string& prefix, const std::string& name, uint32_t rank) {
  const std::string path = prefix + "/" + name;
  FOREBAY_TRY(const auto source, FileSource::open(path));
  FOREBAY_CHECK(store::sync_file(source->fd(), path));
  FOREBAY_CHECK(sync_names(prefix, name));
  return PrefixFile{.name = name, .size = source->size(), .rank = rank};
}

Result<PrefixFile> read_piece(const std::string& prefix, const Piece& piece) {
  const std::string path = prefix + "/" + piece.file.name;
  FOREBAY_TRY(const auto source, FileSource::open(path));
  if (source->size() != piece.file.size)
    return fail(ErrorKind::corrupt,
                fmt::format("has {} bytes, and had {} when it was complete", source->size(), piece.file.size), path);
  FileCrc crc(source->size());
  FOREBAY_CHECK(each_buffer(*source, piece.offset, piece.offset + piece.bytes,
                            [&](uint64_t at, std::span<const std::byte> bytes) -> Result<void> {
                              crc.add(at, bytes);
                              return {};
                            }));
  PrefixFile file = piece.file;
  file.crc64 = crc.value();
  return file;
}

Result<PrefixFile> copy_file(const std::string& from, const std::string& prefix, const std::string& name,
                             uint32_t rank) {
  const std::string path = prefix + "/" + name, temporary = path + ".scr-tmp";
  FOREBAY_CHECK(make_directories_of(prefix, name));
  FOREBAY_TRY(const auto source, FileSource::open(from));
  const auto copy = [&]() -> Result<PrefixFile> {
    FOREBAY_TRY(const Fd fd,
                store::open_at(AT_FDCWD, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, temporary, 0666));
    FileCrc crc(source->size());
    FOREBAY_CHECK(each_buffer(*source, 0, source->size(), [&](uint64_t at, std::span<const std::byte> bytes) {
      crc.add(at, bytes);
      return store::write_all(fd.get(), at, bytes, temporary);
    }));
    FOREBAY_CHECK(store::sync_file(fd.get(), temporary));
    const PrefixFile file{name, source->size(), crc.value(), rank};
    PrefixFile written = file;
    written.name = name + ".scr-tmp";
    FOREBAY_CHECK(check_file(prefix, written));
    FOREBAY_CHECK(store::may_replace(path, {.becomes = store::Thing::file, .right = store::Right::named}));
    if (std::rename(temporary.c_str(), path.c_str()) != 0) return fail_errno(errno, "rename", path);
    FOREBAY_CHECK(sync_names(prefix, name));
    return file;
  };
  auto copied = copy();
  if (!copied) ::unlink(temporary.c_str());
  return copied;
}

Result<void> check_file(const std::string& prefix, const PrefixFile& file) {
  FOREBAY_TRY(const PrefixFile read, read_piece(prefix, {.file = file, .bytes = file.size}));
  return check_same(prefix, read, file);
}

Result<void> check_same(const std::string& prefix, const PrefixFile& read, const PrefixFile& written) {
  if (read.crc64 == written.crc64) return {};
  return fail(ErrorKind::corrupt, "its bytes are not those that were written", prefix + "/" + read.name);
}

Result<void> remove_file(const std::string& prefix, const PrefixFile& file) {
  std::string path = prefix + "/" + file.name;
  if (!is_as_it_was(prefix, file)) return {};
  FOREBAY_CHECK(store::may_replace(path, {.right = store::Right::own}));
  if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) return fail_errno(errno, "unlink", path);
  for (path = parent_of(path); path.size() > prefix.size() && ::rmdir(path.c_str()) == 0; path = parent_of(path)) {
  }
  return {};
}

}  // namespace forebay::scr
