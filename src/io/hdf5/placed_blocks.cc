#include "io/hdf5/placed_blocks.h"

#include <new>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "io/hdf5/guarded_file.h"
#include "io/hdf5/rows.h"

namespace forebay::hdf5 {

Outcome<PlacedBlocks> PlacedBlocks::open(std::string path, std::span<const forebay_method_step> steps,
                                         std::span<const uint64_t> places) {
  PlacedBlocks all;
  all.path_ = std::move(path);
  size_t number = 0;
  for (const forebay_method_step& step : steps)
    for (const forebay_method_block& block : std::span(step.blocks, step.block_count))
      if (const uint64_t place = places[number++]; place != kNowhere) all.blocks_.push_back({&block, place});
  if (all.blocks_.empty()) return all;
  all.fd_ = Fd(::open(all.path_.c_str(), O_RDWR | O_CLOEXEC));
  if (!all.fd_) return std::unexpected(system_fault("open", all.path_));
  return all;
}

Outcome<void> PlacedBlocks::keep(uint64_t end) try {
  for (const Placed& placed : blocks_) {
    if (placed.place >= end) continue;
    Kept& kept = kept_.emplace_back(placed, std::string(placed.block->size, '\0'));
    if (!read_rows(fd_.get(), placed.place, *placed.block, kept.bytes.data()))
      return std::unexpected(system_fault("read", path_));
  }
  return {};
} catch (const std::bad_alloc&) {  // other ranks wait for what this one says
  return std::unexpected(Fault{FOREBAY_METHOD_NO_MEMORY, path_ + ": no memory for the values that are replaced"});
}

Outcome<void> PlacedBlocks::write() {
  is_written_ = true;
  for (const Placed& placed : blocks_)
    if (!write_rows(fd_.get(), placed.place, *placed.block)) return std::unexpected(system_fault("write", path_));
  if (fd_ && !close_copy(fd_.get())) return std::unexpected(system_fault("close", path_));
  return {};
}

bool PlacedBlocks::put_back() const {
  bool is_back = true;
  for (const auto& [placed, bytes] : kept_) {
    forebay_method_block old = *placed.block;
    old.bytes = bytes.data();
    if (is_written_ && !write_rows(fd_.get(), placed.place, old)) is_back = false;
  }
  return is_back;
}

}  // namespace forebay::hdf5
