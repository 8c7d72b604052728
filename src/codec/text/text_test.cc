#include "codec/text/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codec/chain.h"
#include "codec/codec_ids.h"
#include "codec/test_frames.h"
#include "codec/text/decimal.h"
#include "codec/text/fit.h"
#include "codec/text/lines.h"

namespace forebay::codec::text {
namespace {

using forebay::codec::testing::Random;

std::string print_as(const char* format, double value) {
  std::array<char, 128> text;
  // NOLINTNEXTLINE: the format is a constant of the test
  const int size = std::snprintf(text.data(), text.size(), format, value);
  return {text.data(), static_cast<size_t>(size)};
}

std::string print_as(int64_t key, const Format& format) {
  std::array<char, kMostCharacters> text;
  return {text.data(), print(key, format, text.data())};
}

std::optional<Decimal> scan(const std::string& text) { return text::scan(text.data(), text.data() + text.size()); }

// Any finite double, of any magnitude.
double any_double(Random& random) {
  for (;;) {
    const double value = std::bit_cast<double>(random.next());
    if (std::isfinite(value)) return value;
  }
}
double common_double(Random& random) {
  const auto exponent = static_cast<int>(random.next() % 40) - 20;
  const auto mantissa = static_cast<double>(static_cast<int64_t>(random.next())) * 0x1p-63;
  return random.next() % 16 == 0 ? 0 : std::ldexp(mantissa, exponent);
}

TEST(Decimal, NumbersOfEveryFormatComeBackFromTheirKeys) {
  struct Case {
    const char* printf_format;
    Format format;
  };
  const Case cases[] = {
      {"%.0f", {Notation::integer, 0, false, 0}},       {"%.1f", {Notation::fixed, 1, false, 0}},
      {"%.6f", {Notation::fixed, 6, false, 0}},         {"%.0e", {Notation::scientific, 1, false, -20}},
      {"%.7e", {Notation::scientific, 8, false, -20}},  {"%.5E", {Notation::scientific, 6, true, -20}},
      {"%.16e", {Notation::scientific, 17, false, -8}}, {"%.6g", {Notation::general, 6, false, -20}},
      {"%.12g", {Notation::general, 12, false, -20}},   {"%.17g", {Notation::general, 17, false, -8}},
  };
  Random random(1);
  for (const Case& each : cases) {
    size_t with_keys = 0;
    for (int i = 0; i < 20000; ++i) {
      const std::string text = print_as(each.printf_format, common_double(random));
      const auto number = scan(text);
      ASSERT_TRUE(number) << text;
      ASSERT_EQ(number->characters, text.size()) << text;
      const auto key = key_of(*number, each.format);
      if (!key) continue;
      ++with_keys;
      ASSERT_EQ(print_as(*key, each.format), text);
    }
    EXPECT_GT(with_keys, 18000u) << each.printf_format;
  }
}

TEST(Decimal, KeysAreInTheOrderOfValues) {
  const Format format{Notation::general, 6, false, -20};
  Random random(2);
  for (int i = 0; i < 20000; ++i) {
    const std::string one = print_as("%g", common_double(random)), other = print_as("%g", common_double(random));
    const auto a = key_of(*scan(one), format), b = key_of(*scan(other), format);
    if (!a || !b || std::stod(one) == std::stod(other)) continue;
    EXPECT_EQ(*a < *b, std::stod(one) < std::stod(other)) << one << " " << other;
  }
}

TEST(Decimal, ANumberThatWouldBePrintedOtherwiseHasNoKey) {
  const Format general{Notation::general, 6, false, -20}, fixed{Notation::fixed, 2, false, 0};
  for (const char* text : {"0.50", "1234567", "0.00001", "1e+03", "1.0", "12e+08", "-0.0", "0e+00", "1E-07"}) {
    const auto number = scan(text);
    ASSERT_TRUE(number) << text;
    EXPECT_FALSE(key_of(*number, general)) << text;
  }
  for (const char* text : {"1", "1.5", "1.555", "1.55e+00"}) EXPECT_FALSE(key_of(*scan(text), fixed)) << text;
}

TEST(Decimal, WhatIsNoPlainNumberIsNotScanned) {
  for (const char* text :
       {"", "-", "+1", ".5", "007", "-01", "nan", "1e-00", "1e+0123", "1234567890123456789", "1e+012"})
    EXPECT_FALSE(scan(text)) << text;
  for (const char* text : {"1.", "1e5", "1e+5", "1..2"}) EXPECT_EQ(scan(text)->characters, 1) << text;
}

TEST(Decimal, FractionsAsFortranPrintsThem) {
  const Format format{Notation::fraction, 7, true, -20};
  for (const char* text : {"0.1234567E+01", "-0.9999999E-04", "0.0000000E+00", "0.1000000E+02"}) {
    const auto key = key_of(*scan(text), format);
    ASSERT_TRUE(key) << text;
    EXPECT_EQ(print_as(*key, format), text);
  }
  EXPECT_FALSE(key_of(*scan("1.234567E+00"), format));
  EXPECT_FALSE(key_of(*scan("0.0123456E+00"), format));
}

TEST(Decimal, ValuesLeadBackToTheirKeys) {
  Random random(3);
  for (const uint8_t digits : {uint8_t{1}, uint8_t{6}, uint8_t{9}, uint8_t{15}}) {
    const Format format{Notation::general, digits, false, -20};
    for (int i = 0; i < 20000; ++i) {
      const auto key = key_of(*scan(print_as(fmt::format("%.{}g", digits).c_str(), common_double(random))), format);
      if (!key) continue;
      const int64_t expected = *key == -1 ? 0 : *key;  // the value of -0
      EXPECT_EQ(nearest_key(value_of(*key, format), format), expected);
    }
  }
}

TEST(Decimal, AnyKeyPrintsAndAnyValueHasAKey) {
  Random random(4);
  for (uint8_t notation = 0; notation < kNotations; ++notation)
    for (int i = 0; i < 20000; ++i) {
      Format format{static_cast<Notation>(notation), static_cast<uint8_t>(random.next() % 18), false,
                    static_cast<int16_t>(kLeastExponent + static_cast<int>(random.next() % 1401))};
      if (!is_valid(format)) continue;
      const auto key = static_cast<int64_t>(random.next() >> random.next() % 64);
      const std::string text = print_as(random.next() % 2 == 0 ? key : -key, format);
      EXPECT_LE(text.size(), kMostCharacters);
      if (!format.has_exponents()) continue;
      (void)value_of(key, format);
      (void)print_as(nearest_key(any_double(random), format), format);
    }
}

TEST(Lines, TemplatesAreWhatStandsBetweenNumbers) {
  const std::string text = "atom 12 C1 -0.5  3e-05;\natom 13 H2 0.25 4e-05;\nno numbers\n1-2\nlast 5";
  const Lines lines = split_lines(text, text.size());
  ASSERT_EQ(lines.lines.size(), 5u);
  ASSERT_EQ(lines.templates.size(), 3u);
  EXPECT_EQ(lines.templates[0].literals, (std::vector<std::string_view>{"atom", " C1", "", ";"}));
  EXPECT_EQ(lines.templates[1].literals, (std::vector<std::string_view>{"atom", " H2", "", ";"}));
  EXPECT_EQ(lines.templates[2].literals, (std::vector<std::string_view>{"", "", ""}));
  EXPECT_EQ(lines.lines[2].template_number, 0u);
  EXPECT_EQ(lines.lines[4].template_number, 0u);
  ASSERT_EQ(lines.numbers[3].size(), 6u);
  EXPECT_EQ(lines.numbers[3][1].digits, 5u);
  EXPECT_EQ(lines.numbers[3][2].blanks, 2);
  EXPECT_EQ(lines.numbers[2].size(), 2u);
}

TEST(Lines, OnlyNumbersAreMostlyNumbers) {
  std::string numbers, prose, binary;
  for (int i = 0; i < 1000; ++i) {
    numbers += fmt::format("{} {:.3f}\n", i, i * 0.37);
    prose += "for each of the 3 ranks, say what it holds;\n";
    binary += fmt::format("{}\0{}", i, i);
  }
  EXPECT_TRUE(is_mostly_numbers(numbers));
  EXPECT_FALSE(is_mostly_numbers(prose));
  EXPECT_FALSE(is_mostly_numbers(numbers + '\0' + numbers.substr(0, 10) + std::string(9000, '\1')));
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
FrameShape shape_of(std::initializer_list<size_t> blocks) {
  FrameShape shape{kBytes, {}};
  for (const size_t bytes : blocks) shape.blocks.push_back(Block{{1, 1, 1, bytes}});
  return shape;
}

// The size of the encoded form, which decodes to `text` again; 0 if there is none.
size_t round_trip(const std::string& text, const FrameShape& shape, Effort effort = Effort::balanced) {
  const Bytes encoded = encode(shape, bytes_of(text), effort);
  if (encoded.empty()) return 0;
  std::string back(text.size(), '?');
  const auto result = decode(encoded, std::as_writable_bytes(std::span(back)));
  EXPECT_TRUE(result.has_value());
  EXPECT_TRUE(back == text);
  return encoded.size();
}
size_t round_trip(const std::string& text) { return round_trip(text, shape_of({text.size()})); }

size_t zstd_size(const std::string& text) {
  return codec::encode({{kZstdId, 9, {}}}, shape_of({text.size()}), bytes_of(text)).payload.size();
}

// A field as finite-volume codes print them, of `cells` cells that drift by `shift`.
std::string field(size_t cells, double shift) {
  std::string text =
      fmt::format("FoamFile\n{{\n    object U;\n}}\ninternalField nonuniform List<vector>\n{}\n(\n", cells);
  for (size_t i = 0; i < cells; ++i) {
    const double x = 0.01 * static_cast<double>(i % 64), y = 0.02 * static_cast<double>(i / 64);
    text += fmt::format("({:.6g} {:.6g} {:.6g})\n", std::sin(3 * x + shift) + y, std::cos(x * y) * 1e-3, x * y - shift);
  }
  return text + ")\n;\n\n";
}

std::string particles(size_t count, bool is_sorted, uint64_t seed) {
  Random random(seed);
  std::vector<size_t> ids(count);
  for (size_t i = 0; i < count; ++i) ids[i] = i + 1;
  if (!is_sorted)
    for (size_t i = count; i > 1; --i) std::swap(ids[i - 1], ids[random.next() % i]);
  std::string text = fmt::format("ITEM: TIMESTEP\n{}\nITEM: ATOMS id type x y z\n", seed);
  for (const size_t id : ids) {
    Random place(id);  // nearly the same in every frame
    const auto at = [&] {
      return static_cast<double>(place.next() % 100000) / 1000 + static_cast<double>(random.next() % 100) * 1e-4;
    };
    text += fmt::format("{} {} {:.6g} {:.6g} {:.6g} \n", id, id % 3 + 1, at(), at(), at());
  }
  return text;
}

TEST(Text, FieldsShrinkFarBelowWhatASearchForMatchesLeaves) {
  const std::string text = field(20000, 0) + field(20000, 0.01) + field(20000, 0.02);
  for (const Effort effort : {Effort::fast, Effort::balanced, Effort::max}) {
    const size_t size = round_trip(text, shape_of({text.size()}), effort);
    EXPECT_GT(size, 0u);
    EXPECT_LT(size * 2, zstd_size(text));
  }
}

TEST(Text, ParticlesAreFoundByTheirIds) {
  std::string sorted, unsorted;
  for (uint64_t step = 1; step <= 4; ++step) {
    sorted += particles(5000, true, step);
    unsorted += particles(5000, false, step);
  }
  const size_t in_order = round_trip(sorted), by_id = round_trip(unsorted);
  EXPECT_LT(in_order * 3, zstd_size(sorted) * 2);
  EXPECT_LT(by_id * 3, zstd_size(unsorted) * 2);
}

TEST(Text, TablesOfManyFormats) {
  const std::function<std::string(double, int)> formats[] = {
      [](double v, int i) { return fmt::format("{},{:.16e},{:.8e}\n", i, v, v * v); },
      [](double v, int i) { return fmt::format("{:8d}{:12.5f}{:15.6e}\n", i, v, v * 1e-9); },
      [](double v, int i) { return fmt::format("{:<8d}{:<14.8g} {:.12g};\r\n", i, v, v * 1e7); },
      [](double v, int i) { return fmt::format("step {} dt={} E={:.3E}\n", i, v * 0.25, v); },
      [](double v, int i) { return fmt::format("{} {}\n", v, i % 7 == 0 ? "nan" : fmt::format("{:.2f}", v)); },
  };
  for (const auto& format : formats) {
    std::string text;
    for (int i = 0; i < 6000; ++i) text += format(std::sin(i * 0.01) * 10, i);
    const size_t size = round_trip(text);
    EXPECT_GT(size, 0u) << text.substr(0, 80);
    EXPECT_LT(size, zstd_size(text)) << text.substr(0, 80);
  }
}

TEST(Text, PiecesOfFilesAndOtherBytesInBetween) {
  const std::string one = field(3000, 0), other = field(3000, 0.3);
  std::string noise(5000, '\0');
  Random random(7);
  for (char& c : noise) c = static_cast<char>(random.next());
  const std::string text = one.substr(100) + noise + other + "a short one\n" + other.substr(0, other.size() - 7);
  const auto shape = shape_of({one.size() - 100, noise.size(), other.size(), 12, other.size() - 7});
  const size_t size = round_trip(text, shape);
  EXPECT_GT(size, 0u);
  EXPECT_LT(size, zstd_size(text));
}

TEST(Text, ALongTextIsCutBetweenItsRuns) {
  std::string text;
  while (text.size() < 3 * kMostSection) text += particles(9000, true, text.size());
  const size_t size = round_trip(text);
  EXPECT_GT(size, 0u);
  EXPECT_LT(size * 3, zstd_size(text) * 2);
}

// Sections of all sizes, which end anywhere, and lines that have as many numbers as a section may have, or more.
TEST(Text, SectionsOfAnySizeComeBack) {
  Random random(21);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (uint64_t run = random.next() % 6 + 1; run > 0; --run) {
      const uint64_t numbers = random.next() % 12 + 1, digits = random.next() % 5 + 1, lines = random.next() % 200;
      for (uint64_t line = 0; line < lines; ++line) {
        for (uint64_t i = 0; i < numbers; ++i)
          text += fmt::format("{} ", random.next() % static_cast<uint64_t>(std::pow(10, digits)));
        text += '\n';
      }
      if (random.next() % 2 == 0) text += "a head: 7\n";
    }
    const Cuts cuts{0, size_t{random.next() % 4000 + 100}};
    const Bytes encoded = encode(shape_of({text.size()}), bytes_of(text), Effort::fast, cuts);
    if (encoded.empty()) continue;
    std::string back(text.size(), '?');
    ASSERT_TRUE(decode(encoded, std::as_writable_bytes(std::span(back))).has_value()) << round;
    ASSERT_TRUE(back == text) << round;
  }
}

TEST(Text, WhatHasNoTablesIsDeclined) {
  EXPECT_EQ(round_trip(""), 0u);
  EXPECT_EQ(round_trip("1 2 3\n"), 0u);
  std::string dense, prose;
  for (int i = 0; i < 20000; ++i) {
    dense += "1\n";  // more numbers than memory is kept for
    prose += "the quick brown fox\n";
  }
  EXPECT_EQ(round_trip(dense), 0u);
  EXPECT_EQ(round_trip(prose), 0u);
}

TEST(Text, DamageIsNoticedOrHarmless) {
  const std::string text = field(2000, 0) + particles(700, false, 1) + particles(700, false, 2);
  const Bytes encoded = encode(shape_of({text.size()}), bytes_of(text), Effort::balanced);
  ASSERT_FALSE(encoded.empty());
  Bytes back(text.size());
  Random random(9);
  for (int i = 0; i < 1000; ++i) {
    Bytes damaged = encoded;
    for (uint64_t changes = random.next() % 3 + 1; changes > 0; --changes)
      damaged[random.next() % damaged.size()] = static_cast<std::byte>(random.next());
    if (random.next() % 4 == 0) damaged.resize(random.next() % damaged.size());
    (void)decode(damaged, back);
  }
  EXPECT_FALSE(decode(encoded, std::span(back).first(back.size() - 1)).has_value());
  Bytes longer(text.size() + 1);
  EXPECT_FALSE(decode(encoded, longer).has_value());
}

}  // namespace
}  // namespace forebay::codec::text
