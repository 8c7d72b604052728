// The files of a checkpoint set on disk, and which rank wrote each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/catalogue.h"
#include "base/error.h"

namespace forebay::engine {

struct SourceFile {
  std::string path;  // to open it
  FileRow row;       // name, kind, mode, times, size, link target and rank; no variables yet
};

struct SourceTree {
  std::vector<SourceFile> files;     // by rank, then name
  uint64_t ranks = 0;                // distinct ranks among the regular files; 1 at least
  uint64_t bytes = 0;                // of all regular files
  bool are_numbered = false;         // whether numbers in the names tell the ranks apart
  std::vector<std::string> skipped;  // sockets, devices and FIFOs, each with its path and what it is
};

struct AssignedRanks {
  std::vector<uint32_t> of_name;
  bool are_numbered = false;  // false if no name is in a series
};

// Which of what lies below the roots is taken. The patterns are shell patterns on names as the set will have them; '*'
// also matches '/'. One that matches a directory stands for all that is in it.
struct ScanOptions {
  std::vector<std::string> include;  // if there are any: nothing but what matches one, and the directories on the way
  std::vector<std::string> exclude;  // never what matches one of these
  bool strict = false;               // sockets, devices and FIFOs are an error
};

// The rank of each of `names`, from the names alone. Names that are equal but for one run of digits form a series, and
// that number tells the order of the ranks ("DD0010.cpu0003", "rank7/state.bin"); of several such runs, the last one
// that differs counts. Ranks are numbered from 0 without gaps, in the order of the numbers; names in no series (logs,
// parameter files) belong to rank 0. Without any series each name is a rank of its own, in the order given. Pure.
AssignedRanks assign_ranks(std::span<const std::string> names);

// All files, directories and symbolic links below `roots`. A single root's content gets names relative to it; of
// several roots, names start with the root's last component. A root may also be a single file. Symbolic links are taken
// as links, never followed (a root itself may be one). Sockets, devices and FIFOs have no content that could be stored:
// they are skipped, and told. not_found, permission, io; exists if two files get one name; unsupported for a root that
// is a socket, device or FIFO, and with `strict` for any.
Result<SourceTree> scan_tree(std::span<const std::string> roots, const ScanOptions& options = {});

// A tree as bytes, for the other processes of a pack, and back.
std::string to_text(const SourceTree& tree);
SourceTree tree_from_text(const std::string& text);

// Whether this machine has some of `files` as they were scanned on another one: invalid_argument, naming one that it
// has not.
Result<void> check_shared(std::span<const SourceFile> files);

// The ranks of a rank group where the user does not say: 64, or 64 times the smallest power of two that gives an
// average group enough bytes for a container of its own, which are 8 MiB if numbers tell the ranks apart, and 256 MiB
// if each file counts as a rank for want of them. No more than that makes 16384 files of an average group. Pure.
uint64_t default_group_size(const SourceTree& tree);

// The ranges of `tree.files` that make up each rank group of `group_size` ranks: ceil(ranks / group_size) of them, in
// order, as [first, last) pairs.
struct FileRange {
  size_t first = 0, last = 0;
};
std::vector<FileRange> rank_groups(const SourceTree& tree, uint64_t group_size);

}  // namespace forebay::engine
