#include "io/file/salvage.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "container/record.h"
#include "container/scan.h"
#include "io/file/description.h"
#include "io/file/part_listing.h"

namespace forebay::io {

using container::FoundRecord;
using container::RecordType;

namespace {

// The bytes of a source from some place on.
class RestOfSource final : public ByteSource {
 public:
  RestOfSource(const ByteSource& source, uint64_t begin) : source_(source), begin_(begin) {}
  const std::string& name() const override { return source_.name(); }
  uint64_t size() const override { return source_.size() - begin_; }
  Result<void> read_at(uint64_t offset, std::span<std::byte> out) const override {
    return source_.read_at(begin_ + offset, out);
  }

 private:
  const ByteSource& source_;
  const uint64_t begin_;
};

// What there is of a part: its whole records.
struct Found {
  const FoundRecord* head = nullptr;
  const FoundRecord* index = nullptr;
  uint64_t frames = 0;
};

class Salvager {
 public:
  Salvager(const ByteSource& source, uint64_t container_id, uint64_t begin, uint64_t max_bytes)
      : rest_(source, std::min(begin, source.size())),
        container_id_(container_id),
        begin_(begin),
        memory_left_(max_bytes) {}

  Result<Salvage> run() {
    container::Remarks remarks, of_scan;  // the latter are about gaps, too, which are nothing strange here
    const std::vector<FoundRecord> records = container::scan_records(rest_, of_scan);
    std::unordered_map<uint64_t, Found> parts;
    for (const FoundRecord& record : records) {
      Found& part = parts[record.header.id];
      if (record.header.type == RecordType::head) part.head = &record;
      if (record.header.type == RecordType::index) part.index = &record;
      if (record.header.type == RecordType::frame) ++part.frames;
    }
    for (const FoundRecord& record : records)
      if (record.header.type == RecordType::head && parts[record.header.id].head == &record)
        FOREBAY_CHECK(take(parts[record.header.id], remarks));
    salvage_.remarks = remarks.take();
    return std::move(salvage_);
  }

 private:
  // A head alone is one of a process group that was begun.
  Result<void> take(const Found& part, container::Remarks& remarks) {
    if (part.index == nullptr || part.index->offset < part.head->offset) {
      ++salvage_.incomplete;
      return {};
    }
    const auto index = container::read_index(rest_, *part.index, memory_left_);
    if (!index && index.error().kind != ErrorKind::corrupt) return std::unexpected(index.error());
    if (!index) remarks.add(fmt::format("the index at byte {}: {}", begin_ + part.index->offset, index.error().what));
    if (!index || index->part.container_id != container_id_ || index->part.description.empty()) return {};
    auto description = decode_description(index->part.description, memory_left_);
    if (!description && description.error().kind != ErrorKind::corrupt) return std::unexpected(description.error());
    if (!description || part.frames != index->frames.size()) {
      ++salvage_.incomplete;
      return {};
    }
    return list(part, *index, description->group, description->bytes);
  }

  Result<void> list(const Found& part, const container::Index& index, const ProcessGroup& group,
                    const std::vector<uint64_t>& bytes) {
    std::vector<container::Characteristics> characteristics(group.blocks.size());
    size_t variable = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      if (bytes[i] != 0 && variable < index.characteristics.size())
        characteristics[i] = index.characteristics[variable++];
    Listing one = list_process_group(group, characteristics, container_id_,
                                     {.offset = begin_ + part.head->offset,
                                      .bytes = part.index->end() - part.head->offset,
                                      .index_bytes = part.index->header.record_bytes(),
                                      .index_hash = part.index->header_hash});
    const uint64_t memory = one.memory_bytes();
    if (memory > memory_left_)
      return fail(ErrorKind::limit, "what the process groups say is too large", rest_.name(), {}, "raise --memory");
    memory_left_ -= memory;
    salvage_.listing.merge(std::move(one));
    salvage_.end = std::max(salvage_.end, begin_ + part.index->end());
    return {};
  }

  const RestOfSource rest_;
  const uint64_t container_id_, begin_;
  uint64_t memory_left_;
  Salvage salvage_;
};

}  // namespace

Result<Salvage> salvage(const ByteSource& source, uint64_t container_id, uint64_t begin, uint64_t max_bytes) {
  // The scan begins behind a file header.
  return Salvager(source, container_id, begin - container::kFileHeaderBytes, max_bytes).run();
}

}  // namespace forebay::io
