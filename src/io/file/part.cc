#include "io/file/part.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/catalogue.h"
#include "base/checksum.h"
#include "container/format.h"
#include "container/part_draft.h"
#include "io/file/columns.h"
#include "io/file/description.h"
#include "io/file/part_listing.h"
#include "io/file/transform.h"
#include "merge/plan.h"

namespace forebay::io {

namespace {

// What values are looked at by stays in the second level of the cache, and what they are handed on by in the third:
// file systems take few large pieces faster than many small ones.
constexpr uint64_t kCachedBytes = kMostHashedBytes;
constexpr uint64_t kCharacterisedBytes = uint64_t{128} << 10;
constexpr uint64_t kWrittenBytes = uint64_t{4} << 20;

// Payloads from this size on are worth a padding record that aligns them.
constexpr uint64_t kAlignedBytes = uint64_t{16} << 10;

std::unexpected<Failure> refuse_block(Code code, const Block& block, const char* why) {
  return refuse(code, fmt::format("variable \"{}\" {}", block.name, why));
}

bool is_text(ValueType type) { return type == ValueType::string || type == ValueType::string_array; }

Outcome<void> check_block(const Block& block) {
  if (block.name.size() > kMaxPathBytes) return refuse_block(Code::invalid_name, block, "has too long a name");
  if (block.shape.size() > kMaxDims) return refuse_block(Code::invalid_dimension, block, "has too many dimensions");
  if (block.global_shape.size() != block.offsets.size() ||
      (!block.global_shape.empty() && block.global_shape.size() != block.shape.size()))
    return refuse_block(Code::invalid_global_dimension, block,
                        "has not as many dimensions as its global array and offsets");
  uint64_t bytes = 0;
  const bool fits = !__builtin_mul_overflow(element_count(block.shape), element_bytes(block.type), &bytes);
  if (!is_text(block.type) && (!fits || bytes != block.bytes.size()))
    return refuse_block(Code::invalid_dimension, block, "has not the bytes that its dimensions ask for");
  return {};
}

container::Characteristics characteristics_of(const Block& block) {
  const auto& known = block.characteristics;
  const bool is_known = known.count != 0 || known.nans != 0 || known.infinities != 0;
  const bool is_left = is_known || block.is_array || !block.is_characterised;
  return is_left ? known : container::characterise(data_type(block.type), block.bytes);
}

// A key of its own, so that no two blocks share frames.
uint32_t own_key(Catalogue& catalogue, const std::string& name) {
  const size_t keys = catalogue.keys.size();
  uint32_t key = catalogue.keys.intern(name);
  for (uint32_t i = 2; key < keys; ++i) key = catalogue.keys.intern(fmt::format("{}#{}", name, i));
  return key;
}

// The process group as a file, whose bytes are the values of its blocks. Blocks without bytes are no variables.
Catalogue catalogue_of(const ProcessGroup& group) {
  Catalogue catalogue;
  FileRow file{.name = fmt::format("{}/{}", group.step, group.rank), .link_target = {}, .format = "group"};
  file.rank = group.rank;
  for (const Block& block : group.blocks) {
    if (block.bytes.empty()) continue;
    const Shape shape = is_text(block.type) ? Shape{block.bytes.size()} : block.shape;
    const uint32_t own_shape = catalogue.shapes.intern(shape);
    const auto variable = static_cast<uint32_t>(catalogue.variables.size());
    catalogue.variables.push_back({.path = catalogue.paths.intern(block.name),
                                   .key = own_key(catalogue, block.name),
                                   .shape = own_shape,
                                   .block = own_shape,
                                   .first_extent = variable,
                                   .extent_count = 1,
                                   .type = data_type(block.type)});
    catalogue.extents.push_back({file.size, block.bytes.size()});
    file.size += block.bytes.size();
    if (has_place(block))
      catalogue.globals.push_back({.variable = variable,
                                   .shape = catalogue.shapes.intern(block.global_shape),
                                   .offset = catalogue.shapes.intern(block.offsets)});
  }
  file.variable_count = static_cast<uint32_t>(catalogue.variables.size());
  catalogue.files.push_back(std::move(file));
  return catalogue;
}

}  // namespace

class PartBuilder {
 public:
  // Without a sink the bytes are kept as pieces.
  PartBuilder(const ProcessGroup& group, const PartName& name, const PartOptions& options,
              const PieceSink* sink = nullptr)
      : group_(group), name_(name), options_(options), sink_(sink) {}

