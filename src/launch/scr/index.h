// The index of a prefix, PREFIX/.scr/index.json: what SCR's interface knows of its sets (docs/scr.md). Sealed text,
// replaced by rename. What is in it was complete when it came; whether its bytes are still there is found when it is
// read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace forebay::scr {

enum class SetPlace : uint8_t {
  cache,   // the caches of the job's nodes, and the store if it was flushed
  prefix,  // files under their own names
};

struct IndexEntry {
  std::string name;  // the application's
  int64_t id = 0;    // SCR's number of the set, from 1
  int64_t step = 0;  // the order in which sets were written; no two are equal
  bool is_checkpoint = true, is_output = false;
  bool is_valid = true;  // false: the application could not use it, or it was damaged
  SetPlace place = SetPlace::cache;
  // In the prefix: when its files were durable there, in seconds since 1970. In the cache: when it was complete and due
  // to be stored, which the store alone knows to have happened. 0: never.
  int64_t flushed = 0;
  uint32_t ranks = 0;
  bool operator==(const IndexEntry&) const = default;
};

struct Index {
  std::string current;              // the set to restart from; empty: the newest
  std::vector<IndexEntry> entries;  // oldest first, by step
  // Sets that were deleted, the newest kKeptCached: a node that was away may bring one back.
  struct Deleted {
    std::string name;
    int64_t step = 0;  // this writing, and older ones
    bool operator==(const Deleted&) const = default;
  };
  std::vector<Deleted> deleted;
  bool operator==(const Index&) const = default;

  const IndexEntry* find(std::string_view name) const;
  IndexEntry* find(std::string_view name);
  // In place of one of the same name, which stays the current one if it was. Of sets that were never flushed only the
  // newest kKeptCached are kept.
  void add(IndexEntry entry);
  bool drop(std::string_view name);  // false: there is none
  void remove(std::string_view name);
  bool is_deleted(std::string_view name, int64_t step) const;
  // What the application calls the set: as one of the entries, where one fits, for of long names the set does not tell.
  std::string name_of(std::string_view set) const;
  int64_t newest_step() const { return entries.empty() ? 0 : entries.back().step; }
  int64_t last_step() const;  // that any set had
};
inline constexpr size_t kKeptCached = 64;

std::string print_index(const Index& index);
// corrupt or unsupported as store::unseal().
Result<Index> parse_index(std::string_view text, const std::string& path);

// Empty if the file is not there.
Result<Index> read_index(const std::string& path);
Result<void> write_index(const std::string& path, const Index& index);

// A file of a set in the prefix.
struct PrefixFile {
  std::string name;  // below the prefix
  uint64_t size = 0, crc64 = 0;
  uint32_t rank = 0;
  bool operator==(const PrefixFile&) const = default;
};

// PREFIX/.scr/sets/SET.json: what a set in the prefix is made of.
std::string print_files(const std::vector<PrefixFile>& files);
Result<std::vector<PrefixFile>> parse_files(std::string_view text, const std::string& path);

// SETS/SET.json
std::string files_path(const std::string& sets, const std::string& set);

}  // namespace forebay::scr
