#include "container/scan.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace forebay::container {

namespace {

constexpr size_t kMaxRemarks = 100;
constexpr size_t kWindow = 64 << 10;

// Looking for a record inside another one's damaged payload reads bytes twice. A file made of overlapping claims could
// make that quadratic: beyond this many times the file's size, damaged records are skipped whole.
constexpr uint64_t kMaxRereads = 4;

class Scanner {
 public:
  Scanner(const ByteSource& source, uint64_t begin, uint64_t max_records, Remarks& remarks)
      : source_(source),
        max_records_(max_records),
        remarks_(remarks),
        rereads_left_(kMaxRereads * source.size()),
        accounted_(begin) {}

  Result<std::vector<FoundRecord>> run() {
    MarkerSearch search(source_, [&](const Error& error) {
      remarks_.add(error);
      return Result<void>();
    });
    for (uint64_t expected = accounted_;;) {
      const auto offset = search.next(expected, source_.size()).value_or(std::nullopt);
      if (!offset) return std::move(records_);
      const uint64_t end = take(*offset);
      if (end == 0) {
        expected = *offset + 1;
        continue;
      }
      if (records_.size() > max_records_)
        return fail(ErrorKind::limit, "the container has too many records", source_.name(), *offset, "raise --memory");
      report_gap(*offset);
      expected = accounted_ = end;
    }
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
    FOREBAY_CHECK(check_meta(source_, record));
    return check_payload(source_, record);
  }

  void report_gap(uint64_t offset) {
    if (offset > accounted_)
      remarks_.add(fmt::format("at byte {}: {} bytes belong to no record", accounted_, offset - accounted_));
  }

  const ByteSource& source_;
  const uint64_t max_records_;
  Remarks& remarks_;
  uint64_t rereads_left_;
  uint64_t accounted_;  // the end of what a record, whole or damaged, claims
  std::vector<FoundRecord> records_;
};

}  // namespace

Result<std::optional<uint64_t>> MarkerSearch::next(uint64_t begin, uint64_t end) {
  const auto marker = std::as_bytes(std::span(kRecordMarker));
  end = std::min(end, source_.size());
  while (begin < end && end - begin >= marker.size()) {
    if (begin < window_offset_ || begin + marker.size() > window_offset_ + window_.size()) FOREBAY_CHECK(load(begin));
    const auto rest = std::span(window_).subspan(begin - window_offset_);
    const auto found = std::ranges::search(rest, marker);
    const uint64_t offset = begin + static_cast<uint64_t>(found.begin() - rest.begin());
    if (!found.empty()) return offset <= end - marker.size() ? std::optional(offset) : std::nullopt;
    begin += rest.size() - marker.size() + 1;
  }
  return std::optional<uint64_t>();
}

Result<void> MarkerSearch::load(uint64_t offset) {
  window_.resize(std::min<uint64_t>(kWindow, source_.size() - offset));
  window_offset_ = offset;
  const auto read = source_.read_at(offset, window_);
  if (read) return {};
  std::ranges::fill(window_, std::byte{0});
  return on_unreadable_(read.error());
}

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

Result<std::vector<FoundRecord>> scan_records(const ByteSource& source, uint64_t begin, uint64_t max_records,
                                              Remarks& remarks) {
  return Scanner(source, begin, max_records, remarks).run();
}

}  // namespace forebay::container
