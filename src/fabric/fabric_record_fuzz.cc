// Any bytes as a stream of encrypted records, and as what becomes of a genuine one on the way.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fabric/records.h"

using namespace forebay;
using namespace forebay::fabric;

namespace {

constexpr RecordKey kKey{};

// What a reader makes of the stream, in pieces.
Bytes read_all(std::span<const std::byte> stream, size_t step) {
  RecordReader reader(kKey);
  Bytes got;
  while (!stream.empty()) {
    const auto room = reader.room();
    const size_t size = std::min({step, stream.size(), room.size()});
    std::copy_n(stream.begin(), size, room.begin());
    reader.commit(size);
    stream = stream.subspan(size);
    for (;;) {
      const auto pending = reader.pending();
      if (!pending) return got;
      if (!*pending) break;
      if (**pending > kMaxRecordContent) std::abort();
      Bytes record(**pending);
      if (!reader.take(record)) return got;
      got.insert(got.end(), record.begin(), record.end());
    }
  }
  return got;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 6) return 0;
  const size_t step = 1 + data[0];
  const auto bytes = std::as_bytes(std::span(data + 6, size - 6));
  (void)read_all(bytes, step);

  // One byte of a genuine stream is changed, if data[1] is not 0: what comes out is a beginning of what went in.
  Bytes stream;
  RecordWriter writer(kKey);
  const size_t half = bytes.size() / 2;
  writer.write(bytes.first(half), stream);
  writer.write(bytes.subspan(half), stream);
  uint32_t at = 0;
  std::memcpy(&at, data + 2, sizeof at);
  if (stream.empty()) return 0;
  stream[at % stream.size()] ^= std::byte{data[1]};
  const Bytes got = read_all(stream, step);
  if (data[1] == 0 && got.size() != bytes.size()) std::abort();
  if (got.size() > bytes.size() || !std::ranges::equal(got, bytes.first(got.size()))) std::abort();
  if (data[1] != 0 && !bytes.empty() && got.size() == bytes.size()) std::abort();
  return 0;
}
