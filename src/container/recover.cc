#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "container/container.h"
#include "container/part_frames.h"
#include "container/record.h"
#include "container/scan.h"

namespace forebay::container {

namespace {

bool is_known(RecordType type) {
  using enum RecordType;
  constexpr std::array kKnown = {head, frame, index, padding, groups, cubes};
  return std::ranges::find(kKnown, type) != kKnown.end();
}

// The whole records with one id, in order.
struct PartRecords {
  std::vector<const FoundRecord*> heads, indices, frames;
  const FoundRecord* unknown = nullptr;  // one that may not be skipped

  void add(const FoundRecord& record) {
    const RecordType type = record.header.type;
    if (type == RecordType::head) heads.push_back(&record);
    if (type == RecordType::index) indices.push_back(&record);
    if (type == RecordType::frame) frames.push_back(&record);
    if (!is_known(type) && (record.header.flags & kRequired) != 0) unknown = &record;
  }
};

// A part's catalogue, and where it came from.
struct Found {
  Index index;  // but the frames, unless it came from an index record
  const FoundRecord* record = nullptr;

  bool has_index() const { return record->header.type == RecordType::index; }

  // Of the container that it is a part of.
  uint64_t container_id() const { return index.part.number == 0 ? record->header.id : index.part.container_id; }
};

class Recovery {
 public:
  Recovery(const ByteSource& source, const RecoveryRules& rules, Remarks& remarks)
      : source_(source), rules_(rules), memory_left_(rules.max_index_bytes), remarks_(remarks) {}

  // Comes first. The lists of records and parts count as memory, as there may be any number of both.
  Result<void> find_records(uint64_t begin, Remarks& of_scan) {
    FOREBAY_TRY(records_, scan_records(source_, begin, memory_left_ / kRecordMemory, of_scan));
    memory_left_ -= records_.size() * kRecordMemory;
    for (const FoundRecord& record : records_) {
      const auto [place, is_new] = by_id_.try_emplace(record.header.id, parts_.size());
      if (is_new) {
        FOREBAY_CHECK(check_room(kPartMemory));
        memory_left_ -= kPartMemory;
        parts_.emplace_back();
      }
      parts_[place->second].add(record);
    }
    return {};
  }

  // The part that makes all of a container that has one.
  Result<RecoveredPart> recover_only() {
    FOREBAY_TRY(const uint64_t id, find_id());
    const auto known = by_id_.find(id);
    if (known == by_id_.end()) return nothing_left();
    FOREBAY_TRY(auto found, find_catalogue(parts_[known->second]));
    if (!found) return nothing_left();
    if (!found->index.part.description.empty())
      return fail(ErrorKind::unsupported, "a file of process groups is mended in its place", source_.name());
    FOREBAY_TRY(auto part, recover_part(parts_[known->second], *std::move(found)));
    return part ? Result<RecoveredPart>(*std::move(part)) : nothing_left();
  }

  // A part that has no index cannot be made visible: that its head is of a later version keeps nobody from the others.
  Result<void> recover_all(uint64_t container_id, const TakePart& take) {
    for (const PartRecords& part : parts_) {
      auto found = find_catalogue(part);
      if (!found && found.error().kind == ErrorKind::unsupported && part.indices.empty()) {
        remarks_.add(found.error());
        continue;
      }
      FOREBAY_CHECK(found);
      if (!*found || (*found)->container_id() != container_id) continue;
      FOREBAY_TRY(auto recovered, recover_part(part, **std::move(found)));
      if (!recovered) continue;
      FOREBAY_TRY(const uint64_t kept, take(*std::move(recovered)));
      FOREBAY_CHECK(check_room(kept));
      memory_left_ -= kept;
    }
    return {};
  }

 private:
  // Lists that grow have room for twice as much.
  static constexpr uint64_t kRecordMemory = 2 * (sizeof(FoundRecord) + sizeof(const FoundRecord*));
  static constexpr uint64_t kMapMemory = 48;  // of a number and its place in by_id_
  static constexpr uint64_t kPartMemory = 2 * sizeof(PartRecords) + kMapMemory;

  // Notes why there is less than there was; an error that is none of the container's is final.
  Result<void> give_up(const Error& error) {
    if (error.kind != ErrorKind::corrupt) return std::unexpected(error);
    if (!first_error_) first_error_ = error;
    remarks_.add(error);
    return {};
  }

  std::unexpected<Error> nothing_left() const {
    if (first_error_) return std::unexpected(*first_error_);
    return fail(ErrorKind::corrupt, "no copy of the container's catalogue is left: nothing can be recovered",
                source_.name());
  }

  // The id of the container that `source_` is, not of one that lies in its payloads: the head says it in its place,
  // then the trailer; failing both, the last copy of a catalogue does, since an index follows all payloads of its part.
  Result<uint64_t> find_id() {
    if (!records_.empty() && records_[0].offset == kFileHeaderBytes && records_[0].header.type == RecordType::head)
      return records_[0].header.id;
    if (source_.size() >= kTrailerBytes)
      if (const auto trailer = read_trailer(source_, source_.size() - kTrailerBytes)) return trailer->container_id;
    for (auto record = records_.rbegin(); record != records_.rend(); ++record) {
      if (record->header.type != RecordType::index && record->header.type != RecordType::head) continue;
      const auto found = decode(*record);
      if (found) return found->container_id();
      FOREBAY_CHECK(give_up(found.error()));
    }
    return nothing_left();
  }

