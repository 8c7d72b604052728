// What every profile promises of every frame: it comes back, it never grows, and damage does no harm.
#include <algorithm>

#include <gtest/gtest.h>

#include "codec/choice/chooser.h"
#include "codec/relation/relation.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

using testing::Frame;

// A frame with another one that it may be predicted from.
class Pair {
 public:
  explicit Pair(const Frame& frame) : frame_(frame), other_(frame.raw) {
    for (size_t i = 0; i < other_.size(); i += 48) other_[i] ^= std::byte{1};
    related_.references = {other_};
    const bool is_float = frame.shape.type.kind == Kind::floating && frame.shape.type.size >= 4;
    const auto kind = static_cast<RelationKind>(frame.raw.size() / 8 % 2);
    if (is_float) related_.parameters = encode_relation({kind, {{0, false, 0.75}, {0, true, -1e-7}}});
  }
  Pair(const Pair&) = delete;

  Encoded encoded(const Profile& profile) const {
    return profile.encode(frame_.shape, frame_.raw, profile.uses_relations() ? related_ : Related{}).encoded;
  }
  Result<void> decode_into(Bytes& raw, std::span<const std::byte> recipe, std::span<const std::byte> payload) const {
    return decode(recipe, frame_.shape, payload, raw, related_.references);
  }

 private:
  const Frame& frame_;
  Bytes other_;
  Related related_;
};

// Blocks of which many are equal, and parts of others.
std::vector<Frame> frames_with_copies() {
  std::vector<Frame> frames;
  for (const DataType& type : testing::all_types()) {
    Frame frame{type.name() + " copies", {type, std::vector<Block>(24, Block{{1, 4, 8, 9}})}, {}};
    const size_t block_bytes = size_t{4} * 8 * 9 * type.size;
    for (uint64_t block = 0; block < 24; ++block) {
      const Bytes cells = testing::random_bytes(block_bytes, block % 5);
      frame.raw.insert(frame.raw.end(), cells.begin(), cells.end());
      if (block % 3 == 0) frame.raw.back() ^= std::byte{1};
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

class Profiles : public ::testing::TestWithParam<const char*> {
 protected:
  const Profile profile_ = *Profile::parse(GetParam());
};

TEST_P(Profiles, GiveBackEveryFrameAndNeverExpand) {
  std::vector<Frame> frames = testing::all_frames();
  std::ranges::move(frames_with_copies(), std::back_inserter(frames));
  for (const Frame& frame : frames) {
    const Pair pair(frame);
    const Encoded encoded = pair.encoded(profile_);
    ASSERT_LE(encoded.payload.size() + encoded.recipe.size(), frame.raw.size()) << frame.name;
    Bytes back(frame.raw.size(), std::byte{0xee});
    const auto result = pair.decode_into(back, encoded.recipe, encoded.payload);
    ASSERT_TRUE(result) << frame.name << ": " << result.error().message();
    ASSERT_EQ(back, frame.raw) << frame.name;
  }
}

// Decoding damage gives an error of the right kind, or any bytes.
TEST_P(Profiles, BearDamage) {
  testing::Random random(11);
  const auto damaged = [&](std::span<const std::byte> bytes) {
    Bytes copy(bytes.begin(), bytes.end());
    if (copy.empty()) return copy;
    if (random.next() % 4 == 0) copy.resize(random.next() % copy.size());
    for (uint64_t flips = random.next() % 3; flips > 0 && !copy.empty(); --flips)
      copy[random.next() % copy.size()] ^= static_cast<std::byte>(1 << random.next() % 8);
    return copy;
  };
  for (const Frame& frame : testing::all_frames()) {
    if (frame.raw.empty() || frame.name.ends_with(" random")) continue;
    const Pair pair(frame);
    const Encoded encoded = pair.encoded(profile_);
    Bytes back(frame.raw.size());
    for (int i = 0; i < 4; ++i) {
      const auto result = pair.decode_into(back, damaged(encoded.recipe), damaged(encoded.payload));
      if (result) continue;
      ASSERT_TRUE(result.error().kind == ErrorKind::corrupt || result.error().kind == ErrorKind::unsupported)
          << frame.name << ": " << result.error().message();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Profiles, ::testing::Values("none", "gzip", "paper", "fast", "balanced", "max"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace forebay::codec
