#include "job/delivery/delivery.h"

#include <fmt/format.h>

namespace forebay::job {

static constexpr size_t kWriteHeader = 12;

void append_write(Bytes& to, const WriteFrame& write) {
  const size_t begin = fabric::begin_frame(to, kWrite);
  const size_t at = to.size();
  to.resize(at + kWriteHeader);
  store_le(to.data() + at, write.file);
  store_le(to.data() + at + sizeof write.file, write.offset);
  to.insert(to.end(), write.bytes.begin(), write.bytes.end());
  fabric::end_frame(to, begin);
}

Result<WriteFrame> parse_write(std::span<const std::byte> body) {
  if (body.size() <= kWriteHeader || body.size() > kMaxWriteBytes)
    return fail(ErrorKind::corrupt, fmt::format("a write of {} bytes", body.size()));
  WriteFrame write;
  write.file = load_le<uint32_t>(body.data());
  write.offset = load_le<uint64_t>(body.data() + sizeof write.file);
  write.bytes = body.subspan(kWriteHeader);
  return write;
}

}  // namespace forebay::job
