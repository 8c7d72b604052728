// A whole file's bytes: opened, walked, every frame read, and recovered. Then once more with its checksums put right,
// since no fuzzer finds a hash.
#include <memory>

#include "base/checksum.h"
#include "container/container.h"
#include "container/format.h"

using namespace forebay;
using namespace forebay::container;

namespace {

void use(std::span<const std::byte> bytes) {
  constexpr uint64_t kLimit = 16 << 20;
  constexpr uint32_t kSomeFrames = 1000;
  constexpr uint32_t kSomeKeys = 20;
  if (const auto reader = Reader::open(std::make_unique<MemorySource>(bytes), kLimit)) {
    (void)(*reader)->verify_structure();
    for (uint32_t key = 0; key < (*reader)->index().catalogue.keys.size() && key < kSomeKeys; ++key)
      (void)(*reader)->read_cubes(key, kLimit);
    for (uint32_t number = 0; number < (*reader)->index().frames.size() && number < kSomeFrames; ++number)
      (void)(*reader)->read(number);
  }
  const auto sizes = [](const Catalogue& catalogue, const PlanSpec&) -> Result<std::vector<uint64_t>> {
    return std::vector<uint64_t>(catalogue.files.size(), 1000);
  };
  const auto no_loss = [](std::span<const std::byte>) { return std::nullopt; };
  const MemorySource source(bytes);
  const auto read_frames = [&](const RecoveredPart& part) {
    for (uint32_t number = 0; number < part.index.frames.size() && number < kSomeFrames; ++number)
      (void)read_frame(source, part.index, number);
    return Result<uint64_t>(0);
  };
  const RecoveryRules rules{kLimit, sizes, no_loss};
  if (const auto recovered = recover(source, rules)) (void)read_frames(recovered->part);
  if (bytes.size() > kFileHeaderBytes + 16)
    (void)recover_parts(source, load_le<uint64_t>(bytes.data() + kFileHeaderBytes + 8), kFileHeaderBytes, rules,
                        read_frames);
}

uint64_t seal(std::span<std::byte> bytes) {
  const auto body = bytes.first(bytes.size() - 8);
  const uint64_t hash = hash64(body);
  store_le(body.data() + body.size(), hash);
  return hash;
}

// Makes the record at `at` pass its checksums. Its end, or 0 if it does not fit.
size_t seal_record(std::span<std::byte> bytes, size_t at) {
  if (at > bytes.size() || bytes.size() - at < kRecordHeaderBytes) return 0;
  const auto header = bytes.subspan(at, kRecordHeaderBytes);
  const auto meta = load_le<uint32_t>(header.data() + 20);
  const auto payload = load_le<uint64_t>(header.data() + 24);
  const size_t room = bytes.size() - at - kRecordHeaderBytes;
  if (meta > room || payload > room - meta) return 0;
  store_le(header.data() + 32, hash64(bytes.subspan(at + kRecordHeaderBytes, meta)));
  store_le(header.data() + 40, hash64(bytes.subspan(at + kRecordHeaderBytes + meta, payload)));
  seal(header);
  return at + kRecordHeaderBytes + meta + payload;
}

void seal_all(std::span<std::byte> bytes) {
  if (bytes.size() < kFileHeaderBytes + kTrailerBytes) return;
  for (size_t at = kFileHeaderBytes; at != 0;) at = seal_record(bytes, at);
  const auto trailer = bytes.last(kTrailerBytes);
  const auto index = load_le<uint64_t>(trailer.data() + 16);
  if (const size_t end = seal_record(bytes, index); end != 0)
    store_le(trailer.data() + 32, load_le<uint64_t>(bytes.data() + index + kRecordHeaderBytes - 8));
  store_le<uint64_t>(trailer.data() + 40, bytes.size());
  seal(trailer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  use(bytes);
  Bytes sealed(bytes.begin(), bytes.end());
  seal_all(sealed);
  use(sealed);
  return 0;
}
