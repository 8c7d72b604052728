#include "fabric/framing.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace forebay::fabric {
namespace {

Bytes frame(uint8_t type, size_t body, std::byte fill = std::byte{7}) {
  Bytes bytes;
  const size_t begin = begin_frame(bytes, type);
  bytes.resize(bytes.size() + body, fill);
  end_frame(bytes, begin);
  return bytes;
}

void feed(FrameParser& parser, std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, parser.room(bytes.size()).begin());
  parser.commit(bytes.size());
}

TEST(Frames, ComeOutOfAnyPieces) {
  std::mt19937 random(1);
  Bytes stream;
  std::vector<size_t> sizes;
  for (int i = 0; i < 200; ++i) {
    sizes.push_back(random() % 1000);
    const Bytes one = frame(static_cast<uint8_t>(i), sizes.back());
    stream.insert(stream.end(), one.begin(), one.end());
  }
  FrameParser parser(1000);
  size_t got = 0;
  for (size_t at = 0; at < stream.size();) {
    const size_t piece = std::min<size_t>(1 + random() % 2500, stream.size() - at);
    feed(parser, std::span(stream).subspan(at, piece));
    at += piece;
    for (;;) {
      const auto next = parser.next();
      ASSERT_TRUE(next);
      if (!*next) break;
      EXPECT_EQ((*next)->type, static_cast<uint8_t>(got));
      EXPECT_EQ((*next)->body.size(), sizes[got++]);
    }
  }
  EXPECT_EQ(got, sizes.size());
  EXPECT_EQ(parser.buffered(), 0u);
}

TEST(Frames, OfTooGreatLengthAreRefusedByTheirHeader) {
  FrameParser parser(10);
  feed(parser, std::span<const std::byte>(frame(1, 11)).first(kFrameHeaderBytes));
  EXPECT_EQ(parser.next().error().kind, ErrorKind::corrupt);
  FrameParser other(10);
  feed(other, frame(1, 10));
  EXPECT_TRUE(other.next().value());
}

TEST(Frames, OfAnotherVersionAreRefused) {
  Bytes bytes = frame(1, 0);
  bytes[4] = std::byte{3};
  FrameParser parser(10);
  feed(parser, bytes);
  const auto refused = parser.next();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unsupported);
  EXPECT_NE(refused.error().message().find("version 3 of Forebay's protocol, and this is version 2"),
            std::string::npos);
}

}  // namespace
}  // namespace forebay::fabric
