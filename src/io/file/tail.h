// The end of a file that grows: its trailers, and the lists of process groups that they lead to (docs/format.md, "A
// file that grows").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/error.h"
#include "container/format.h"
#include "io/file/listing.h"

namespace forebay::io {

using container::RecordPlace;

inline constexpr uint32_t kListMetaBytes = 64;

// The meta of a list of process groups.
struct ListMeta {
  uint64_t number = 1;  // of lists that the file got, this one included
  uint64_t covers = 1;  // how many of them this one stands for
  uint64_t steps = 0;   // one more than the last step
  uint32_t last_time_index = 0;
  RecordPlace previous;  // the list before those that this one stands for; the one with number - covers
};

std::array<std::byte, kListMetaBytes> encode(const ListMeta& meta);

// A list as found in a file.
struct FoundList {
  RecordPlace place;
  ListMeta meta;
};

// A step takes this many bytes of its file at least: those of the list that made it visible, without what this lists,
// and of the trailer behind.
inline constexpr uint64_t kLeastStepBytes = container::kRecordHeaderBytes + kListMetaBytes + container::kTrailerBytes;

// corrupt if there is no list of `container_id` at `place`, or one that cannot be: also if it counts more steps than
// there is room for in front of it.
Result<FoundList> find_list(const ByteSource& source, const RecordPlace& place, uint64_t container_id);

// Reads what a list says. limit beyond `max_bytes`; corrupt.
Result<Listing> read_list(const ByteSource& source, const FoundList& list, uint64_t max_bytes);

// The first part: its id and where it ends. corrupt if there is none.
struct FirstPart {
  uint64_t container_id = 0;
  uint64_t end = 0;  // here lie the copies of trailers
};
Result<FirstPart> find_first_part(const ByteSource& source);

// The bytes of a new file, up to where parts may lie. `random` tells its id from those of all others.
struct Beginning {
  Bytes bytes;
  FirstPart part;
};
Result<Beginning> make_beginning(std::span<const std::byte, 16> random);

// Behind the first part: copies of the two last trailers, that of list n at kTrailerBytes * (n % 2).
inline constexpr uint64_t kCopiesBytes = 2 * container::kTrailerBytes;
inline constexpr std::array<uint64_t, 2> kCopySlots = {0, container::kTrailerBytes};

// A copy that speaks of a step behind the last one that was found.
struct TrailerCopy {
  uint64_t offset = 0;
  uint64_t file_bytes = 0;  // where that step ended
};
std::vector<TrailerCopy> copies_behind(const ByteSource& source, const FirstPart& first, uint64_t end);

// The last trailer of a file that grows: the last bytes, or one of which there is a copy, or the last one that is found
// searching backwards, through kSearchedBytes at most. It is whole, or the list that its copy names is. corrupt if
// there is none; unsupported if the container is not one that grows.
inline constexpr uint64_t kSearchedBytes = uint64_t{1} << 30;
Result<container::Trailer> find_trailer(const ByteSource& source);

// The same, but for steps whose list is damaged.
Result<container::Trailer> find_trailer_of_whole_list(const ByteSource& source);

}  // namespace forebay::io
