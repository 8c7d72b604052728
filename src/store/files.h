// System calls on files and directories, with results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/error.h"
#include "base/fd.h"

namespace forebay::store {

// So many operations on different files are asked of a file system at a time, where one after another would add up its
// answer times.
inline constexpr size_t kCallsAtOnce = 16;

// openat(), with O_CLOEXEC. `path` is what messages call it.
Result<Fd> open_at(int directory, const std::string& name, int flags, const std::string& path, unsigned mode = 0);

// Writes all of `bytes` at `offset`.
Result<void> write_all(int fd, uint64_t offset, std::span<const std::byte> bytes, const std::string& path);

// Makes a directory, unless there is one. exists, with `hint`, if a file is in the way, at `path` or above it;
// not_found if the directory that it should lie in is not there.
Result<void> make_directory(const std::string& path, const std::string& hint = {});

// Makes what is in the file or directory durable. Directories of file systems that cannot are taken as durable.
Result<void> sync_file(int fd, const std::string& path);
Result<void> sync_directory(const std::string& path);

// Makes the name of the directory `path` durable in its parent, as far as the parent may be read.
Result<void> sync_parent(const std::string& path);

// sync_directory() of what `path` lies in, which has just got its name. An error says that the name is there, though it
// may not survive a power cut.
Result<void> sync_given_name(const std::string& path);

// Makes or replaces directory/name with `text`, so that after a crash there is the old file, the new one or none. The
// name is durable after sync_directory(directory).
Result<void> write_text(const std::string& directory, const std::string& name, std::string_view text);

// The same in a directory that nobody reads yet: a crash may leave a part of it.
Result<void> write_unseen_text(const std::string& directory, const std::string& name, std::string_view text);

// Whether certainly no directory is at `path`, links followed: something else, nothing, or a link that leads nowhere.
bool is_no_directory(const std::string& path);

// Opens a file that a store should have. corrupt if what is there is no regular file, or a link that leads in a circle.
Result<std::unique_ptr<FileSource>> open_stored(const std::string& path);

// The content of a regular file. limit if it is larger than `most`; otherwise as open_stored().
Result<std::string> read_text(const std::string& path, uint64_t most);
Result<std::string> read_text(const ByteSource& source, uint64_t most);

// rename() that never replaces: exists if `to` is there. Where the file system offers neither that nor hard links, a
// file that appears at `to` in the same instant is replaced, as is an empty directory by a directory. The names are
// relative to the directory descriptors as in renameat().
Result<void> rename_new(int from_directory, const std::string& from, int to_directory, const std::string& to,
                        const std::string& path);

// renameat(). exists if `to` is a directory and `from` is not.
Result<void> rename_over(int from_directory, const std::string& from, int to_directory, const std::string& to,
                         const std::string& path);

// Gives two things in one file system each other's names, in one instant. unsupported where the file system cannot.
Result<void> exchange_names(const std::string& one, const std::string& other);

// The names in a directory except "." and "..", in no order.
Result<std::vector<std::string>> names_in(const std::string& path);

// Removes a file or a directory with all that is in it. Follows no link. Fine if it is not there.
Result<void> remove_tree(int directory, const std::string& name, const std::string& path);

// 16 hexadecimal digits that no other call in any process returned.
std::string random_token();

}  // namespace forebay::store
