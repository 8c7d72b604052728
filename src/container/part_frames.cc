#include "container/part_frames.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay::container {

PartFrames::PartFrames(std::vector<uint64_t> raw_sizes, const LossyOfRecipe& lossy_of_recipe)
    : raw_sizes_(std::move(raw_sizes)), lossy_of_recipe_(lossy_of_recipe), found_(raw_sizes_.size()) {}

void PartFrames::collect(const ByteSource& source, const FoundRecord& record, Remarks& remarks) {
  if (record.header.type != RecordType::frame || record.header.meta_bytes > kMaxFrameMetaBytes) return;
  const auto bytes = read_meta(source, record);
  const auto meta = bytes ? parse_frame_meta(*bytes) : std::unexpected(bytes.error());
  if (!meta)
    remarks.add(fmt::format("at byte {}: {}", record.offset, meta.error().what));
  else
    collect(record, *meta, remarks);
}

void PartFrames::collect(const FoundRecord& record, const FrameMeta& meta, Remarks& remarks) {
  const auto reject = [&](const char* why) {
    remarks.add(fmt::format("at byte {}: frame {} {}", record.offset, meta.number, why));
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

uint32_t PartFrames::intern_chain(const std::string& chain) {
  const auto [it, is_new] = chain_numbers_.try_emplace(chain, static_cast<uint32_t>(chains_.size()));
  if (is_new) chains_.push_back(chain);
  return it->second;
}

// Lost frames get an entry, too: a frame's number is its place.
RecoveredPart PartFrames::settle(Index index) && {
  RecoveredPart part{.index = std::move(index), .lost_frames = {}};
  part.index.frames.clear();
  for (uint32_t number = 0; number < found_.size(); ++number) {
    if (!found_[number]) {
      part.lost_frames.push_back(number);
      found_[number] =
          FrameEntry{.raw_bytes = raw_sizes_[number], .chain = intern_chain(""), .references = {}, .lossy = {}};
    }
    part.index.frames.push_back(*std::move(found_[number]));
  }
  part.index.chains = std::move(chains_);
  return part;
}

}  // namespace forebay::container
