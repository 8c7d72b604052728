// What every codec promises in codec.h.
#include <algorithm>
#include <memory>
#include <numeric>

#include <gtest/gtest.h>

#include "codec/codec.h"
#include "codec/codec_ids.h"
#include "codec/lossy/lossy.h"
#include "codec/relation/relation.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

using testing::all_frames;
using testing::Frame;

constexpr std::byte kGuard{0xa5};
constexpr size_t kGuardBytes = 64;

// Memory with guards on both sides that check() finds damaged.
class Guarded {
 public:
  explicit Guarded(size_t size) : bytes_(size + 2 * kGuardBytes, kGuard), size_(size) {}
  std::span<std::byte> span() { return std::span(bytes_).subspan(kGuardBytes, size_); }
  bool is_intact() const {
    const auto is_guard = [](std::byte b) { return b == kGuard; };
    return std::all_of(bytes_.begin(), bytes_.begin() + kGuardBytes, is_guard) &&
           std::all_of(bytes_.end() - kGuardBytes, bytes_.end(), is_guard);
  }

 private:
  Bytes bytes_;
  size_t size_;
};

std::vector<uint8_t> levels_of(const Codec& codec) {
  if (codec.max_level() > 4) return {0, 2};
  std::vector<uint8_t> levels(codec.max_level() + 1u);
  std::iota(levels.begin(), levels.end(), uint8_t{0});
  return levels;
}

// Another frame of the same shape, for codecs that predict from references.
Bytes related_bytes(const Frame& frame) {
  Bytes related = frame.raw;
  for (size_t i = 0; i < related.size(); i += 64) related[i] ^= std::byte{1};
  return related;
}

constexpr double kTolerance = 1.0 / 64;  // of codecs that are not lossless

// What a codec encodes and decodes a frame with.
struct Setting {
  Setting(const Codec& codec, const Frame& frame, uint8_t stage_level)
      : level(stage_level), related(related_bytes(frame)), references{related}, shape(frame.shape) {
    if (codec.id() == kRelationId) {  // which does not fit itself: relations are found across frames
      const auto kind = static_cast<RelationKind>(frame.raw.size() / 64 % 2);
      parameters = encode_relation({kind, {{0, false, 0.875}, {0, true, 1e-9}}});
    } else if (has_parameters(codec.id())) {
      parameters = codec.fit(context(), frame.raw);
    }
    if (!codec.is_lossless()) {
      EXPECT_TRUE(parameters.empty()) << "it chooses a loss by itself";
      parameters = encode_lossy_parameters({.note = {.bound = {BoundKind::absolute, 1}}, .tolerance = kTolerance});
    }
    EXPECT_LE(parameters.size(), kMaxParameterBytes);
  }
  Setting(const Setting&) = delete;

  Context context() const { return {shape, level, parameters, references}; }
  bool can_encode(const Codec& codec) const { return !has_parameters(codec.id()) || !parameters.empty(); }

  uint8_t level;
  Bytes related, parameters;
  std::vector<std::span<const std::byte>> references;
  const FrameShape& shape;
};

Bytes encode_or_empty(const Codec& codec, const Frame& frame, const Setting& setting) {
  if (!setting.can_encode(codec)) return {};
  Guarded out(codec.bound(frame.raw.size()));
  const size_t size = codec.encode(setting.context(), frame.raw, out.span());
  EXPECT_LE(size, out.span().size());
  EXPECT_TRUE(out.is_intact());
  return {out.span().begin(), out.span().begin() + static_cast<ptrdiff_t>(size)};
}

// Decodes damaged input into exactly as many bytes as the frame has: an error or some bytes, nothing worse.
void decode_damaged(const Codec& codec, const Frame& frame, const Setting& setting, const Bytes& damaged) {
  Guarded out(frame.raw.size());
  // An exact allocation, so that sanitizers see every byte read beyond it.
  const std::unique_ptr<std::byte[]> exact(new std::byte[damaged.size()]);
  std::ranges::copy(damaged, exact.get());
  const auto result = codec.decode(setting.context(), {exact.get(), damaged.size()}, out.span());
  if (!result) {
    EXPECT_EQ(result.error().kind, ErrorKind::corrupt) << frame.name;
  }
  EXPECT_TRUE(out.is_intact()) << frame.name;
}

double value_at(const DataType& type, const std::byte* at) {
  const uint64_t bits = type.size == 4 ? (type.order == ByteOrder::big ? load_be<uint32_t>(at) : load_le<uint32_t>(at))
                                       : (type.order == ByteOrder::big ? load_be<uint64_t>(at) : load_le<uint64_t>(at));
  return type.size == 4 ? std::bit_cast<float>(static_cast<uint32_t>(bits)) : std::bit_cast<double>(bits);
}

double largest_error(const Frame& frame, std::span<const std::byte> back) {
  double largest = 0;
  for (size_t i = 0; i < frame.raw.size(); i += frame.shape.type.size)
    largest =
        std::max(largest, std::abs(value_at(frame.shape.type, &frame.raw[i]) - value_at(frame.shape.type, &back[i])));
  return largest;
}

class CodecContract : public ::testing::TestWithParam<const Codec*> {
 protected:
  const Codec& codec() const { return *GetParam(); }
};

TEST_P(CodecContract, HasAnIdAndANameOfItsOwn) {
  EXPECT_EQ(find_codec(codec().id()), &codec());
  EXPECT_EQ(find_codec(codec().name()), &codec());
  EXPECT_NE(codec().id(), 0);
}

