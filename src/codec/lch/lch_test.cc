// What lch promises beyond the contract: little overhead, and nothing for zeros.
#include <bit>

#include <gtest/gtest.h>

#include "codec/bit_stream.h"
#include "codec/chain.h"
#include "codec/lch/lch_model.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

DataType unsigned_type(uint16_t size) { return {Kind::unsigned_int, ByteOrder::little, size}; }

constexpr uint16_t kSizes[] = {1, 2, 4, 8};

// The size of `raw` encoded, after checking that it comes back; 0 if lch would rather not.
size_t coded_size(const FrameShape& shape, const Bytes& raw, uint8_t level = 0) {
  const Codec& lch = *find_codec("lch");
  EXPECT_TRUE(lch.accepts(shape));
  Bytes out(lch.bound(raw.size()));
  out.resize(lch.encode({shape, level}, raw, out));
  if (out.empty()) return 0;
  EXPECT_LT(out.size(), raw.size());
  Bytes back(raw.size(), std::byte{0x77});
  const auto result = lch.decode({shape, level}, out, back);
  EXPECT_TRUE(result) << result.error().message();
  EXPECT_EQ(back, raw);
  return out.size();
}

FrameShape line(uint16_t size, uint64_t count) { return {unsigned_type(size), {Block{{1, 1, 1, count}}}}; }

// Numbers of every number of bits, small ones more often.
Bytes varied(const FrameShape& shape, uint64_t seed, unsigned period = 1) {
  testing::Random random(seed);
  Bytes raw;
  const unsigned bits = shape.type.size * 8u;
  for (uint64_t i = 0; i < shape.element_total(); ++i) {
    const uint64_t value = random.next();
    const auto width = static_cast<unsigned>(std::min(random.next() % (bits + 1), random.next() % (bits + 1)));
    testing::append(raw, shape.type, i % period != 0 || width == 0 ? 0 : value >> (64 - width));
  }
  return raw;
}

TEST(Lch, CodesZerosInNextToNothing) {
  for (const uint16_t size : kSizes) {
    const FrameShape shape = line(size, 1 << 20);
    EXPECT_LE(coded_size(shape, Bytes(size_t{size} << 20)), 24u);
    // One residual in 2^14 differs from 0.
    Bytes sparse(size_t{size} << 20);
    for (size_t i = 100; i < 1 << 20; i += 1 << 14) sparse[i * size] = std::byte{200};
    EXPECT_LE(coded_size(shape, sparse), 800u);
  }
}

TEST(Lch, BearsTheExtremesOfBitLengths) {
  for (const uint16_t size : kSizes)
    for (const uint8_t level : std::initializer_list<uint8_t>{0, 1})
      for (const uint64_t count : {1u, 2u, 63u, 64u, 65u, 255u, 256u, 257u, 320u, 1000u, 20000u}) {
        const FrameShape shape = line(size, count);
        coded_size(shape, varied(shape, count), level);
        coded_size(shape, varied(shape, count, 100), level);
        coded_size(shape, Bytes(count * size, std::byte{0xff}), level);
        Bytes ends(count * size);
        for (size_t i = 0; i < size; ++i) ends[i] = ends[ends.size() - 1 - i] = std::byte{0xff};
        coded_size(shape, ends, level);
      }
}

TEST(Lch, TakesNoBitsForASymbolThatIsAlone) {
  // 2^62 to 2^62 + 2^61 - 1: one symbol, of 61 raw bits.
  const FrameShape shape = line(8, 4096);
  testing::Random random(9);
  Bytes raw;
  for (int i = 0; i < 4096; ++i) testing::append(raw, shape.type, uint64_t{1} << 62 | random.next() >> 3);
  EXPECT_LE(coded_size(shape, raw), 4096u * 61 / 8 + 128);
}

TEST(Lch, SeesThatItSavesNothing) {
  for (const uint16_t size : kSizes)
    for (const size_t bytes : {64u, 4096u, 100000u}) {
      const FrameShape shape = line(size, bytes / size);
      const size_t coded = coded_size(shape, testing::random_bytes(shape.element_total() * size, 5));
      EXPECT_EQ(coded, 0u) << size << " x " << shape.element_total();
    }
}

TEST(Lch, CodesSmallFrames) {
  // 4 KiB of residuals of 12 bits: head and sizes must not take much of what can be saved.
  for (const uint16_t size : std::initializer_list<uint16_t>{4, 8}) {
    const FrameShape shape{unsigned_type(size), {Block{{1, 1, 16, 256u / size}}}};
    testing::Random random(4);
    Bytes raw;
    for (uint64_t i = 0; i < shape.element_total(); ++i) testing::append(raw, shape.type, random.next() % 4096);
    const size_t coded = coded_size(shape, raw);
    EXPECT_GT(coded, 0u);
    EXPECT_LE(coded, shape.element_total() * 13 / 8 + 64);
  }
}

TEST(Lch, LearnsFromTheRowAbove) {
  // Columns of their own magnitude each: the element above tells the symbol, the one to the left nothing.
  const FrameShape rows{unsigned_type(4), {Block{{1, 1, 512, 96}}}},
      flat{unsigned_type(4), {Block{{1, 1, 1, 512 * 96}}}};
  testing::Random random(6);
  std::vector<unsigned> widths(96);
  for (unsigned& width : widths) width = 4 + 2 * static_cast<unsigned>(random.next() % 8);
  Bytes raw;
  for (uint64_t i = 0; i < rows.element_total(); ++i)
    testing::append(raw, rows.type, uint64_t{1} << widths[i % 96] | random.next() % 8);
  EXPECT_LT(coded_size(rows, raw) + 512 * 96 / 16, coded_size(flat, raw));
}

