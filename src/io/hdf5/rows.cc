#include "io/hdf5/rows.h"

#include <cerrno>
#include <span>
#include <vector>

#include "io/hdf5/guarded_file.h"
#include "io/hdf5/plan.h"

namespace forebay::hdf5 {
namespace {

// Calls run(offset in the block, bytes, offset in the file) until one is false, which is returned.
template <class Run>
bool each_run(uint64_t place, const forebay_method_block& block, Run run) {
  const uint64_t* const whole = block.global_shape ? block.global_shape : block.shape;
  uint32_t inner = block.dimensions;  // dimensions from here on are contiguous in the array
  uint64_t length = element_bytes(block.type), size = length;
  for (uint32_t i = 0; i < block.dimensions; ++i) size *= block.shape[i];
  if (size != block.size) return errno = EINVAL, false;
  if (size == 0) return true;
  while (inner > 0) {
    --inner;
    length *= block.shape[inner];
    if (block.shape[inner] != whole[inner]) break;
  }

  std::vector<uint64_t> index(inner, 0);
  for (uint64_t done = 0; done < size; done += length) {
    uint64_t element = 0;  // that the run begins with, in the whole array
    for (uint32_t i = 0; i < block.dimensions; ++i) {
      const uint64_t offset = block.global_shape ? block.offsets[i] : 0;
      element = element * whole[i] + offset + (i < inner ? index[i] : 0);
    }
    if (!run(done, length, place + element * element_bytes(block.type))) return false;
    for (uint32_t i = inner; i > 0 && ++index[i - 1] == block.shape[i - 1]; --i) index[i - 1] = 0;
  }
  return true;
}

}  // namespace

bool write_rows(int descriptor, uint64_t place, const forebay_method_block& block) {
  const auto* bytes = static_cast<const std::byte*>(block.bytes);
  return each_run(place, block, [&](uint64_t at, uint64_t length, uint64_t offset) {
    return write_fully(descriptor, {bytes + at, length}, offset);
  });
}

bool read_rows(int descriptor, uint64_t place, const forebay_method_block& block, char* bytes) {
  return each_run(place, block, [&](uint64_t at, uint64_t length, uint64_t offset) {
    return read_padded(descriptor, std::as_writable_bytes(std::span(bytes + at, length)), offset);
  });
}

}  // namespace forebay::hdf5