TEST_P(CodecContract, GivesBackWhatItTook) {
  size_t encoded_frames = 0;
  for (const Frame& frame : all_frames()) {
    if (!codec().accepts(frame.shape)) continue;
    for (const uint8_t level : levels_of(codec())) {
      const Setting setting(codec(), frame, level);
      const Bytes encoded = encode_or_empty(codec(), frame, setting);
      if (codec().is_transform() && setting.can_encode(codec())) {
        const auto after = codec().output_shape(setting.context());
        ASSERT_TRUE(after) << frame.name;
        ASSERT_EQ(encoded.size(), testing::byte_count(*after));
        ASSERT_LE(encoded.size(), frame.raw.size());
      }
      if (encoded.empty()) continue;
      ++encoded_frames;
      Guarded back(frame.raw.size());
      const auto result = codec().decode(setting.context(), encoded, back.span());
      ASSERT_TRUE(result) << frame.name << ": " << result.error().message();
      if (codec().is_lossless()) {
        ASSERT_TRUE(std::ranges::equal(back.span(), frame.raw)) << frame.name << " level " << int{level};
      } else if (frame.name.ends_with(" smooth") || frame.name.ends_with(" constant")) {
        ASSERT_LE(largest_error(frame, back.span()), kTolerance) << frame.name;
      }
      ASSERT_TRUE(back.is_intact());
    }
  }
#ifndef FOREBAY_HAVE_FPZIP
  if (codec().name().starts_with("fpzip")) GTEST_SKIP() << "this build only decodes it";
#endif
  EXPECT_GT(encoded_frames, 0u);
}

TEST_P(CodecContract, GivesTheSameBytesEachTime) {
  for (const Frame& frame : all_frames()) {
    if (!codec().accepts(frame.shape)) continue;
    const Setting once(codec(), frame, 0), again(codec(), frame, 0);
    ASSERT_EQ(once.parameters, again.parameters) << frame.name;
    ASSERT_EQ(encode_or_empty(codec(), frame, once), encode_or_empty(codec(), frame, again)) << frame.name;
  }
}

TEST_P(CodecContract, BearsTruncation) {
  for (const Frame& frame : all_frames()) {
    if (!codec().accepts(frame.shape)) continue;
    const Setting setting(codec(), frame, 0);
    const Bytes encoded = encode_or_empty(codec(), frame, setting);
    const size_t step = std::max<size_t>(1, encoded.size() / 12);
    for (size_t size = 0; size < encoded.size(); size += step)
      decode_damaged(codec(), frame, setting, Bytes(encoded.begin(), encoded.begin() + static_cast<ptrdiff_t>(size)));
    Bytes longer = encoded;
    longer.push_back({});
    decode_damaged(codec(), frame, setting, longer);
  }
}

TEST_P(CodecContract, BearsDamage) {
  testing::Random random(3);
  for (const Frame& frame : all_frames()) {
    if (!codec().accepts(frame.shape)) continue;
    const Setting setting(codec(), frame, 0);
    const Bytes encoded = encode_or_empty(codec(), frame, setting);
    if (encoded.empty()) continue;
    for (int i = 0; i < 10; ++i) {
      Bytes damaged = encoded;
      for (uint64_t flips = 1 + random.next() % 3; flips > 0; --flips)
        damaged[random.next() % damaged.size()] ^= static_cast<std::byte>(1 << random.next() % 8);
      decode_damaged(codec(), frame, setting, damaged);
    }
    decode_damaged(codec(), frame, setting, testing::random_bytes(encoded.size(), random.next()));
    decode_damaged(codec(), frame, setting, Bytes(encoded.size(), std::byte{0xff}));
  }
}

TEST_P(CodecContract, BearsDamagedParametersAndReferences) {
  if (!has_parameters(codec().id())) return;
  testing::Random random(7);
  for (const Frame& frame : all_frames()) {
    if (!codec().accepts(frame.shape)) continue;
    Setting setting(codec(), frame, 0);
    const Bytes encoded = encode_or_empty(codec(), frame, setting);
    if (encoded.empty()) continue;
    const Bytes good = setting.parameters;
    for (int i = 0; i < 10; ++i) {
      setting.parameters = good;
      setting.parameters[random.next() % good.size()] ^= static_cast<std::byte>(1 << random.next() % 8);
      decode_damaged(codec(), frame, setting, encoded);
      setting.parameters = testing::random_bytes(random.next() % (2 * good.size()), random.next());
      decode_damaged(codec(), frame, setting, encoded);
      setting.parameters.assign(good.begin(), good.begin() + static_cast<ptrdiff_t>(random.next() % good.size()));
      decode_damaged(codec(), frame, setting, encoded);
    }
    setting.parameters = good;
    setting.references = {std::span(setting.related).first(setting.related.size() / 2)};
    decode_damaged(codec(), frame, setting, encoded);
    setting.references.clear();
    decode_damaged(codec(), frame, setting, encoded);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CodecContract, ::testing::ValuesIn(all_codecs().begin(), all_codecs().end()),
                         [](const auto& test) { return std::string(test.param->name()); });

TEST(Registry, KnowsOnlyItsCodecs) {
  EXPECT_EQ(find_codec(uint16_t{0}), nullptr);
  EXPECT_EQ(find_codec("zst"), nullptr);
  const auto codecs = all_codecs();
  EXPECT_TRUE(std::ranges::is_sorted(codecs, {}, &Codec::id));
}

}  // namespace
}  // namespace forebay::codec
