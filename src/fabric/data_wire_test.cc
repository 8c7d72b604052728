#include "fabric/data_wire.h"

#include <gtest/gtest.h>

#include "base/varint.h"

namespace forebay::fabric::data_wire {
namespace {

std::span<const std::byte> body_of(const Bytes& frame) { return std::span(frame).subspan(kFrameHeaderBytes); }

Result<Read> through_the_wire(const Read& read) {
  Bytes frame;
  encode(frame, read);
  return decode_read(body_of(frame));
}

TEST(DataWire, KeepsRequests) {
  const Read read{7, 0x8123456789abcdef, {{0, 0, 0}, {4'000'000'000, 1ull << 40, kMaxReadBytes}, {1, 2, 0}}};
  const auto back = through_the_wire(read);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->number, read.number);
  EXPECT_EQ(back->exposure, read.exposure);
  EXPECT_EQ(back->pieces, read.pieces);
}

TEST(DataWire, KeepsTokens) {
  Token token;
  for (size_t i = 0; i < token.size(); ++i) token[i] = static_cast<std::byte>(3 * i);
  Bytes frame;
  encode(frame, Read{1, 2, {{3, 4, 5}}}, token);
  const auto back = decode_ucx_read(body_of(frame));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->token, token);
  EXPECT_EQ(back->read.pieces, (std::vector<Piece>{{3, 4, 5}}));
  EXPECT_FALSE(decode_ucx_read(body_of(frame).first(10)));
}

TEST(DataWire, RefusesRequestsForTooMuch) {
  EXPECT_FALSE(through_the_wire({1, 1, {{0, 0, kMaxReadBytes}, {0, 0, 1}}})) << "bytes";
  EXPECT_FALSE(through_the_wire({1, 1, {{0, 0, kMaxReadBytes + 1}}})) << "bytes of a piece";
  EXPECT_FALSE(through_the_wire({1, 1, {{0, UINT64_MAX, 1}}})) << "an offset that no file has";
  EXPECT_TRUE(through_the_wire({1, 1, std::vector<Piece>(kMaxPieces)}));
  EXPECT_FALSE(through_the_wire({1, 1, std::vector<Piece>(kMaxPieces + 1)})) << "pieces";
  std::vector<Piece> files;
  for (uint32_t i = 0; i < kMaxFiles; ++i) files.push_back({i, 0, 1});
  EXPECT_TRUE(through_the_wire({1, 1, files}));
  files.push_back({kMaxFiles, 0, 1});
  EXPECT_FALSE(through_the_wire({1, 1, files})) << "files";
}

TEST(DataWire, RefusesTruncatedAndLongerRequests) {
  Bytes frame;
  encode(frame, Read{300, 1, {{1, 1000, 1000}, {2, 5, 5}}});
  const auto body = body_of(frame);
  for (size_t i = 0; i < body.size(); ++i) EXPECT_FALSE(decode_read(body.first(i))) << i;
  frame.push_back(std::byte{0});
  EXPECT_FALSE(decode_read(body_of(frame)));
}

TEST(DataWire, KeepsErrors) {
  Bytes frame;
  encode(frame, Failed{9, {ErrorKind::changed, "the file has changed", "/stage/a", {}, {}}});
  const auto failed = decode_failed(body_of(frame));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->number, 9u);
  EXPECT_EQ(failed->error.kind, ErrorKind::changed);
  EXPECT_EQ(failed->error.path, "/stage/a");
  EXPECT_EQ(failed->error.what, "the file has changed");

  frame.clear();
  encode(frame, Failed{9, {ErrorKind::internal, std::string(100'000, 'x'), std::string(100'000, 'y'), {}, {}}});
  EXPECT_LE(body_of(frame).size(), kMaxAnswerBody);
  EXPECT_EQ(decode_failed(body_of(frame))->error.kind, ErrorKind::io);
}

TEST(DataWire, KeepsAddresses) {
  Bytes frame;
  encode(frame, Type::ucx_open, {11301, Bytes(100, std::byte{7})});
  const auto address = decode_address(body_of(frame));
  ASSERT_TRUE(address);
  EXPECT_EQ(address->version, 11301u);
  EXPECT_EQ(address->bytes, Bytes(100, std::byte{7}));
  EXPECT_FALSE(decode_address(body_of(frame).first(50)));
  frame.clear();
  encode(frame, Type::ucx_open, {1, Bytes(kMaxUcxAddress + 1)});
  EXPECT_FALSE(decode_address(body_of(frame)));
}

TEST(DataWire, CutsListsIntoRequestsThatKeepTheBounds) {
  std::vector<Piece> pieces;
  for (uint32_t i = 0; i < 3000; ++i) pieces.push_back({i % 700, i, i % 5});
  pieces.push_back({1, 10, 3 * kMaxReadBytes + 5});
  pieces.push_back({2, 0, 0});
  std::vector<Piece> joined;
  for (const auto& some : cut(pieces)) {
    ASSERT_TRUE(through_the_wire({1, 1, some}));
    for (const Piece& piece : some) {
      const bool goes_on = !joined.empty() && joined.back().file == piece.file && piece.length > 0 &&
                           joined.back().offset + joined.back().length == piece.offset && piece.file == 1 &&
                           piece.offset > 3000;
      if (goes_on)
        joined.back().length += piece.length;
      else
        joined.push_back(piece);
    }
  }
  EXPECT_EQ(joined, pieces);
  EXPECT_TRUE(cut({}).empty());
}

}  // namespace
}  // namespace forebay::fabric::data_wire
