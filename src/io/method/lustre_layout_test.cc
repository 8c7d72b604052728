// On layouts made by hand, from the structures of lustre_user.h.
#include "io/method/lustre_layout.h"

#include <cstring>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/method/container_method.h"

namespace forebay::io {
namespace {

template <class T>
void put(Bytes& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// As `lfs setstripe -c COUNT DIRECTORY` makes them; with a pool's name if `magic` says so.
Bytes plain(uint16_t count, uint32_t magic = 0x0BD10BD0) {
  Bytes bytes(magic == 0x0BD10BD0 ? 32 : 48);
  put(bytes, 0, magic);
  put<uint32_t>(bytes, 4, 1);         // RAID 0
  put<uint32_t>(bytes, 24, 1 << 20);  // bytes of a stripe
  put(bytes, 28, count);
  put<uint16_t>(bytes, 30, 0xFFFF);  // any target first
  return bytes;
}

// As `lfs setstripe -E 1M -c A -E 1G -c B ... DIRECTORY`.
Bytes composite(const std::vector<uint16_t>& counts) {
  const size_t first = 32 + 48 * counts.size();
  Bytes bytes(first);
  put<uint32_t>(bytes, 0, 0x0BD60BD0);
  put<uint16_t>(bytes, 14, static_cast<uint16_t>(counts.size()));
  for (size_t i = 0; i < counts.size(); ++i) {
    const Bytes component = plain(counts[i], i % 2 ? 0x0BD30BD0 : 0x0BD10BD0);
    put<uint32_t>(bytes, 32 + 48 * i + 24, static_cast<uint32_t>(bytes.size()));
    put<uint32_t>(bytes, 32 + 48 * i + 28, static_cast<uint32_t>(component.size()));
    bytes.insert(bytes.end(), component.begin(), component.end());
  }
  put<uint32_t>(bytes, 4, static_cast<uint32_t>(bytes.size()));
  return bytes;
}

TEST(LustreLayout, HasAStripeCount) {
  EXPECT_EQ(stripe_count(plain(4)), 4u);
  EXPECT_EQ(stripe_count(plain(248, 0x0BD30BD0)), 248u);
  EXPECT_EQ(stripe_count(plain(2, 0x0BD50BD0)), 2u);
  EXPECT_EQ(stripe_count(composite({1, 4, 64})), 64u);
  EXPECT_EQ(stripe_count(composite({0, 8})), 8u) << "the first part lies with the metadata";
}

TEST(LustreLayout, MayLeaveTheNumberToTheFileSystem) {
  EXPECT_EQ(stripe_count(plain(0)), std::nullopt);
  EXPECT_EQ(stripe_count(plain(0xFFFF)), std::nullopt);
  EXPECT_EQ(stripe_count(plain(0xFFE0)), std::nullopt);
  EXPECT_EQ(stripe_count(composite({1, 0xFFFF})), std::nullopt);
  EXPECT_EQ(stripe_count(composite({})), std::nullopt);
}

TEST(LustreLayout, IsHostile) {
  for (const Bytes& whole : {plain(4), plain(4, 0x0BD30BD0), composite({1, 4, 64})}) {
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(bytes));  // so that sanitizers see its end
      if (const auto count = stripe_count(cut)) {
        EXPECT_TRUE(bytes >= 32 && *count == 4) << bytes;
      }
    }
    std::mt19937 random(7);
    for (int i = 0; i < 50000; ++i) {
      Bytes changed = whole;
      for (int k = 0; k < 3; ++k)
        changed[random() % changed.size()] = static_cast<std::byte>(random() % 3 ? random() : 255);
      changed.resize(changed.size() - (random() % 4 ? 0 : random() % changed.size()));
      if (const auto count = stripe_count(changed)) {
        EXPECT_TRUE(*count > 0 && *count < 0xFFE0);
      }
    }
  }
  EXPECT_EQ(stripe_count(Bytes(64)), std::nullopt);
}

TEST(LustreLayout, IsNothingElsewhere) {
  EXPECT_EQ(lustre_stripe_count(testing::TempDir()), std::nullopt);
  EXPECT_EQ(lustre_stripe_count("/no/such/directory"), std::nullopt);
}

// How many subfiles four ranks make, where the file system has so many targets.
size_t subfiles(std::optional<uint32_t> targets) {
  namespace fs = std::filesystem;
  const fs::path directory = fs::path(testing::TempDir()) / ("forebay-targets-" + std::to_string(getpid()));
  fs::create_directories(directory);
  std::string asked;
  {
    auto ranks = thread_ranks(4);
    std::vector<std::jthread> threads;
    for (auto& rank : ranks)
      threads.emplace_back([&, own = std::shared_ptr<Communicator>(std::move(rank))]() mutable {
        ContainerLayout layout{.subfiles = [](uint32_t all) { return all; }};
        layout.targets = [&](const std::string& path) {
          asked += path;  // by one rank
          return targets;
        };
        const auto method = container_method(std::move(layout));
        GroupDefinition group;
        group.name = "g";
        auto file = method->open(
            {.path = directory / "file.fb", .mode = OpenMode::write, .group = &group, .communicator = std::move(own)});
        ASSERT_TRUE(file);
        EXPECT_TRUE((*file)->close({}));
      });
  }
  EXPECT_EQ(asked, directory / "file.fb.dir");
  const auto made = std::distance(fs::directory_iterator(directory / "file.fb.dir"), {});
  fs::remove_all(directory);
  return static_cast<size_t>(made);
}

TEST(LustreLayout, SaysHowManyFilesRanksShare) {
  EXPECT_EQ(subfiles(2), 2u);
  EXPECT_EQ(subfiles(3), 3u);
  EXPECT_EQ(subfiles(248), 4u);
  EXPECT_EQ(subfiles(std::nullopt), 4u);
}

}  // namespace
}  // namespace forebay::io
