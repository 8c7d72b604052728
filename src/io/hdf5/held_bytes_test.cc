#include "io/hdf5/held_bytes.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace forebay::hdf5 {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string seen(const HeldBytes& held, uint64_t offset, std::string under) {
  held.overlay(offset, std::as_writable_bytes(std::span(under)));
  return under;
}

TEST(HeldBytes, TheLatestBytesOfEachPlaceCount) {
  HeldBytes held;
  held.put(2, bytes_of("abcdef"));
  held.put(4, bytes_of("XY"));
  EXPECT_EQ(seen(held, 0, ".........."), "..abXYef..");
  EXPECT_EQ(seen(held, 3, "..."), "bXY");
  held.put(0, bytes_of("0123456789"));
  EXPECT_EQ(held.pieces().size(), 1u);
  held.put(0, {});
  EXPECT_EQ(seen(held, 0, ".........."), "0123456789");
}

TEST(HeldBytes, WhatIsCutOffIsGone) {
  HeldBytes held;
  held.put(1, bytes_of("abcd"));
  held.put(10, bytes_of("z"));
  held.cut(3);
  EXPECT_EQ(seen(held, 0, "............"), ".ab.........");
  held.cut(0);
  EXPECT_TRUE(held.pieces().empty());
}

TEST(HeldBytes, AnythingPutAnywhereIsSeenAsInAFile) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    HeldBytes held;
    std::string file(64, '.');
    for (int i = 0; i < 30; ++i) {
      const size_t offset = random() % 64, length = random() % (65 - offset);
      const std::string text(length, static_cast<char>('a' + random() % 26));
      held.put(offset, bytes_of(text));
      file.replace(offset, length, text);
      const size_t from = random() % 64, count = random() % (65 - from);
      ASSERT_EQ(seen(held, from, std::string(count, '.')), file.substr(from, count));
    }
    uint64_t last = 0;
    for (const auto& [begin, bytes] : held.pieces()) {
      ASSERT_GE(begin, last);
      ASSERT_FALSE(bytes.empty());
      last = begin + bytes.size();
    }
  }
}

}  // namespace
}  // namespace forebay::hdf5