  Outcome<EncodedPart> build() {
    for (const Block& block : group_.blocks) FOREBAY_CHECK(check_block(block));
    const Catalogue catalogue = catalogue_of(group_);
    const PlanSpec spec{.frame_bytes = options_.most_frame_bytes, .share_bytes = 0, .key_block_bytes = {}};
    FOREBAY_TRY(const merge::Plan plan, merge::Plan::make(catalogue, spec));
    FOREBAY_CHECK(put_head(catalogue, spec));
    size_t variable = 0;
    std::vector<container::Characteristics> characteristics, of_variables;
    for (const Block& block : group_.blocks) {
      characteristics.push_back(characteristics_of(block));
      if (block.bytes.empty()) continue;
      FOREBAY_CHECK(put_frames(block, plan, plan.groups()[variable++], characteristics.back()));
      of_variables.push_back(characteristics.back());
    }
    const uint64_t index_offset = part_.bytes_;
    FOREBAY_TRY(auto index, draft_->finish({}, std::move(of_variables), index_offset));
    put(own(std::move(index.front.bytes)));
    put(own(std::move(index.payload)));
    FOREBAY_CHECK(flush());
    part_.listing_ = list_process_group(
        group_, characteristics, name_.container_id,
        {.bytes = part_.bytes_, .index_bytes = part_.bytes_ - index_offset, .index_hash = index.front.hash});
    return std::move(part_);
  }

 private:
  std::span<const std::byte> own(Bytes bytes) {
    part_.owned_.push_back(std::make_unique<Bytes>(std::move(bytes)));
    return *part_.owned_.back();
  }

  void put(std::span<const std::byte> piece) {
    if (!piece.empty()) part_.pieces_.push_back(piece);
    part_.bytes_ += piece.size();
  }

  Outcome<void> flush_much() {
    if (part_.bytes_ - flushed_ >= kWrittenBytes) FOREBAY_CHECK(flush());
    return {};
  }

  // Gives what was put to the sink.
  Result<void> flush() {
    if (!sink_ || part_.pieces_.empty()) return {};
    FOREBAY_CHECK((*sink_)(part_.pieces_, flushed_));
    part_.pieces_.clear();
    part_.owned_.clear();
    flushed_ = part_.bytes_;
    return {};
  }

  Outcome<void> put_head(const Catalogue& catalogue, const PlanSpec& spec) {
    const std::array<uint64_t, 4> identity = {name_.container_id, name_.salt, group_.step, group_.rank};
    container::PartFacts facts{.number = hash64(std::as_bytes(std::span(identity))) | 1,
                               .container_id = name_.container_id,
                               .moment = {.step = group_.step, .time = {}},
                               .description = {}};
    FOREBAY_TRY(facts.description, encode_description(group_));
    FOREBAY_TRY(draft_, container::PartDraft::make(catalogue, spec, facts, container::Effort::quick));
    put(own(draft_->head_front().bytes));
    put(own(draft_->head()));
    return {};
  }

  Outcome<void> put_frames(const Block& block, const merge::Plan& plan, const merge::FrameGroup& group,
                           container::Characteristics& characteristics) {
    FOREBAY_TRY(const Transform transform, Transform::parse(block.transform));
    const auto frames = plan.frames().subspan(group.first_frame, group.frame_count);
    const bool is_plain = transform.is_identity() || !options_.are_transforms_done;
    const bool is_hashed = options_.most_frame_bytes == kMostHashedBytes && block.hashes.size() == frames.size();
    const auto characterise = [&](std::span<const std::byte> bytes) {
      if (block.is_characterised) return;
      for (uint64_t at = 0; at < bytes.size(); at += kCharacterisedBytes)
        characteristics.merge(container::characterise(
            data_type(block.type), bytes.subspan(at, std::min(kCharacterisedBytes, bytes.size() - at))));
    };
    for (size_t i = 0; i < frames.size(); ++i) {
      const auto raw = block.bytes.subspan(frames[i].offset, frames[i].raw_bytes);
      if (is_plain && sink_ && !is_hashed) {
        FOREBAY_CHECK(write_plain_frame(raw, characterise));
        continue;
      }
      characterise(raw);
      if (is_plain) {
        const uint64_t hash = is_hashed ? block.hashes[i] : hash64(raw);
        FOREBAY_CHECK(put_frame(raw, raw.size(), hash, plain_frame(raw.size(), hash)));
        continue;
      }
      const FrameShape shape = plan.shape(frames[i], plan.slices(frames[i]));
      Transform::Frame frame = transform.encode(shape, raw);
      const auto payload =
          own(Bytes(frame.encoded.payload.data(), frame.encoded.payload.data() + frame.encoded.payload.size()));
      FOREBAY_CHECK(put_frame(payload, payload.size(), hash64(payload),
                              {.raw_bytes = raw.size(),
                               .raw_hash = frame.raw_hash,
                               .recipe = frame.encoded.recipe,
                               .chain = frame.chain,
                               .references = {},
                               .payload = {},
                               .lossy = frame.lossy}));
      FOREBAY_CHECK(flush_much());
    }
    return {};
  }

