#include "engine/inspect/rebase.h"

#include <chrono>
#include <filesystem>
#include <fstream>

#include "engine/inspect/verify.h"
#include "engine/test_gas.h"
#include "store/files.h"

namespace forebay::engine {
namespace {

namespace fs = std::filesystem;

class RebaseTest : public GasTest {
 protected:
  void pack_on(const std::string& name, const std::string& parent) const {
    PackOptions options = named(name);
    options.parent = parent;
    options.group_size = 2;
    pack_ok(options);
  }
  void expect_whole(const std::string& name) const {
    EXPECT_TRUE(verify_ok(name).intact()) << name;
    ASSERT_TRUE(restore_to("back-" + name, name));
    EXPECT_EQ(expect_subset("back-" + name), 3u);
  }
};

// Frames that were predicted from others where they lay, among them: these cannot be taken over as they are.
TEST_F(RebaseTest, WhatLayInTheOtherSetIsItsOwn) {
  write_gas(0.76);
  for (const auto& [name, parent] : {std::pair("a", ""), std::pair("b", "a"), std::pair("c", "b")})
    pack_on(name, parent);
  const OpenSet before = open("b");
  ASSERT_FALSE(before.manifest.parents.empty());
  const auto report = rebase(open_store(), "b", {"a"}, resources());
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_GT(report->frames, 0u);
  EXPECT_EQ(report->raw_bytes, before.manifest.parents.front().raw_bytes);

  ASSERT_TRUE(rebase(open_store(), "c", {"a"}, resources()));
  ASSERT_TRUE(open_store().remove("a"));
  const OpenSet after = open("b");
  EXPECT_TRUE(after.manifest.parents.empty());
  EXPECT_EQ(after.manifest.since_full, 0u);
  EXPECT_EQ(after.manifest.created_ns, before.manifest.created_ns);
  EXPECT_EQ(after.manifest.step, before.manifest.step);
  for (size_t i = 0; i < before.containers.size(); ++i) {
    const auto& was = *before.containers[i].reader;
    const auto& is = *after.containers[i].reader;
    EXPECT_EQ(was.id(), is.id());
    EXPECT_EQ(was.index().file_crcs, is.index().file_crcs);
    EXPECT_EQ(was.index().characteristics, is.index().characteristics);
    EXPECT_EQ(was.index().cubes.has_value(), is.index().cubes.has_value());
  }
  expect_whole("b");
  expect_whole("c");
  EXPECT_TRUE(store::names_in(store_path() + "/staging")->empty());
}

TEST_F(RebaseTest, ADamagedParentChangesNothing) {
  write_gas(0.76);
  pack_on("a", "");
  pack_on("b", "a");
  const std::string manifest = read_text(set_path("b") + "/manifest");
  flip_bit(container_path("a", 1), fs::file_size(container_path("a", 1)) / 2, 3);
  const auto report = rebase(open_store(), "b", {"a"}, resources());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(read_text(set_path("b") + "/manifest"), manifest);
}

// As a process leaves it that dies when the two are exchanged: what was there before is cleaned away, though it is a
// set that others refer to.
TEST_F(RebaseTest, WhatADeadOneLeftIsCleanedAway) {
  write_gas(0.76);
  pack_on("a", "");
  pack_on("b", "a");
  const std::string left = store_path() + "/staging/a.elsewhere.1.0123456789abcdef";
  fs::copy(set_path("a"), left, fs::copy_options::recursive);
  std::ofstream(left + ".lock").flush();
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(48);
  for (const auto& entry : fs::recursive_directory_iterator(store_path() + "/staging"))
    fs::last_write_time(entry.path(), old);
  ASSERT_TRUE(store::Store::open_for_writing(store_path()));
  EXPECT_FALSE(fs::exists(left));
  expect_whole("b");
}

}  // namespace
}  // namespace forebay::engine
