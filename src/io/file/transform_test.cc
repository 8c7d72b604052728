#include "io/file/transform.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "codec/lossy/lossy.h"

namespace forebay::io {
namespace {

std::vector<double> smooth_values() {
  std::vector<double> values(64 * 64);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<double>(i % 64) / 9) * std::cos(static_cast<double>(i / 64) / 11);
  return values;
}

const FrameShape kShape{.type = {Kind::floating, ByteOrder::little, 8}, .blocks = {{.dims = {1, 1, 64, 64}}}};

// Encodes the values and gives back what they decode to.
std::vector<double> through(const Transform& transform, const std::vector<double>& values, Transform::Frame& frame) {
  frame = transform.encode(kShape, std::as_bytes(std::span(values)));
  std::vector<double> back(values.size());
  EXPECT_TRUE(
      codec::decode(frame.encoded.recipe, kShape, frame.encoded.payload, std::as_writable_bytes(std::span(back))));
  return back;
}

TEST(Transform, NamesOfTheOriginalStandForChains) {
  const std::vector<double> values = smooth_values();
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"zlib:5", "deflate:5"},
      {"zlib", "deflate:6"},
      {"bzip2", "zstd:15"},
      {"LZ4", "lz4"},
      {"lz4:threshold=100,lvl=9", "lz4:9"},
      {"blosc:compressor=zstd,shuffle=bit,lvl=3", "bitshuffle,zstd:3"},
      {"blosc:compressor=zlib", "shuffle,deflate:5"},
      {"forebay:shuffle,zstd:2", "shuffle,zstd:2"},
      {"shuffle,zstd:4", "shuffle,zstd:4"},
  };
  for (const auto& [text, chain] : cases) {
    const auto transform = Transform::parse(text);
    ASSERT_TRUE(transform) << text << ": " << transform.error().error.message();
    Transform::Frame frame;
    EXPECT_EQ(through(*transform, values, frame), values) << text;
    EXPECT_EQ(frame.chain, chain) << text;
    EXPECT_FALSE(frame.lossy);
  }
  for (const char* text : {"", "identity", "none", "forebay:none"}) EXPECT_TRUE(Transform::parse(text)->is_identity());
  for (const char* text : {"szip", "blosc", "forebay", "forebay:max", "forebay:fast"}) {
    Transform::Frame frame;
    EXPECT_EQ(through(*Transform::parse(text), values, frame), values) << text;
    EXPECT_LT(frame.encoded.payload.size(), 8 * values.size()) << text;
  }
}

TEST(Transform, BoundsAreKept) {
  if (!codec::can_encode_lossy()) GTEST_SKIP() << "built without zfp";
  const std::vector<double> values = smooth_values();
  struct Case {
    const char* text;
    ErrorBound bound;
  };
  for (const Case& c :
       {Case{"zfp:accuracy=0.001", {BoundKind::absolute, 0.001}},
        Case{"zfp:precision=10", {BoundKind::relative, 1.0 / 1024}},
        Case{"sz:absolute=0.01", {BoundKind::absolute, 0.01}}, Case{"sz:relative=0.001", {BoundKind::range, 0.001}},
        Case{"sz:pw_rel=0.01", {BoundKind::relative, 0.01}}}) {
    const auto transform = Transform::parse(c.text);
    ASSERT_TRUE(transform) << c.text;
    Transform::Frame frame;
    const std::vector<double> back = through(*transform, values, frame);
    const double range = 2;
    for (size_t i = 0; i < values.size(); ++i) {
      const double scale = c.bound.kind == BoundKind::absolute ? 1
                           : c.bound.kind == BoundKind::range  ? range
                                                               : std::abs(values[i]);
      ASSERT_LE(std::abs(values[i] - back[i]), c.bound.value * scale) << c.text;
    }
    EXPECT_TRUE(!frame.lossy || frame.lossy->bound == c.bound) << c.text;
  }
  Transform::Frame frame;
  (void)through(*Transform::parse("zfp:accuracy=0.001"), values, frame);
  ASSERT_TRUE(frame.lossy);
  EXPECT_LT(frame.encoded.payload.size(), 8 * values.size() / 4);
  // Values that no bound can be kept for are stored as they are.
  std::vector<double> odd = values;
  odd[7] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(through(*Transform::parse("zfp:accuracy=0.001"), odd, frame), odd);
  EXPECT_FALSE(frame.lossy);
}

TEST(Transform, WhatCannotBeIsRefused) {
  const auto refusal = [](const char* text) {
    const auto transform = Transform::parse(text);
    EXPECT_FALSE(transform) << text;
    EXPECT_EQ(transform ? Code::none : transform.error().code, Code::unknown_transform) << text;
    return transform ? std::string() : transform.error().error.hint;
  };
  EXPECT_EQ(refusal("zlibb:5"), "did you mean zlib?");
  EXPECT_EQ(refusal("zlib:11"), "give a whole number from 0 to 9");
  EXPECT_NE(refusal("zfp:rate=8").find("accuracy"), std::string::npos);
  for (const char* text : {"zfp", "zfp:accuracy=-1", "zfp:accuracy=inf", "sz", "blosc:compressor=what", "forebay:what",
                           "isobar", "zlib:x"})
    refusal(text);
}

TEST(Transform, WhatIsListedIsThere) {
  for (const auto& [name, description] : available_transforms()) {
    EXPECT_TRUE(Transform::parse(name == "zfp" || name == "sz" ? name + ":accuracy=0.1" : name)) << name;
    EXPECT_FALSE(description.empty());
  }
}

TEST(Transform, ParametersThatAreNotKnownAreTold) {
  const auto transform = Transform::parse("zlib:level=3;foo=4;levl=2");
  ASSERT_TRUE(transform);
  ASSERT_EQ(transform->warnings().size(), 2u);
  EXPECT_NE(transform->warnings()[0].find("\"foo\" (it is ignored)"), std::string::npos) << transform->warnings()[0];
  EXPECT_NE(transform->warnings()[1].find("did you mean level or lvl?"), std::string::npos) << transform->warnings()[1];
  for (const char* text : {"zlib:5", "lz4:threshold=100,lvl=9", "blosc:compressor=zstd,shuffle=bit,threads=2", "szip",
                           "forebay:shuffle,zstd:2", "none"})
    EXPECT_TRUE(Transform::parse(text)->warnings().empty()) << text;
  EXPECT_EQ(Transform::parse("szip:5")->warnings().size(), 1u);
}

}  // namespace
}  // namespace forebay::io