  // Nothing if there is no copy that can be used. The index knows more than the head: checksums of files,
  // characteristics and how many frames there were.
  Result<std::optional<Found>> find_catalogue(const PartRecords& part) {
    for (const auto* records : {&part.indices, &part.heads})
      for (const FoundRecord* record : *records) {
        auto found = decode(*record);
        if (found) return std::optional(*std::move(found));
        FOREBAY_CHECK(give_up(found.error()));
      }
    return std::optional<Found>();
  }

  Result<Found> decode(const FoundRecord& record) const {
    Found found{.index = {}, .record = &record};
    if (found.has_index()) {
      FOREBAY_TRY(found.index, read_index(source_, record, memory_left_));
      return found;
    }
    if (record.header.payload_bytes > memory_left_)
      return fail(ErrorKind::limit, "the head is too large", source_.name(), record.offset, "raise --memory");
    FOREBAY_TRY(const Bytes payload, read_payload(source_, record));
    if (record.header.payload_hash != record.header.id)
      return fail(ErrorKind::corrupt, "the head has another part's id", source_.name(), record.offset);
    auto index = decode_head(payload, memory_left_);
    if (!index) return at(source_, record.payload_offset(), index.error());
    found.index = *std::move(index);
    return found;
  }

  // Nothing, with a remark, if its catalogue has no plan.
  Result<std::optional<RecoveredPart>> recover_part(const PartRecords& part, Found found) {
    if (part.unknown != nullptr)
      return fail(ErrorKind::unsupported,
                  fmt::format("a record has the required type {}", static_cast<uint16_t>(part.unknown->header.type)),
                  source_.name(), part.unknown->offset, "use a newer forebay");
    auto raw_sizes = raw_sizes_of(found);
    if (!raw_sizes) {
      FOREBAY_CHECK(give_up(raw_sizes.error()));
      return std::optional<RecoveredPart>();
    }
    FOREBAY_CHECK(check_room(found.index.memory_bytes() + raw_sizes->size() * sizeof(FrameEntry)));
    PartFrames frames(*std::move(raw_sizes), rules_.lossy_of_recipe);
    for (const FoundRecord* record : part.frames) frames.collect(source_, *record, remarks_);
    RecoveredPart recovered = std::move(frames).settle(std::move(found.index));
    recovered.has_index = found.has_index();
    if (found.has_index()) recovered.entry = entry_of(part, *found.record);
    return std::optional(std::move(recovered));
  }

  // With the last head in front of this index; nothing if there is none.
  static std::optional<PartEntry> entry_of(const PartRecords& part, const FoundRecord& index) {
    for (auto head = part.heads.rbegin(); head != part.heads.rend(); ++head)
      if ((*head)->offset < index.offset)
        return PartEntry{.offset = (*head)->offset,
                         .index = {index.offset, index.header.record_bytes(), index.header_hash}};
    return std::nullopt;
  }

  Result<void> check_room(uint64_t bytes) const {
    return bytes <= memory_left_ ? Result<void>()
                                 : fail(ErrorKind::limit, "what the container's catalogues say is too large",
                                        source_.name(), {}, "raise --memory");
  }

  Result<std::vector<uint64_t>> raw_sizes_of(const Found& found) const {
    if (!found.has_index()) return rules_.frame_sizes(found.index.catalogue, found.index.plan);
    std::vector<uint64_t> sizes;
    for (const FrameEntry& frame : found.index.frames) sizes.push_back(frame.raw_bytes);
    return sizes;
  }

  const ByteSource& source_;
  const RecoveryRules& rules_;
  uint64_t memory_left_;
  Remarks& remarks_;
  std::vector<FoundRecord> records_;
  std::vector<PartRecords> parts_;  // in order of their first records
  std::unordered_map<uint64_t, size_t> by_id_;
  std::optional<Error> first_error_;
};

}  // namespace

Result<Recovered> recover(const ByteSource& source, const RecoveryRules& rules) {
  Remarks remarks;
  Recovery recovery(source, rules, remarks);
  FOREBAY_CHECK(recovery.find_records(kFileHeaderBytes, remarks));
  FOREBAY_TRY(auto part, recovery.recover_only());
  if (!part.has_index) remarks.add("the index is lost: checksums of files and characteristics are gone");
  return Recovered{std::move(part), remarks.take()};
}

Result<std::vector<std::string>> recover_parts(const ByteSource& source, uint64_t container_id, uint64_t begin,
                                               const RecoveryRules& rules, const TakePart& take) {
  Remarks remarks, of_scan;  // the latter are about gaps, too, which are nothing strange between parts
  Recovery recovery(source, rules, remarks);
  FOREBAY_CHECK(recovery.find_records(begin, of_scan));
  FOREBAY_CHECK(recovery.recover_all(container_id, take));
  return remarks.take();
}

Result<void> rewrite(const ByteSource& source, const Recovered& recovered, std::unique_ptr<ByteSink> sink) {
  const Index& index = recovered.part.index;
  FOREBAY_TRY(const auto writer, Writer::create(std::move(sink), index.catalogue, index.plan, index.part.moment));
  for (uint32_t number = 0; number < index.frames.size(); ++number) {
    const FrameEntry& entry = index.frames[number];
    if (entry.is_lost()) {
      FOREBAY_CHECK(writer->skip(number, entry.raw_bytes));
      continue;
    }
    FOREBAY_TRY(const FramePayload frame, read_frame(source, index, number));
    FOREBAY_CHECK(writer->append({.number = number,
                                  .raw_bytes = entry.raw_bytes,
                                  .raw_hash = entry.raw_hash,
                                  .recipe = frame.recipe,
                                  .chain = index.chains[entry.chain],
                                  .references = entry.references,
                                  .payload = frame.payload,
                                  .lossy = entry.lossy}));
  }
  return writer->finish(index.file_crcs, index.characteristics);
}

}  // namespace forebay::container
