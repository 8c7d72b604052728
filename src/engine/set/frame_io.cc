#include "engine/set/frame_io.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/checksum.h"
#include "codec/chain.h"
#include "engine/set/decoded_frames.h"
#include "engine/set/parent_frames.h"

namespace forebay::engine {

Result<RawFrame> gather(const merge::Plan& plan, uint32_t number, Sources& sources) {
  const merge::Frame& frame = plan.frames()[number];
  RawFrame result{.number = number, .slices = plan.slices(frame), .raw = Buffer(frame.raw_bytes)};
  PieceReader reader(sources, result.raw.span());
  for (const merge::Slice& slice : result.slices) {
    Result<void> done;
    plan.for_each_extent(slice, [&](uint64_t offset, uint64_t length) {
      if (done) done = reader.add(slice.stream.file, offset, length);
    });
    FOREBAY_CHECK(done);
  }
  FOREBAY_CHECK(reader.finish());
  return result;
}

Result<StoredFrame> fetch_frame(const OpenContainer& container, uint32_t number) {
  FOREBAY_TRY(auto stored, container.reader->read(number));
  return StoredFrame{number, std::move(stored)};
}

Result<RawFrame> decode_frame(const OpenContainer& container, const StoredFrame& stored) {
  if (is_parent_recipe(stored.stored.recipe)) return decode_parent_frame(container, stored);
  FOREBAY_TRY(const auto kept, decode_references(container, stored.number));
  std::vector<std::span<const std::byte>> references;
  for (const auto& bytes : kept) references.push_back(bytes->span());
  Buffer before;
  if (is_before_recipe(stored.stored.recipe)) {
    FOREBAY_TRY(const BeforeRecipe named, before_of(container, stored.number, stored.stored.recipe));
    FOREBAY_TRY(before, read_before(container, stored.number, named.before));
    references.push_back(before.span());
  }
  return decode_own_frame(container, stored, references);
}

// What the codecs of a frame take, without the name of the frame that it was predicted from.
static Result<Bytes> codec_recipe(const OpenContainer& container, const StoredFrame& stored) {
  if (!is_before_recipe(stored.stored.recipe)) return stored.stored.recipe;
  FOREBAY_TRY(BeforeRecipe named, before_of(container, stored.number, stored.stored.recipe));
  return std::move(named.recipe);
}

Result<RawFrame> decode_own_frame(const OpenContainer& container, const StoredFrame& stored,
                                  codec::References references) {
  const container::FrameEntry& entry = container.index().frames[stored.number];
  const merge::Frame& frame = container.plan->frames()[stored.number];
  RawFrame result{.number = stored.number, .slices = container.plan->slices(frame), .raw = Buffer(frame.raw_bytes)};
  const auto damaged = [&](const std::string& what) {
    return fail(ErrorKind::corrupt, fmt::format("frame {}: {}", stored.number, what), container.path,
                entry.record_offset);
  };
  const FrameShape shape = container.plan->shape(frame, result.slices);
  FOREBAY_TRY(const Bytes recipe, codec_recipe(container, stored));
  if (auto decoded = codec::decode(recipe, shape, stored.stored.payload, result.raw.span(), references); !decoded) {
    if (decoded.error().kind == ErrorKind::corrupt) return damaged(decoded.error().what);
    return std::unexpected(std::move(decoded).error());
  }
  if (hash64(result.raw.span()) != entry.raw_hash) return damaged("the decoded bytes do not match their checksum");
  return result;
}

Result<RawFrame> read_frame(const OpenContainer& container, uint32_t number) {
  FOREBAY_TRY(const StoredFrame stored, fetch_frame(container, number));
  return decode_frame(container, stored);
}

// What codecs take to decode a frame, judged by the chain that the index names: the recipe has not been read yet.
static uint64_t decode_memory(const OpenContainer& container, uint32_t number, uint64_t raw_bytes) {
  constexpr uint64_t kUnknown = 6;  // times the frame, for chains that cannot be named: those with loss
  std::string_view text = container.index().chains[container.index().frames[number].chain];
  if (text.starts_with(kBeforePrefix)) text.remove_prefix(kBeforePrefix.size());
  const auto chain = codec::parse_chain(text);
  return chain ? codec::decode_bytes(*chain, raw_bytes) : kUnknown * raw_bytes;
}

uint64_t frame_memory(const OpenContainer& container, uint32_t number) {
  const uint64_t elsewhere = needs_parent(container, number) ? parent_frame_memory(container, number) : 0;
  if (is_parent_frame(container, number)) return container.reader->read_bytes(number) + elsewhere;
  const ReferenceMemory references = reference_memory(container, number);
  return references.kept + std::max(own_frame_memory(container, number), references.decoding) + elsewhere;
}

uint64_t own_frame_memory(const OpenContainer& container, uint32_t number) {
  const uint64_t raw_bytes = container.plan->frames()[number].raw_bytes;
  return container.reader->read_bytes(number) + raw_bytes + decode_memory(container, number, raw_bytes);
}

Result<void> for_each_piece(const merge::Plan& plan, const RawFrame& frame, const PieceFn& visit) {
  size_t at = 0;
  for (const merge::Slice& slice : frame.slices) {
    Result<void> done;
    plan.for_each_extent(slice, [&](uint64_t offset, uint64_t length) {
      if (done) done = visit(slice.stream.file, offset, frame.raw.span().subspan(at, length));
      at += length;
    });
    FOREBAY_CHECK(done);
  }
  return {};
}

}  // namespace forebay::engine
