#include "container/each_part.h"

#include <unordered_map>
#include <vector>

#include "container/record.h"

namespace forebay::container {

Result<void> for_each_part(const ByteSource& source, uint64_t max_index_bytes, uint64_t max_records,
                           const OnPart& on_part) {
  std::unordered_map<uint64_t, uint64_t> payloads;  // of the part's frames, by the offsets of their records
  uint64_t offset = kFileHeaderBytes;
  for (uint64_t records = 0; records < max_records && offset < source.size(); ++records) {
    const auto record = find_record(source, offset, source.size());
    if (!record && record.error().kind == ErrorKind::corrupt) return {};
    if (!record) return std::unexpected(record.error());
    if (record->header.type == RecordType::frame) payloads[offset] = record->payload_offset();
    if (record->header.type == RecordType::index) {
      FOREBAY_TRY(const Index index, read_index(source, *record, max_index_bytes));
      std::vector<uint64_t> of_frames;
      for (const FrameEntry& frame : index.frames) {
        const auto found = payloads.find(frame.record_offset);
        of_frames.push_back(found == payloads.end() ? 0 : found->second);
      }
      FOREBAY_CHECK(on_part(index, of_frames));
      payloads.clear();
    }
    offset = record->end();
  }
  return {};
}

}  // namespace forebay::container
