#include <atomic>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "forebay/forebay_codec.h"

namespace {

using testing::HasSubstr;

std::vector<float> field(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i) / 90) * 100;
  return values;
}

std::vector<char> compressed(const std::vector<float>& values, const std::vector<uint64_t>& dims,
                             const char* profile = nullptr) {
  std::vector<char> out(forebay_codec_bound(values.size() * sizeof(float)));
  size_t size = 0;
  EXPECT_EQ(forebay_codec_compress(profile, "f4", static_cast<unsigned>(dims.size()), dims.data(), values.data(),
                                   out.data(), out.size(), &size),
            FOREBAY_OK)
      << forebay_message();
  out.resize(size);
  return out;
}

TEST(CodecLibrary, AnArrayComesBack) {
  const std::vector<float> values = field(40 * 50 * 6);
  for (const char* profile : {"fast", "balanced", "max", "shuffle,zstd:1"}) {
    const std::vector<char> encoded = compressed(values, {40, 50, 6}, profile);
    EXPECT_LT(encoded.size(), values.size() * sizeof(float) * 9 / 10) << profile;
    char type[8];
    unsigned dimensions = 0;
    uint64_t dims[FOREBAY_CODEC_MOST_DIMENSIONS], bytes = 0;
    ASSERT_EQ(forebay_codec_describe(encoded.data(), encoded.size(), type, &dimensions, dims, &bytes), FOREBAY_OK);
    EXPECT_STREQ(type, "f4");
    EXPECT_EQ(std::vector<uint64_t>(dims, dims + dimensions), (std::vector<uint64_t>{40, 50, 6}));
    EXPECT_EQ(bytes, values.size() * sizeof(float));
    EXPECT_EQ(forebay_codec_describe(encoded.data(), encoded.size(), nullptr, nullptr, nullptr, nullptr), FOREBAY_OK);
    std::vector<float> back(values.size());
    ASSERT_EQ(forebay_codec_decompress(encoded.data(), encoded.size(), back.data(), bytes), FOREBAY_OK);
    EXPECT_EQ(back, values);
  }
}

TEST(CodecLibrary, WhatMakesNoSenseIsRefusedWithAText) {
  const float value = 1;
  char out[256];
  size_t size = 7;
  const uint64_t dims[] = {3};
  EXPECT_EQ(forebay_codec_compress("fsat", "f4", 0, nullptr, &value, out, sizeof out, &size), FOREBAY_ARGUMENT);
  EXPECT_THAT(forebay_message(), HasSubstr("fast"));
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(forebay_codec_compress("fast", "f3", 0, nullptr, &value, out, sizeof out, &size), FOREBAY_ARGUMENT);
  EXPECT_EQ(forebay_codec_compress("fast", "f4", 1, nullptr, &value, out, sizeof out, &size), FOREBAY_ARGUMENT);
  EXPECT_EQ(forebay_codec_compress("fast", "f4", 1, dims, nullptr, out, sizeof out, &size), FOREBAY_ARGUMENT);
  EXPECT_EQ(forebay_codec_compress("fast", "f4", 0, nullptr, &value, out, 20, &size), FOREBAY_ARGUMENT);
  EXPECT_THAT(forebay_message(), HasSubstr("20 bytes"));
  const uint64_t huge[] = {uint64_t{1} << 40};
  EXPECT_EQ(forebay_codec_compress("fast", "f4", 1, huge, &value, out, sizeof out, &size), FOREBAY_LIMIT);
  ASSERT_EQ(forebay_codec_compress("fast", "f4", 0, nullptr, &value, out, sizeof out, &size), FOREBAY_OK);
  float two[2];
  EXPECT_EQ(forebay_codec_decompress(out, size, two, sizeof two), FOREBAY_ARGUMENT);
  EXPECT_EQ(forebay_codec_decompress(nullptr, size, two, sizeof value), FOREBAY_ARGUMENT);
}

TEST(CodecLibrary, DamageIsFound) {
  const std::vector<float> values = field(5000);
  std::vector<char> encoded = compressed(values, {5000});
  std::vector<float> back(values.size());
  for (size_t at = 0; at < encoded.size(); at += 1 + encoded.size() / 100) {
    encoded[at] = static_cast<char>(encoded[at] ^ 4);
    const int code = forebay_codec_decompress(encoded.data(), encoded.size(), back.data(), back.size() * sizeof(float));
    EXPECT_TRUE(code == FOREBAY_DAMAGED || (code == FOREBAY_UNSUPPORTED && at == 3) ||
                (code == FOREBAY_OK && back == values))
        << at << ": " << code;
    encoded[at] = static_cast<char>(encoded[at] ^ 4);
  }
  EXPECT_EQ(forebay_codec_describe("no array", 8, nullptr, nullptr, nullptr, nullptr), FOREBAY_DAMAGED);
}

TEST(CodecLibrary, ManyThreadsAtOnce) {
  const std::vector<float> values = field(30'000);
  const std::vector<char> expected = compressed(values, {300, 100});
  std::atomic<int> good = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) good += compressed(values, {300, 100}) == expected;
    });
  threads.clear();
  EXPECT_EQ(good, 20);
}

}  // namespace