  // A piece at a time is looked at and written. The first one waits for its header, in which the hash of all is.
  template <class Characterise>
  Outcome<void> write_plain_frame(std::span<const std::byte> raw, const Characterise& characterise) {
    align(raw.size(), plain_frame(raw.size(), 0));
    const uint64_t payload = part_.bytes_ + front_bytes(plain_frame(raw.size(), 0));
    Hasher64 hasher;
    for (uint64_t at = 0; at < raw.size(); at += kCachedBytes) {
      const auto piece = raw.subspan(at, std::min<uint64_t>(kCachedBytes, raw.size() - at));
      characterise(piece);
      hasher.add(piece);
      if (at > 0) FOREBAY_CHECK((*sink_)({&piece, 1}, payload + at));
    }
    const auto first = raw.first(std::min<uint64_t>(kCachedBytes, raw.size()));
    FOREBAY_CHECK(put_frame(first, raw.size(), hasher.value(), plain_frame(raw.size(), hasher.value())));
    if (first.size() == raw.size()) return flush_much();
    FOREBAY_CHECK(flush());
    flushed_ = part_.bytes_ = payload + raw.size();
    return {};
  }

  static container::FrameRecord plain_frame(uint64_t bytes, uint64_t hash) {
    return {.raw_bytes = bytes,
            .raw_hash = hash,
            .recipe = {},
            .chain = "none",
            .references = {},
            .payload = {},
            .lossy = {}};
  }

  // What is in front of the payload, in a frame that refers to no others.
  static uint64_t front_bytes(const container::FrameRecord& frame) {
    return container::kRecordHeaderBytes + container::kFrameMetaFixedBytes + frame.recipe.size() + frame.chain.size();
  }

  // So that the payload of a frame, if it is large, begins at a multiple of kPartAlignment.
  void align(uint64_t payload_bytes, const container::FrameRecord& frame) {
    const uint64_t beyond = (part_.bytes_ + front_bytes(frame)) % kPartAlignment;
    if (payload_bytes < kAlignedBytes || beyond == 0) return;
    const std::array<std::byte, kPartAlignment> zeros{};
    const auto filling =
        std::span(zeros).first((2 * kPartAlignment - beyond - container::kRecordHeaderBytes) % kPartAlignment);
    Bytes record =
        container::encode_front(container::RecordType::padding, draft_->id(), {}, filling.size(), hash64(filling))
            .bytes;
    record.insert(record.end(), filling.begin(), filling.end());
    put(own(std::move(record)));
  }

  // `payload` is all of the frame's or the first of it.
  Result<void> put_frame(std::span<const std::byte> payload, uint64_t bytes, uint64_t hash,
                         container::FrameRecord frame) {
    align(bytes, frame);
    frame.number = next_frame_++;
    FOREBAY_TRY(auto front, draft_->append(frame, bytes, hash, part_.bytes_));
    put(own(std::move(front.bytes)));
    put(payload);
    return {};
  }

  const ProcessGroup& group_;
  const PartName name_;
  const PartOptions options_;
  const PieceSink* const sink_;
  uint64_t flushed_ = 0;  // what the sink has
  EncodedPart part_;
  std::optional<container::PartDraft> draft_;
  uint32_t next_frame_ = 0;
};

Outcome<EncodedPart> EncodedPart::make(const ProcessGroup& group, const PartName& name, const PartOptions& options) {
  return PartBuilder(group, name, options).build();
}

Outcome<EncodedPart> EncodedPart::write(const ProcessGroup& group, const PartName& name, const PartOptions& options,
                                        const PieceSink& sink) {
  FOREBAY_TRY(EncodedPart part, PartBuilder(group, name, options, &sink).build());
  part.owned_.clear();
  return part;
}

uint64_t part_bound(uint64_t payload_bytes, uint64_t blocks, uint64_t dimensions, uint64_t other_bytes) {
  // A frame is at least half of kMostHashedBytes, or the last of its block, and has a padding record. Everything that
  // is said of a block or a frame is said in the head and in the index.
  constexpr uint64_t kPerFrame =
      2 * container::kRecordHeaderBytes + kPartAlignment + container::kFrameMetaFixedBytes + 64 + 2 * 8 * 8;
  constexpr uint64_t kPerBlock = 2 * 256, kPerDimension = 2 * (3 * 8 * 2), kFixed = 16 << 10;
  const uint64_t frames = blocks + 2 * (payload_bytes / kMostHashedBytes) + 1;
  return payload_bytes + frames * kPerFrame + blocks * kPerBlock + dimensions * kPerDimension + 6 * other_bytes +
         kFixed;
}

// Measured: 5.3 KB, 230 bytes for a block or a frame. What is written in pieces has to leave room for part_bound().
uint64_t slot_estimate(uint64_t payload_bytes, uint64_t blocks, uint64_t other_bytes, uint64_t piece_bytes) {
  constexpr uint64_t kFixed = 6 << 10, kPerBlock = 300, kPerFrame = 300, kPerPiece = 24 << 10;
  const uint64_t pieces = payload_bytes / piece_bytes;
  return payload_bytes + kFixed + blocks * kPerBlock + 2 * (payload_bytes / kMostHashedBytes) * kPerFrame +
         2 * other_bytes + (pieces > 0 ? (pieces + 2) * kPerPiece : 0);
}

}  // namespace forebay::io
