// Files below the prefix: their names, and how they come there so that what is named is durable and whole.
#pragma once

#include <string>

#include "base/error.h"
#include "launch/scr/index.h"
#include "scr/pieces.h"

namespace forebay::scr {

// The name below `prefix` of the file that a program calls `name`: an absolute path, or one relative to the working
// directory; of what is there already links are followed. invalid_argument if it does not lie below the prefix, or in
// its .scr.
Result<std::string> name_below(const std::string& prefix, const std::string& name);

// The directories of prefix/name.
Result<void> make_directories_of(const std::string& prefix, const std::string& name);

// Makes what is at prefix/name durable. Its checksum is not known yet.
Result<PrefixFile> make_durable(const std::string& prefix, const std::string& name, uint32_t rank);

// The file, with the checksum of the piece (FileCrc::value(), for joined()). corrupt if the file has another size.
Result<PrefixFile> read_piece(const std::string& prefix, const Piece& piece);

// Copies the file `from` to prefix/name: under a temporary name first, synced, read back and compared. A file that is
// there is replaced.
Result<PrefixFile> copy_file(const std::string& from, const std::string& prefix, const std::string& name,
                             uint32_t rank);

// corrupt unless the file is there with this size and checksum.
Result<void> check_file(const std::string& prefix, const PrefixFile& file);
// The same of one that was read.
Result<void> check_same(const std::string& prefix, const PrefixFile& read, const PrefixFile& written);

// Removes the file, and directories that are empty then, unless another one is in its place: of other size, or up to
// 64 MiB with other bytes. Fine if it is not there.
Result<void> remove_file(const std::string& prefix, const PrefixFile& file);

}  // namespace forebay::scr
