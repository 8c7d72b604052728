#include "container/part_draft.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/checksum.h"

namespace forebay::container {

namespace {

constexpr uint32_t kMaxFrames = 1u << 26;

}  // namespace

Result<PartDraft> PartDraft::make(const Catalogue& catalogue, const PlanSpec& plan, const PartFacts& part,
                                  Effort effort) {
  PartDraft draft;
  draft.effort_ = effort;
  FOREBAY_TRY(draft.head_, encode_catalogue(catalogue, plan, part, effort));
  draft.id_ = hash64(draft.head_);
  draft.facts_ = facts_of(catalogue);
  draft.file_count_ = catalogue.files.size();
  draft.index_.part = part;
  return draft;
}

// Whether `number` is new; makes room for it.
Result<void> PartDraft::claim(uint32_t number) {
  if (number >= kMaxFrames) return misuse(fmt::format("frame number {} is too large", number));
  if (number >= given_.size()) {
    given_.resize(number + 1);
    index_.frames.resize(number + 1);
  }
  if (given_[number]) return misuse(fmt::format("frame {} is given twice", number));
  given_[number] = true;
  return {};
}

uint32_t PartDraft::intern_chain(const std::string& chain) {
  const auto [it, is_new] = chain_numbers_.try_emplace(chain, static_cast<uint32_t>(index_.chains.size()));
  if (is_new) index_.chains.push_back(chain);
  return it->second;
}

Result<RecordFront> PartDraft::append(const FrameRecord& frame, uint64_t payload_bytes, uint64_t payload_hash,
                                      uint64_t offset) {
  if (frame.recipe.size() > kMaxRecipeBytes || frame.chain.size() > kMaxChainBytes ||
      frame.references.size() > kMaxReferences)
    return misuse(fmt::format("frame {} has too long a description", frame.number));
  if (frame.lossy && !frame.lossy->is_valid())
    return misuse(fmt::format("frame {} has an impossible error bound", frame.number));
  FOREBAY_CHECK(claim(frame.number));
  index_.frames[frame.number] = {.record_offset = offset,
                                 .raw_bytes = frame.raw_bytes,
                                 .encoded_bytes = payload_bytes,
                                 .raw_hash = frame.raw_hash,
                                 .encoded_hash = payload_hash,
                                 .chain = intern_chain(frame.chain),
                                 .references = frame.references,
                                 .lossy = frame.lossy};
  const Bytes meta = encode(FrameMeta{.number = frame.number,
                                      .raw_bytes = frame.raw_bytes,
                                      .raw_hash = frame.raw_hash,
                                      .references = frame.references,
                                      .recipe = frame.recipe,
                                      .chain = frame.chain});
  return encode_front(RecordType::frame, id_, meta, payload_bytes, payload_hash);
}

Result<void> PartDraft::skip(uint32_t number, uint64_t raw_bytes) {
  FOREBAY_CHECK(claim(number));
  index_.frames[number] = {.raw_bytes = raw_bytes, .chain = intern_chain(""), .references = {}, .lossy = {}};
  return {};
}

Result<void> PartDraft::check_complete() const {
  if (const auto missing = std::ranges::find(given_, false); missing != given_.end())
    return misuse(fmt::format("frame {} is missing", missing - given_.begin()));
  if (!index_.file_crcs.empty() && index_.file_crcs.size() != file_count_)
    return misuse("the file checksums are not one per file");
  if (!index_.characteristics.empty() && index_.characteristics.size() != facts_.size())
    return misuse("the characteristics are not one per variable");
  for (const FrameEntry& frame : index_.frames)
    for (const uint32_t reference : frame.references)
      if (reference >= index_.frames.size() || &index_.frames[reference] == &frame)
        return misuse(fmt::format("a frame refers to frame {}, which it cannot", reference));
  return {};
}

Result<PartDraft::IndexRecord> PartDraft::finish(std::vector<uint64_t> file_crcs,
                                                 std::vector<Characteristics> characteristics,
                                                 std::optional<uint64_t> offset) {
  index_.file_crcs = std::move(file_crcs);
  index_.characteristics = std::move(characteristics);
  FOREBAY_CHECK(check_complete());
  FOREBAY_TRY(const Bytes contents, encode_contents(index_, facts_, offset, effort_));
  std::array<std::byte, kIndexMetaBytes> meta;
  store_le<uint64_t>(meta.data(), head_.size());
  store_le<uint64_t>(meta.data() + 8, contents.size());
  IndexRecord record{.front = {}, .payload = std::move(head_)};
  record.payload.insert(record.payload.end(), contents.begin(), contents.end());
  record.front = encode_front(RecordType::index, id_, meta, record.payload.size(), hash64(record.payload));
  return record;
}

}  // namespace forebay::container
