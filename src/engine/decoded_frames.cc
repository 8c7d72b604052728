#include "engine/decoded_frames.h"

#include <algorithm>

#include <fmt/format.h>

#include "codec/relation.h"
#include "engine/frame_io.h"

namespace forebay::engine {
namespace {

bool refers(const container::FrameEntry& entry) { return !entry.references.empty(); }

Result<void> check_reference(const OpenContainer& container, uint32_t number, uint32_t reference) {
  const auto& frames = container.index().frames;
  if (frames[number].references.size() <= codec::kMaxRelationReferences && !refers(frames[reference])) return {};
  return fail(ErrorKind::corrupt, fmt::format("frame {} has references that no frame may have", number), container.path,
              frames[number].record_offset);
}

}  // namespace

DecodedFrames::Bytes DecodedFrames::find(uint32_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return nullptr;
  kept_.splice(kept_.end(), kept_, found->second);
  return found->second->bytes;
}

void DecodedFrames::keep(uint32_t number, const Bytes& bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes->size() > memory_bytes_ || by_number_.contains(number)) return;
  while (kept_bytes_ + bytes->size() > memory_bytes_) {
    kept_bytes_ -= kept_.front().bytes->size();
    by_number_.erase(kept_.front().number);
    kept_.pop_front();
  }
  kept_bytes_ += bytes->size();
  by_number_[number] = kept_.insert(kept_.end(), {number, bytes});
}

Result<DecodedFrames::Bytes> DecodedFrames::get(const OpenContainer& container, uint32_t number) {
  if (Bytes known = find(number)) return known;
  FOREBAY_TRY(RawFrame frame, read_frame(container, number));
  const auto bytes = std::make_shared<const Buffer>(std::move(frame.raw));
  keep(number, bytes);
  return bytes;
}

std::shared_ptr<DecodedFrames> make_decoded_frames(const OpenContainer& container, uint64_t memory_bytes) {
  constexpr uint64_t kShare = 8, kFrames = 16;
  if (std::ranges::none_of(container.index().frames, refers)) return nullptr;
  uint64_t largest = 0;
  for (const merge::Frame& frame : container.plan->frames()) largest = std::max(largest, frame.raw_bytes);
  return std::make_shared<DecodedFrames>(std::min(memory_bytes / kShare, kFrames * largest));
}

Result<std::vector<DecodedFrames::Bytes>> decode_references(const OpenContainer& container, uint32_t number) {
  std::vector<DecodedFrames::Bytes> references;
  for (const uint32_t reference : container.index().frames[number].references) {
    FOREBAY_CHECK(check_reference(container, number, reference));
    auto bytes = container.decoded->get(container, reference);
    if (!bytes) {
      Error error = std::move(bytes).error();
      error.what = fmt::format("frame {} is predicted from another one: {}", number, error.what);
      return std::unexpected(std::move(error));
    }
    references.push_back(*std::move(bytes));
  }
  return references;
}

uint64_t reference_memory(const OpenContainer& container, uint32_t number) {
  uint64_t raw_bytes = 0, decoding = 0;
  const auto& frames = container.index().frames;
  for (const uint32_t reference : frames[number].references) {
    if (!check_reference(container, number, reference)) return 0;
    raw_bytes += container.plan->frames()[reference].raw_bytes;
    decoding = std::max(decoding, frame_memory(container, reference));
  }
  return raw_bytes + decoding;
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
