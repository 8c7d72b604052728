#include "container/each_part.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "container/record.h"
#include "container/scan.h"

namespace forebay::container {
namespace {

// Finds the next record at or behind an offset, within a number of bytes that it uses up.
class GapWalk {
 public:
  explicit GapWalk(const ByteSource& source)
      : source_(source), search_(source, [](const Error& error) { return std::unexpected(error); }) {}

  // Nothing if there is none.
  Result<std::optional<FoundRecord>> next(uint64_t offset) {
    while (offset < source_.size()) {
      const auto record = find_record(source_, offset, source_.size());
      if (record) return std::optional(*record);
      if (record.error().kind != ErrorKind::corrupt) return std::unexpected(record.error());
      FOREBAY_TRY(const auto marker, search_.next(offset + 1, std::min(source_.size(), offset + 1 + left_)));
      if (!marker) break;
      left_ -= std::min(left_, std::max(*marker - offset, kLeastCost));
      offset = *marker;
    }
    return std::optional<FoundRecord>();
  }

 private:
  // Markers without a record must not cost more than gaps.
  static constexpr uint64_t kLeastCost = 64 << 10;

  const ByteSource& source_;
  MarkerSearch search_;
  uint64_t left_ = 256 << 20;
};

}  // namespace

Result<void> for_each_part(const ByteSource& source, uint64_t max_index_bytes, uint64_t max_records,
                           const OnPart& on_part) {
  std::unordered_map<uint64_t, uint64_t> payloads;  // of the part's frames, by the offsets of their records
  GapWalk walk(source);
  uint64_t offset = kFileHeaderBytes;
  for (uint64_t records = 0; records < max_records; ++records) {
    FOREBAY_TRY(const auto record, walk.next(offset));
    if (!record) break;
    if (record->header.type == RecordType::frame) payloads[record->offset] = record->payload_offset();
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
