#include "base/checksum.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "base/hash_stream.h"

namespace forebay {
namespace {

Bytes random_bytes(std::mt19937_64& random, size_t size) {
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// CRC-64/XZ from its definition, bit by bit.
uint64_t reference_crc(std::span<const std::byte> bytes) {
  uint64_t crc = ~uint64_t{0};
  for (const std::byte byte : bytes) {
    crc ^= static_cast<uint64_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0xC96C5795D7870F42 : crc >> 1;
  }
  return ~crc;
}

TEST(Checksum, KnownValues) {
  EXPECT_EQ(crc64(as_bytes("123456789")), 0x995DC9BBDF1939FA);  // the check value of CRC-64/XZ
  EXPECT_EQ(crc64({}), 0u);
  EXPECT_EQ(hash64({}), 0x2D06800538D394C2);  // XXH3_64bits of nothing, seed 0 (xxHash's own test vectors)
  EXPECT_EQ(hash128_hex({}), "99aa06d3014798d86001c324468d497f");
}

// Whatever code for it the machine has, and however the bytes come.
TEST(Checksum, HashIsThatOfTheLibrary) {
  std::mt19937_64 random(3);
  for (const size_t size : {1, 16, 17, 128, 129, 240, 241, 1024, 1025, 65536, 1 << 20, (1 << 20) + 13}) {
    const Bytes bytes = random_bytes(random, size);
    ASSERT_EQ(hash64(bytes), XXH3_64bits(bytes.data(), bytes.size())) << size;
    HashStream stream;
    for (size_t at = 0, piece = 1; at < size; at += piece, piece = 2 * piece + 1)
      stream.add(std::span(bytes).subspan(at, std::min(piece, size - at)));
    ASSERT_EQ(stream.value(), hash64(bytes)) << size;
  }
  EXPECT_EQ(HashStream().value(), hash64({}));
}

TEST(Checksum, CrcEqualsItsDefinition) {
  std::mt19937_64 random(1);
  for (size_t size = 0; size < 300; ++size) {
    const Bytes bytes = random_bytes(random, size);
    ASSERT_EQ(crc64(bytes), reference_crc(bytes)) << size;
  }
}

TEST(FileCrc, AnyPartitionInAnyOrderGivesTheCrcOfTheWhole) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    const Bytes bytes = random_bytes(random, random() % 5000);
    std::vector<size_t> cuts = {0, bytes.size()};
    for (size_t i = random() % 12; i > 0; --i) cuts.push_back(random() % (bytes.size() + 1));
    std::ranges::sort(cuts);
    std::vector<std::pair<size_t, size_t>> pieces;
    for (size_t i = 1; i < cuts.size(); ++i) pieces.emplace_back(cuts[i - 1], cuts[i]);
    std::ranges::shuffle(pieces, random);
    FileCrc mine(bytes.size()), theirs(bytes.size());
    for (const auto& [begin, end] : pieces)
      (random() % 2 != 0 ? mine : theirs).add(begin, std::span(bytes).subspan(begin, end - begin));
    mine.merge(theirs);
    ASSERT_EQ(mine.bytes_seen(), bytes.size());
    ASSERT_EQ(mine.value(), crc64(bytes)) << bytes.size();
  }
}

TEST(FileCrc, JoinsWhatOthersHaveSeen) {
  std::mt19937_64 random(4);
  const Bytes bytes = random_bytes(random, 1000);
  std::vector<uint64_t> values;
  for (const auto& [begin, end] : {std::pair<size_t, size_t>{300, 1000}, {0, 1}, {1, 300}, {300, 300}}) {
    FileCrc piece(bytes.size());
    piece.add(begin, std::span(bytes).subspan(begin, end - begin));
    values.push_back(piece.value());
  }
  EXPECT_EQ(joined_crc(bytes.size(), values), crc64(bytes));
  values.pop_back();
  EXPECT_EQ(joined_crc(bytes.size(), values), crc64(bytes)) << "the last one has seen nothing";
  values.pop_back();
  EXPECT_NE(joined_crc(bytes.size(), values), crc64(bytes));
}

TEST(FileCrc, EmptyFile) {
  EXPECT_EQ(FileCrc(0).value(), crc64({}));
  EXPECT_EQ(FileCrc().value(), 0u);
}

// Offsets beyond 4 GiB, without the bytes: a leading piece shifted by 2^40 zeros must equal the same piece shifted in
// two steps, whose halves are files of their own.
TEST(FileCrc, ShiftsAreAssociativeForHugeFiles) {
  const auto shifted = [](std::span<const std::byte> piece, uint64_t zeros_behind) {
    FileCrc crc(piece.size() + zeros_behind), nothing(piece.size() + zeros_behind);
    crc.add(0, piece);
    return crc.value() ^ nothing.value();  // the linear part alone
  };
  const auto as_piece = [](uint64_t linear) {
    Bytes bytes(8);
    store_le(bytes.data(), linear);
    return bytes;
  };
  for (const uint64_t zeros : {uint64_t{1} << 33, (uint64_t{1} << 40) + 12345, (uint64_t{1} << 62) - 1}) {
    // The plain CRC of 8 bytes is those bytes times x^64: feeding a result back as a piece shifts it by 8 more bytes.
    const uint64_t once = shifted(as_bytes("forebay!"), zeros + 8 + 777);
    const uint64_t half = shifted(as_bytes("forebay!"), zeros);
    EXPECT_EQ(shifted(as_piece(half), 777), once) << zeros;
  }
}

TEST(FileCrc, EveryFlippedBitChangesIt) {
  std::mt19937_64 random(3);
  Bytes bytes = random_bytes(random, 64);
  const uint64_t good = crc64(bytes);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    FileCrc crc(bytes.size());
    crc.add(32, std::span(bytes).subspan(32));
    crc.add(0, std::span(bytes).first(32));
    ASSERT_NE(crc.value(), good);
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

}  // namespace
}  // namespace forebay
