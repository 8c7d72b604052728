#include "mpiio/view.h"

#include <algorithm>

#include "mpiio/pattern_node.h"

namespace forebay::lock::mpiio {

Result<uint64_t> file_offset(const View& view, uint64_t data_offset) {
  uint64_t size = view.filetype.size();
  if (size == 0) return fail(ErrorKind::invalid_argument, "the file view shows no bytes");
  Wide offset = static_cast<Wide>(data_offset / size) * view.filetype.extent() + view.displacement +
                offset_of(view.filetype, data_offset % size);
  if (offset < 0) return fail(ErrorKind::invalid_argument, "the file view begins before the start of the file");
  if (offset >= kFileEnd) return fail(ErrorKind::limit, "a byte would lie beyond the greatest file offset");
  return static_cast<uint64_t>(offset);
}

Result<Region> region_of(const View& view, uint64_t data_begin, uint64_t data_end) {
  const Wide begin = static_cast<Wide>(view.displacement) + view.filetype.first() + data_begin;
  if (view.filetype.dense() && view.filetype.size() != 0 && data_begin < data_end && begin >= 0 && begin < kFileEnd) {
    Region region;
    FOREBAY_CHECK(region.add(static_cast<uint64_t>(begin), data_end - data_begin));
    return region;
  }
  return region_of(view.filetype, view.displacement, data_begin, data_end);
}

uint64_t data_bytes_before(const View& view, uint64_t file_size) {
  const Pattern& filetype = view.filetype;
  if (filetype.size() == 0) return 0;

  // Repetitions that lie before the end altogether. Where the next one has no end of its own (extent 0), none is.
  Wide room = static_cast<Wide>(file_size) - view.displacement - filetype.end();
  uint64_t whole = 0;
  if (room >= 0 && filetype.extent() > 0) whole = static_cast<uint64_t>(room / filetype.extent()) + 1;
  Wide base = static_cast<Wide>(whole) * filetype.extent() + view.displacement;

  // Offsets of a filetype do not decrease (MPI 4.0, section 14.1.1), so that bisection finds the first one beyond.
  uint64_t before = 0, beyond = filetype.size();
  while (before < beyond) {
    uint64_t middle = before + (beyond - before) / 2;
    if (base + offset_of(filetype, middle) < file_size)
      before = middle + 1;
    else
      beyond = middle;
  }
  Wide bytes = static_cast<Wide>(whole) * filetype.size() + before;
  return static_cast<uint64_t>(std::min<Wide>(bytes, INT64_MAX));
}

}  // namespace forebay::lock::mpiio
