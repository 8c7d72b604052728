#include "engine/set/decoded_frames.h"

#include <algorithm>

#include <fmt/format.h>

#include "codec/relation/relation.h"
#include "engine/set/frame_io.h"

namespace forebay::engine {
namespace {

bool refers(const container::FrameEntry& entry) { return !entry.references.empty(); }

}  // namespace

Result<void> check_reference(const OpenContainer& container, uint32_t number, uint32_t reference) {
  const auto& frames = container.index().frames;
  if (frames[number].references.size() <= codec::kMaxRelationReferences && !refers(frames[reference])) return {};
  return fail(ErrorKind::corrupt, fmt::format("frame {} has references that no frame may have", number), container.path,
              frames[number].record_offset);
}

std::unexpected<Error> blamed_on_reference(uint32_t number, Error error) {
  error.what = fmt::format("frame {} is predicted from another one: {}", number, error.what);
  return std::unexpected(std::move(error));
}

DecodedFrames::Bytes DecodedFrames::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  const Bytes* const known = kept_.find(key);
  return known == nullptr ? nullptr : *known;
}

void DecodedFrames::keep(const Key& key, const Bytes& bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes->size() > memory_bytes_) return;
  kept_.add(key, bytes, bytes->size());
  kept_.trim(memory_bytes_);
}

Result<DecodedFrames::Bytes> DecodedFrames::get(const OpenContainer& container, uint32_t number) {
  const Key key(container.reader.get(), number);
  if (Bytes known = find(key)) return known;
  FOREBAY_TRY(RawFrame frame, read_frame(container, number));
  const auto bytes = std::make_shared<const Buffer>(std::move(frame.raw));
  keep(key, bytes);
  return bytes;
}

void DecodedFrames::forget(const OpenContainer& container) {
  const std::lock_guard lock(mutex_);
  const container::Reader* const reader = container.reader.get();
  kept_.take_range({reader, 0}, {reader, UINT32_MAX});
}

bool has_references(const OpenContainer& container) { return std::ranges::any_of(container.index().frames, refers); }

std::shared_ptr<DecodedFrames> share_decoded_frames(std::span<OpenContainer> containers, uint64_t memory_bytes) {
  constexpr uint64_t kShare = 8, kFrames = 16;
  uint64_t largest = 0;
  for (const OpenContainer& container : containers)
    if (has_references(container))
      for (const merge::Frame& frame : container.plan->frames()) largest = std::max(largest, frame.raw_bytes);
  if (largest == 0) return nullptr;
  const auto decoded = std::make_shared<DecodedFrames>(std::min(memory_bytes / kShare, kFrames * largest));
  for (OpenContainer& container : containers)
    if (has_references(container)) container.decoded = decoded;
  return decoded;
}

Result<std::vector<DecodedFrames::Bytes>> decode_references(const OpenContainer& container, uint32_t number) {
  DecodedFrames nothing_kept(0);
  DecodedFrames& decoded = container.decoded ? *container.decoded : nothing_kept;
  std::vector<DecodedFrames::Bytes> references;
  for (const uint32_t reference : container.index().frames[number].references) {
    FOREBAY_CHECK(check_reference(container, number, reference));
    auto bytes = decoded.get(container, reference);
    if (!bytes) return blamed_on_reference(number, std::move(bytes).error());
    references.push_back(*std::move(bytes));
  }
  return references;
}

ReferenceMemory reference_memory(const OpenContainer& container, uint32_t number) {
  ReferenceMemory memory;
  const auto& frames = container.index().frames;
  for (const uint32_t reference : frames[number].references) {
    if (!check_reference(container, number, reference)) return {};
    memory.kept += container.plan->frames()[reference].raw_bytes;
    memory.decoding = std::max(memory.decoding, frame_memory(container, reference));
  }
  return memory;
}

std::vector<uint32_t> near_references(const OpenContainer& container, std::vector<uint32_t> numbers) {
  if (container.decoded == nullptr) return numbers;
  const auto place_in_group = [&](uint32_t number) {
    return number - container.plan->groups()[container.plan->frames()[number].group].first_frame;
  };
  std::ranges::stable_sort(numbers, {}, place_in_group);
  return numbers;
}

}  // namespace forebay::engine
