#include "container/each_part.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "container/record.h"

namespace forebay::container {
namespace {

// Finds the next record at or behind an offset, within a number of bytes that it uses up.
class GapWalk {
 public:
  explicit GapWalk(const ByteSource& source) : source_(source) {}

  // Nothing if there is none.
  Result<std::optional<FoundRecord>> next(uint64_t offset) {
    while (offset < source_.size()) {
      const auto record = find_record(source_, offset, source_.size());
      if (record) return std::optional(*record);
      if (record.error().kind != ErrorKind::corrupt) return std::unexpected(record.error());
      FOREBAY_TRY(const auto marker, find_marker(offset + 1));
      if (!marker) break;
      offset = *marker;
    }
    return std::optional<FoundRecord>();
  }

 private:
  Result<std::optional<uint64_t>> find_marker(uint64_t offset) {
    constexpr uint64_t kBlock = 64 << 10;
    const auto marker = std::as_bytes(std::span(kRecordMarker));
    Bytes block;
    while (offset + marker.size() <= source_.size() && left_ > 0) {
      block.resize(std::min({kBlock, source_.size() - offset, std::max(left_, marker.size())}));
      FOREBAY_CHECK(source_.read_at(offset, block));
      const auto found = std::ranges::search(block, marker);
      const auto passed = static_cast<uint64_t>(found.begin() - block.begin());
      if (!found.empty()) {
        left_ -= std::min(left_, kBlock);  // as much as was read: markers without a record must not cost more than gaps
        return std::optional(offset + passed);
      }
      const uint64_t step = block.size() - marker.size() + 1;
      left_ -= std::min(left_, step);
      offset += step;
    }
    return std::optional<uint64_t>();
  }

  const ByteSource& source_;
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
