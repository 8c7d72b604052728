#include "engine/restore/entries.h"

#include <gtest/gtest.h>

namespace forebay::engine {
namespace {

constexpr auto kFile = FileKind::regular, kDirectory = FileKind::directory, kLink = FileKind::symlink;

Entry entry(std::string_view name, FileKind kind = kFile, size_t container = 0) {
  return {.name = name, .link_target = kind == kLink ? "target" : "", .kind = kind, .container = container};
}

std::vector<std::string> misfits(std::vector<Entry> entries) {
  std::vector<std::string> names;
  for (const Misfit& misfit : find_misfits(std::move(entries))) names.emplace_back(misfit.entry.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Entries, WhatADirectoryCanHoldIsFine) {
  EXPECT_EQ(misfits({}), Names{});
  EXPECT_EQ(misfits({entry("d/x"), entry("d", kDirectory), entry("d.x"), entry("d-", kLink), entry("e/f/g"),
                     entry("e/f", kDirectory), entry("e.f")}),
            Names{});
}

TEST(Entries, TwoOfOneNameAreNot) {
  const auto found = find_misfits({entry("b"), entry("a", kFile, 3), entry("c"), entry("a", kDirectory, 5)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].entry.name, "a");
  EXPECT_EQ(found[0].entry.container, 5u) << "the second one";
  EXPECT_EQ(misfits({entry("d", kDirectory), entry("d", kDirectory)}), Names{"d"});
}

TEST(Entries, NothingLiesBelowAFileOrALink) {
  EXPECT_EQ(misfits({entry("a/b/c"), entry("a")}), Names{"a/b/c"});
  EXPECT_EQ(misfits({entry("a", kLink), entry("a-"), entry("a.b"), entry("a/b")}), Names{"a/b"});
  EXPECT_EQ(misfits({entry("a"), entry("a/d", kDirectory), entry("a/d/x"), entry("a/e")}),
            (Names{"a/d", "a/d/x", "a/e"}));
  EXPECT_EQ(misfits({entry("a/d"), entry("a", kDirectory), entry("a/d/x")}), Names{"a/d/x"});
}

TEST(Entries, LinksNeedATarget) {
  const std::string with_nul("a\0b", 3), far(5000, 'x');
  for (const std::string_view target : {std::string_view(), std::string_view(with_nul), std::string_view(far)}) {
    EXPECT_EQ(find_misfits({{.name = "l", .link_target = target, .kind = kLink}}).size(), 1u) << target.size();
    EXPECT_TRUE(find_misfits({{.name = "l", .link_target = target, .kind = kFile}}).empty()) << "not looked at";
  }
}

TEST(Entries, NoComponentIsLongerThanADirectoryTakes) {
  const std::string most(255, 'x');
  const std::string in_d = "d/" + most, in_e = "e/" + most + "/f", twice = most + "/" + most;
  EXPECT_EQ(misfits({entry(in_d), entry(in_e), entry(twice)}), Names{});
  const std::string long_name = "d/" + most + "x/f";
  EXPECT_EQ(misfits({entry(long_name)}), Names{long_name});
}

TEST(Entries, ThereIsNoEndlessList) {
  std::vector<Entry> same(100'000, entry("same"));
  EXPECT_EQ(find_misfits(std::move(same)).size(), 100u);
}

}  // namespace
}  // namespace forebay::engine
