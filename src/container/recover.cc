#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "container/container.h"
#include "container/record.h"
#include "container/scan.h"

namespace forebay::container {

namespace {

// The id of the container that `source` is, not of one that lies in its payloads: the head says it in its place, then
// the trailer; failing both, the last copy of a catalogue does, since the index follows all payloads.
std::optional<uint64_t> find_id(const ByteSource& source, std::span<const FoundRecord> records) {
  if (!records.empty() && records[0].offset == kFileHeaderBytes && records[0].header.type == RecordType::head)
    return records[0].header.container_id;
  if (source.size() >= kTrailerBytes) {
    std::array<std::byte, kTrailerBytes> bytes;
    if (source.read_at(source.size() - kTrailerBytes, bytes))
      if (const auto trailer = parse_trailer(bytes)) return trailer->container_id;
  }
  const auto has_directory = [](const FoundRecord& record) {
    return record.header.type == RecordType::index || record.header.type == RecordType::head;
  };
  const auto last = std::find_if(records.rbegin(), records.rend(), has_directory);
  return last == records.rend() ? std::nullopt : std::optional(last->header.container_id);
}

class Recovery {
 public:
  Recovery(const ByteSource& source, uint64_t max_index_bytes, const LossyOfRecipe& lossy_of_recipe)
      : source_(source), max_index_bytes_(max_index_bytes), lossy_of_recipe_(lossy_of_recipe) {}

  Result<Recovered> run(const FrameSizes& frame_sizes) {
    records_ = scan_records(source_, remarks_);
    const auto id = find_id(source_, records_);
    std::erase_if(records_, [&](const FoundRecord& record) { return record.header.container_id != id; });
    FOREBAY_CHECK(check_known());
    if (!take_index()) FOREBAY_CHECK(take_head(frame_sizes));
    collect_frames();
    settle_frames();
    return Recovered{std::move(index_), std::move(lost_), remarks_.take()};
  }

 private:
  Result<void> check_known() const {
    for (const FoundRecord& record : records_) {
      const auto type = static_cast<uint16_t>(record.header.type);
      const bool known = type >= 1 && type <= static_cast<uint16_t>(RecordType::padding);
      if (!known && (record.header.flags & kRequired) != 0)
        return fail(ErrorKind::unsupported, fmt::format("a record has the required type {}", type), source_.name(),
                    record.offset, "use a newer forebay");
    }
    return {};
  }

  const FoundRecord* find(RecordType type) const {
    const auto found = std::ranges::find(records_, type, [](const FoundRecord& r) { return r.header.type; });
    return found == records_.end() ? nullptr : &*found;
  }

  // The index knows more than the head: checksums of files, characteristics and how many frames there were.
  bool take_index() {
    const FoundRecord* record = find(RecordType::index);
    if (record == nullptr) {
      remarks_.add("the index is lost: checksums of files and characteristics are gone");
      return false;
    }
    auto index = read_index(source_, *record, max_index_bytes_);
    if (!index) {
      remarks_.add(index.error());
      return false;
    }
    index_ = std::move(*index);
    for (const FrameEntry& frame : index_.frames) raw_sizes_.push_back(frame.raw_bytes);
    return true;
  }

  Result<void> take_head(const FrameSizes& frame_sizes) {
    const FoundRecord* record = find(RecordType::head);
    if (record == nullptr)
      return fail(ErrorKind::corrupt, "no copy of the container's catalogue is left: nothing can be recovered",
                  source_.name());
    if (record->header.payload_bytes > max_index_bytes_)
      return fail(ErrorKind::limit, "the head is too large", source_.name(), record->offset, "raise --memory");
    FOREBAY_TRY(const Bytes payload, read_payload(source_, *record));
    auto index = decode_head(payload, max_index_bytes_);
    if (!index) return at(source_, record->payload_offset(), index.error());
    index_ = std::move(*index);
    FOREBAY_TRY(raw_sizes_, frame_sizes(index_.catalogue, index_.plan));
    return {};
  }

  // Fills found_ from the frame records.
  void collect_frames() {
    found_.resize(raw_sizes_.size());
    for (const FoundRecord& record : records_) {
      if (record.header.type != RecordType::frame || record.header.meta_bytes > kMaxFrameMetaBytes) continue;
      const auto bytes = read_meta(source_, record);
      const auto meta = bytes ? parse_frame_meta(*bytes) : std::unexpected(bytes.error());
      if (!meta)
        remarks_.add(fmt::format("at byte {}: {}", record.offset, meta.error().what));
      else
        collect(record, *meta);
    }
  }

  void collect(const FoundRecord& record, const FrameMeta& meta) {
    const auto reject = [&](const char* why) {
      remarks_.add(fmt::format("at byte {}: frame {} {}", record.offset, meta.number, why));
    };
    if (meta.number >= found_.size()) return reject("is not in the plan");
    if (meta.raw_bytes != raw_sizes_[meta.number]) return reject("has not the size that the plan gives it");
    if (found_[meta.number]) return reject("is there twice");
    const auto fits = [&](uint32_t r) { return r < found_.size() && r != meta.number; };
    if (!std::ranges::all_of(meta.references, fits)) return reject("refers to frames that are not there");
    found_[meta.number] = FrameEntry{.record_offset = record.offset,
                                     .raw_bytes = meta.raw_bytes,
                                     .encoded_bytes = record.header.payload_bytes,
                                     .raw_hash = meta.raw_hash,
                                     .encoded_hash = record.header.payload_hash,
                                     .chain = intern_chain(std::string(meta.chain)),
                                     .references = meta.references,
                                     .lossy = lossy_of_recipe_(meta.recipe)};
  }

  uint32_t intern_chain(const std::string& chain) {
    const auto [it, is_new] = chain_numbers_.try_emplace(chain, static_cast<uint32_t>(chains_.size()));
    if (is_new) chains_.push_back(chain);
    return it->second;
  }

  // Lost frames get an entry, too: a frame's number is its place.
  void settle_frames() {
    index_.frames.clear();
    for (uint32_t number = 0; number < found_.size(); ++number) {
      if (!found_[number]) {
        lost_.push_back(number);
        found_[number] =
            FrameEntry{.raw_bytes = raw_sizes_[number], .chain = intern_chain(""), .references = {}, .lossy = {}};
      }
      index_.frames.push_back(std::move(*found_[number]));
    }
    index_.chains = std::move(chains_);
  }

  const ByteSource& source_;
  const uint64_t max_index_bytes_;
  const LossyOfRecipe& lossy_of_recipe_;
  Remarks remarks_;
  std::vector<FoundRecord> records_;
  Index index_;
  std::vector<uint64_t> raw_sizes_;
  std::vector<std::optional<FrameEntry>> found_;
  std::vector<uint32_t> lost_;
  std::vector<std::string> chains_;
  std::unordered_map<std::string, uint32_t> chain_numbers_;
};

}  // namespace

Result<Recovered> recover(const ByteSource& source, uint64_t max_index_bytes, const FrameSizes& frame_sizes,
                          const LossyOfRecipe& lossy_of_recipe) {
  return Recovery(source, max_index_bytes, lossy_of_recipe).run(frame_sizes);
}

Result<void> rewrite(const ByteSource& source, const Recovered& recovered, std::string path) {
  const Index& index = recovered.index;
  FOREBAY_TRY(const auto writer, Writer::create(std::move(path), index.catalogue, index.plan));
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
