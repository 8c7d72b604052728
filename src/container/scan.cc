#include "container/scan.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace forebay::container {

namespace {

constexpr size_t kMaxRemarks = 100;
constexpr size_t kWindow = 256 << 10;

// Looking for a record inside another one's damaged payload reads bytes twice. A file made of overlapping claims could
// make that quadratic: beyond this many times the file's size, damaged records are skipped whole.
constexpr uint64_t kMaxRereads = 4;

class Scanner {
 public:
  Scanner(const ByteSource& source, Remarks& remarks)
      : source_(source), remarks_(remarks), rereads_left_(kMaxRereads * source.size()) {}

  std::vector<FoundRecord> run() {
    uint64_t expected = kFileHeaderBytes;
    while (const auto offset = next_marker(expected)) {
      const uint64_t end = take(*offset);
      if (end == 0) {
        expected = *offset + 1;
        continue;
      }
      report_gap(*offset);
      expected = accounted_ = end;
    }
    return std::move(records_);
  }

 private:
  // The end of the record at `offset`, which is kept if whole; 0 if there is none.
  uint64_t take(uint64_t offset) {
    const auto record = find_record(source_, offset, source_.size());
    if (!record) return 0;
    const uint64_t bytes = record->header.record_bytes();
    auto checked = check(*record);
    if (checked) {
      records_.push_back(*record);
      return record->end();
    }
    remarks_.add(checked.error());
    if (bytes > rereads_left_) return record->end();
    rereads_left_ -= bytes;
    accounted_ = std::max(accounted_, record->end());
    return 0;
  }

  Result<void> check(const FoundRecord& record) const {
    FOREBAY_CHECK(read_meta(source_, record));
    return check_payload(source_, record);
  }

  // The first marker at or after `offset`.
  std::optional<uint64_t> next_marker(uint64_t offset) {
    const auto marker = std::as_bytes(std::span(kRecordMarker));
    while (offset < source_.size() && source_.size() - offset >= kRecordHeaderBytes) {
      if (offset < window_offset_ || offset + marker.size() > window_offset_ + window_.size()) load(offset);
      const auto from = window_.begin() + static_cast<ptrdiff_t>(offset - window_offset_);
      const auto found = std::search(from, window_.end(), marker.begin(), marker.end());
      if (found != window_.end()) return window_offset_ + static_cast<uint64_t>(found - window_.begin());
      const uint64_t end = window_offset_ + window_.size();
      offset = end == source_.size() ? end : std::max(offset + 1, end - marker.size() + 1);
    }
    return std::nullopt;
  }

  void load(uint64_t offset) {
    window_.resize(std::min<uint64_t>(kWindow, source_.size() - offset));
    window_offset_ = offset;
    if (const auto read = source_.read_at(offset, window_); !read) {
      remarks_.add(read.error());
      std::ranges::fill(window_, std::byte{0});
    }
  }

  void report_gap(uint64_t offset) {
    if (offset > accounted_)
      remarks_.add(fmt::format("at byte {}: {} bytes belong to no record", accounted_, offset - accounted_));
  }

  const ByteSource& source_;
  Remarks& remarks_;
  uint64_t rereads_left_;
  uint64_t accounted_ = kFileHeaderBytes;  // the end of what a record, whole or damaged, claims
  std::vector<FoundRecord> records_;
  Bytes window_;
  uint64_t window_offset_ = 0;
};

}  // namespace

void Remarks::add(std::string text) {
  if (texts_.size() < kMaxRemarks)
    texts_.push_back(std::move(text));
  else
    ++dropped_;
}

void Remarks::add(const Error& error) { add(Error{error.kind, error.what, {}, error.offset, {}}.message()); }

std::vector<std::string> Remarks::take() {
  if (dropped_ > 0) texts_.push_back(fmt::format("and {} more", dropped_));
  return std::move(texts_);
}

std::vector<FoundRecord> scan_records(const ByteSource& source, Remarks& remarks) {
  return Scanner(source, remarks).run();
}

}  // namespace forebay::container
