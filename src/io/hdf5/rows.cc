#include "io/hdf5/rows.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <unistd.h>

#include "io/hdf5/plan.h"

namespace forebay::hdf5 {
namespace {

bool write_run(int descriptor, const char* bytes, uint64_t count, uint64_t at) {
  while (count > 0) {
    const ssize_t written = ::pwrite(descriptor, bytes, std::min<uint64_t>(count, 1u << 30), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      if (written == 0) errno = ENOSPC;
      return false;
    }
    bytes += written;
    at += static_cast<uint64_t>(written);
    count -= static_cast<uint64_t>(written);
  }
  return true;
}

}  // namespace

bool write_rows(int descriptor, uint64_t place, const forebay_method_block& block) {
  const auto* bytes = static_cast<const char*>(block.bytes);
  const uint64_t* const whole = block.global_shape ? block.global_shape : block.shape;
  uint32_t inner = block.dimensions;  // dimensions from here on are contiguous in the array
  uint64_t run = element_bytes(block.type), size = run;
  for (uint32_t i = 0; i < block.dimensions; ++i) size *= block.shape[i];
  if (size != block.size) return errno = EINVAL, false;
  if (size == 0) return true;
  while (inner > 0) {
    --inner;
    run *= block.shape[inner];
    if (block.shape[inner] != whole[inner]) break;
  }

  std::vector<uint64_t> index(inner, 0);
  for (uint64_t done = 0; done < size; done += run) {
    uint64_t element = 0;  // that the run begins with, in the whole array
    for (uint32_t i = 0; i < block.dimensions; ++i) {
      const uint64_t offset = block.global_shape ? block.offsets[i] : 0;
      element = element * whole[i] + offset + (i < inner ? index[i] : 0);
    }
    if (!write_run(descriptor, bytes + done, run, place + element * element_bytes(block.type))) return false;
    for (uint32_t i = inner; i > 0 && ++index[i - 1] == block.shape[i - 1]; --i) index[i - 1] = 0;
  }
  return true;
}

}  // namespace forebay::hdf5
