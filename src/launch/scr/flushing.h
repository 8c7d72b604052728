// PREFIX/.scr/sets/SET.WRITE.flushing/: what is known of a set on its way to the prefix beside the program
// (docs/scr.md, "Sets on their way"). It has the set's entry, and the list of each rank's files once they are durable
// and were read back, so that the index learns of the set when it is whole, also where no rank lives to say so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "launch/scr/index.h"
#include "launch/scr/places.h"

namespace forebay::scr {

// `write`: a token (store::random_token()).
std::string flushing_path(const std::string& sets, std::string_view set, std::string_view write);

// Makes the directory, with the set's entry: one process, before all others.
Result<void> begin_flushing(const std::string& path, const IndexEntry& entry);

// The rank's files are in the prefix, durable. An error if the directory is gone: nobody waits for them then.
Result<void> note_flushed(const std::string& path, uint32_t rank, const std::vector<PrefixFile>& files);

// The files of the ranks 0 to `ranks` - 1.
struct FlushedFiles {
  uint32_t ranks = 0;
  std::vector<PrefixFile> files;
};
// Adds those of the next ranks, up to the first one that has not noted its files. corrupt if a list is damaged.
Result<void> read_flushed(const std::string& path, FlushedFiles& so_far);

// Removes the directory, unless something is in it that is not Forebay's. Fine if it is not there.
void end_flushing(const std::string& path);

// Writes what the set is made of, then the index, with the entry as one of the prefix. An error leaves `index` changed.
Result<void> list_in_index(const Places& places, IndexEntry entry, const std::vector<PrefixFile>& files, Index& index);

// For the one process that knows that no rank of the prefix's program lives: lists each set that is whole, unless the
// index does not have it any more, and removes all directories of sets on their way.
Result<void> adopt_flushed(const Places& places, Index& index);

}  // namespace forebay::scr