TEST(Lch, SymbolsTellTheirResiduals) {
  for (unsigned leading = 0; leading <= lch::kMaxLeadingBits; ++leading) {
    EXPECT_LT(lch::largest_symbol(64, leading), lch::kMaxSymbols);
    EXPECT_EQ(lch::symbol_of(UINT64_MAX, leading), lch::largest_symbol(64, leading));
    EXPECT_EQ(lch::symbol_of(uint8_t{255}, leading), lch::largest_symbol(8, leading));
    for (unsigned symbol = 0; symbol <= lch::largest_symbol(64, leading); ++symbol) {
      const uint64_t least = lch::least_residual(symbol, leading);
      const uint64_t most = least + (uint64_t{1} << lch::raw_bits(symbol, leading)) - 1;
      EXPECT_EQ(lch::symbol_of(least, leading), symbol);
      EXPECT_EQ(lch::symbol_of(most, leading), symbol);
      if (symbol > 0) {
        EXPECT_EQ(lch::symbol_of(least - 1, leading), symbol - 1);
      }
    }
  }
}

TEST(Lch, RefusesHeadsThatBreakTheRules) {
  const FrameShape shape = line(4, 4096);
  const Bytes raw = varied(shape, 8);
  const Codec& lch = *find_codec("lch");
  Bytes good(lch.bound(raw.size()));
  good.resize(lch.encode({shape}, raw, good));
  ASSERT_FALSE(good.empty());
  Bytes back(raw.size());
  ASSERT_TRUE(lch.decode({shape}, good, back));
  const std::pair<size_t, uint8_t> changes[] = {
      {0, 3},     // more leading bits than there may be
      {0, 0xc},   // an unknown map of zeros
      {0, 0x10},  // unknown flags
      {1, 0x40},  // too many upper classes
      {2, 0xff},  // more symbols than 32 bits have
  };
  for (const auto& [at, bits] : changes) {
    Bytes bad = good;
    bad[at] |= static_cast<std::byte>(bits);
    const auto result = lch.decode({shape}, bad, back);
    ASSERT_FALSE(result) << at << " " << int{bits};
    EXPECT_EQ(result.error().kind, ErrorKind::corrupt);
  }
  for (const auto& [cut, add] : {std::pair{1, 0}, {0, 1}}) {  // the last stream must end where its codes end
    Bytes bad = good;
    bad.resize(good.size() - static_cast<size_t>(cut) + static_cast<size_t>(add));
    EXPECT_FALSE(lch.decode({shape}, bad, back));
  }
}

TEST(PrefixCode, LimitsLengthsAndStaysComplete) {
  testing::Random random(12);
  for (unsigned limit = 8; limit <= kMaxCodeBits; ++limit)
    for (size_t symbols = 0; symbols <= 256; symbols += symbols < 5 ? 1 : 31) {
      std::vector<uint32_t> counts(256);
      for (size_t i = 0; i < symbols; ++i) counts[i] = 1 + static_cast<uint32_t>(random.next() >> (37 + i % 27));
      std::vector<uint8_t> lengths(256);
      make_code_lengths(counts, limit, lengths);
      EXPECT_TRUE(is_code(lengths));
      for (size_t i = 0; i < 256; ++i) {
        EXPECT_EQ(lengths[i] != 0, counts[i] != 0);
        EXPECT_TRUE(lengths[i] <= limit || symbols == 1);
      }
    }
}

TEST(PrefixCode, GivesFrequentSymbolsShortCodes) {
  const uint32_t counts[] = {8, 0, 4, 2, 1, 1};
  uint8_t lengths[6];
  make_code_lengths(counts, kMaxCodeBits, lengths);
  EXPECT_EQ(std::vector<uint8_t>(lengths, lengths + 6), (std::vector<uint8_t>{1, 0, 2, 3, 4, 4}));
  uint16_t codes[6];
  make_codes(lengths, codes);
  EXPECT_EQ(std::vector<uint16_t>(codes, codes + 6), (std::vector<uint16_t>{0, 0, 1, 3, 7, 15}));
  const uint8_t incomplete[] = {1, 2}, overfull[] = {1, 1, 2}, company[] = {kLoneSymbol, 1}, alone[] = {0, kLoneSymbol};
  EXPECT_FALSE(is_code(incomplete));
  EXPECT_FALSE(is_code(overfull));
  EXPECT_FALSE(is_code(company));
  EXPECT_TRUE(is_code(alone));
}

TEST(BitStream, GivesBackBitsOfAnyWidth) {
  testing::Random random(13);
  std::vector<std::pair<uint64_t, unsigned>> written;
  for (int i = 0; i < 2000; ++i) {
    const auto width = static_cast<unsigned>(random.next() % 64);
    written.emplace_back(low_bits(random.next(), width), width);
  }
  Bytes stream(2000 * 8 + 16);
  BitWriter writer(stream.data());
  for (const auto& [bits, width] : written) writer.put_wide(bits, width);
  const std::byte* const end = writer.finish();
  size_t at = 0;
  for (const auto& [bits, width] : written) {
    ASSERT_EQ(peek_wide(stream.data(), at, width), bits);
    at += width;
  }
  EXPECT_EQ((at + 7) / 8, static_cast<size_t>(end - stream.data()));
}

}  // namespace
}  // namespace forebay::codec
