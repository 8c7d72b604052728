// A whole file of process groups: opened, listed, every process group and block read. Then once more with its checksums
// put right, since no fuzzer finds a hash; and as a listing, without a file around it.
#include <algorithm>
#include <memory>

#include "base/checksum.h"
#include "container/format.h"
#include "io/file/description.h"
#include "io/file/file_reader.h"
#include "io/file/tail.h"

using namespace forebay;
using namespace forebay::io;
using namespace forebay::container;

namespace {

constexpr uint64_t kLimit = 16 << 20;

void use(std::span<const std::byte> bytes) {
  constexpr size_t kSomeParts = 20, kSomeBlocks = 100;
  const auto open_other = [](const std::string& name) -> Result<std::shared_ptr<const ByteSource>> {
    return fail(ErrorKind::not_found, "there are no other files", name);
  };
  const auto reader = FileReader::open(std::make_shared<MemorySource>(bytes), open_other, kLimit);
  if (!reader) return;
  Bytes values;
  for (size_t i = 0; i < (*reader)->listing().parts.size() && i < kSomeParts; ++i) {
    const auto part = (*reader)->open_part(i);
    if (!part) continue;
    for (size_t block = 0; block < part->group().blocks.size() && block < kSomeBlocks; ++block) {
      (void)part->stored_bytes(block);
      values.resize(std::min<uint64_t>(part->bytes(block), 4096));
      (void)part->read(block, 0, values);
    }
  }
}

uint64_t seal(std::span<std::byte> bytes) {
  const uint64_t hash = hash64(bytes.first(bytes.size() - 8));
  store_le(bytes.data() + bytes.size() - 8, hash);
  return hash;
}

// Makes all records and the trailer pass their checksums, and the trailer name the last list.
void seal_all(std::span<std::byte> bytes) {
  uint64_t last_offset = 0, last_bytes = 0, last_hash = 0, id = 0;
  for (size_t at = kFileHeaderBytes; at + kRecordHeaderBytes <= bytes.size();) {
    const auto marker = std::as_bytes(std::span(kRecordMarker));
    const auto found = std::ranges::search(bytes.subspan(at), marker);
    if (found.empty()) break;
    at = static_cast<size_t>(found.begin() - bytes.begin());
    if (bytes.size() - at < kRecordHeaderBytes) break;
    const auto header = bytes.subspan(at, kRecordHeaderBytes);
    const auto meta = load_le<uint32_t>(header.data() + 20);
    const auto payload = load_le<uint64_t>(header.data() + 24);
    const size_t room = bytes.size() - at - kRecordHeaderBytes;
    if (meta > room || payload > room - meta) {
      at += 8;
      continue;
    }
    const auto body = bytes.subspan(at + kRecordHeaderBytes + meta, payload);
    const auto type = load_le<uint16_t>(header.data() + 16);
    if (type == static_cast<uint16_t>(RecordType::head)) id = hash64(body);
    if (type == static_cast<uint16_t>(RecordType::head)) store_le(header.data() + 8, id);
    store_le(header.data() + 32, hash64(bytes.subspan(at + kRecordHeaderBytes, meta)));
    store_le(header.data() + 40, hash64(body));
    const uint64_t hash = seal(header);
    if (type == static_cast<uint16_t>(RecordType::groups)) {
      last_offset = at;
      last_bytes = kRecordHeaderBytes + meta + payload;
      last_hash = hash;
    }
    at += kRecordHeaderBytes + meta + payload;
  }
  if (bytes.size() < kTrailerBytes) return;
  const auto trailer = bytes.last(kTrailerBytes);
  store_le(trailer.data() + 16, last_offset);
  store_le(trailer.data() + 24, last_bytes);
  store_le(trailer.data() + 32, last_hash);
  store_le<uint64_t>(trailer.data() + 40, bytes.size());
  seal(trailer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto given = std::as_bytes(std::span(data, size));
  use(given);
  Bytes sealed(given.begin(), given.end());
  seal_all(sealed);
  use(sealed);
  const Bytes aligned(given.begin() + static_cast<ptrdiff_t>(std::min<size_t>(1, size)), given.end());
  if (size > 0 && data[0] == 'L') {
    if (const auto listing = decode_listing(aligned, kLimit)) {
      Listing twice = *listing;
      twice.merge(*listing);
      if (!twice.validate() || !encode(twice)) std::abort();
    }
  }
  if (size > 0 && data[0] == 'D') (void)decode_description(aligned, kLimit);
  return 0;
}
