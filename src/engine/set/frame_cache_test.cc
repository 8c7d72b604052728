#include "engine/set/frame_cache.h"

#include <gtest/gtest.h>

#include "engine/test_gas.h"

namespace forebay::engine {
namespace {

// Frames that are predicted from others.
class FrameCacheTest : public GasTest {
 protected:
  FrameCacheTest() {
    write_gas(0.76);
    pack_ok(named("set"));
  }

  // The first frame that is predicted from another one, and that other one.
  static std::pair<uint32_t, uint32_t> pair_in(const OpenContainer& container) {
    const auto& frames = container.index().frames;
    for (uint32_t number = 0; number < frames.size(); ++number)
      if (!frames[number].references.empty()) return {number, frames[number].references.front()};
    throw std::runtime_error("no frame is predicted from another one");
  }

  static FrameCache::Frame all_of(FrameCache& cache, const OpenContainer& container, uint32_t number) {
    const FrameCache::Address address{1, container, number};
    const auto parts = cache.parts(address);
    if (!parts) throw std::runtime_error(parts.error().message());
    auto frame = cache.get(address, *parts, std::vector<bool>((*parts)->count(), true));
    if (!frame) throw std::runtime_error(frame.error().message());
    return *std::move(frame);
  }
};

TEST_F(FrameCacheTest, KeepsWhatOthersArePredictedFrom) {
  const OpenSet set = open();
  const OpenContainer& container = set.containers.front();
  const auto [follows, leads] = pair_in(container);
  FrameCache cache(64 << 20);
  EXPECT_GT(all_of(cache, container, follows).decoded_bytes, 0u);
  EXPECT_EQ(all_of(cache, container, leads).decoded_bytes, 0u);
  EXPECT_EQ(all_of(cache, container, follows).decoded_bytes, 0u);
}

TEST_F(FrameCacheTest, DecodesTheSameWithAndWithoutWhatWasKept) {
  const OpenSet set = open();
  const OpenContainer& container = set.containers.front();
  FrameCache first(64 << 20), second(64 << 20);
  const auto count = static_cast<uint32_t>(container.index().frames.size());
  for (uint32_t number = 0; number < count; ++number) {
    const auto forth = all_of(first, container, number), back = all_of(second, container, count - 1 - number);
    EXPECT_TRUE(forth.failed.empty() && back.failed.empty());
  }
  for (uint32_t number = 0; number < count; ++number) {
    const auto one = all_of(first, container, number), other = all_of(second, container, number);
    ASSERT_EQ(one.raw.size(), other.raw.size());
    for (size_t part = 0; part < one.raw.size(); ++part)
      EXPECT_TRUE(std::ranges::equal(one.raw[part]->span(), other.raw[part]->span())) << number;
  }
}

TEST_F(FrameCacheTest, DecodesInPiecesWhatDoesNotFitTogether) {
  write_gas(0.76, 24);
  pack_ok(named("large"));
  const OpenSet set = open("large");
  const OpenContainer& container = set.containers.front();
  const uint32_t follows = pair_in(container).first;
  const auto parts = find_parts(container, follows);
  ASSERT_TRUE(parts) << parts.error().message();
  const size_t count = (*parts).count();
  ASSERT_GT(count, 1u);
  const uint64_t together = parts_memory(container, follows, *parts, 0, count);
  FrameCache large(together), small(together - 1);
  const auto whole = all_of(large, container, follows), pieces = all_of(small, container, follows);
  EXPECT_TRUE(whole.failed.empty() && pieces.failed.empty());
  for (size_t part = 0; part < count; ++part)
    EXPECT_TRUE(std::ranges::equal(whole.raw[part]->span(), pieces.raw[part]->span())) << part;
}

TEST_F(FrameCacheTest, NamesTheDamagedFrameThatAnotherIsPredictedFrom) {
  std::pair<uint32_t, uint32_t> frames;
  {
    const OpenSet set = open();
    frames = pair_in(set.containers.front());
    const auto parts = find_parts(set.containers.front(), frames.second);
    ASSERT_TRUE(parts);
    flip_bit(container_path("set", 0), parts->payload_offset + 10, 3);
  }
  const OpenSet set = open();
  const OpenContainer& container = set.containers.front();
  FrameCache cache(64 << 20);
  const FrameCache::Address address{1, container, frames.first};
  const auto parts = cache.parts(address);
  ASSERT_TRUE(parts) << parts.error().message();
  const auto frame = cache.get(address, *parts, std::vector<bool>((*parts)->count(), true));
  ASSERT_TRUE(frame) << frame.error().message();
  ASSERT_FALSE(frame->failed.empty());
  const Error& error = frame->failed.begin()->second;
  EXPECT_EQ(error.kind, ErrorKind::corrupt);
  EXPECT_NE(error.what.find("is predicted from another one: "), std::string::npos) << error.what;
}

}  // namespace
}  // namespace forebay::engine
