#include "view/source/group_contents.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/test_sets.h"
#include "io/file/growing_file.h"
#include "io/file/part.h"
#include "view/source/run.h"

namespace forebay::view {
namespace {

class GroupContentsTest : public engine::SetTest {
 protected:
  // A file of one rank's process groups, each with its unit.
  void write_groups(const std::string& path, const std::vector<std::string>& units) {
    const auto file = io::GrowingFile::create(path);
    ASSERT_TRUE(file);
    io::Listing all;
    uint64_t at = (*file)->end();
    for (size_t step = 0; step < units.size(); ++step) {
      const std::vector<double> values{1, 2, 3, 4};
      io::ProcessGroup group{.group = "g", .time_index_name = "", .rank = 0, .step = step};
      group.time_index = static_cast<uint32_t>(step + 1);
      io::Block block{.name = "field", .type = io::ValueType::float64, .is_array = true, .shape = {4}};
      block.bytes = std::as_bytes(std::span(values));
      group.blocks.push_back(block);
      const auto unit = as_bytes(units[step]);
      group.attributes.push_back({.name = "/field/unit",
                                  .type = io::ValueType::string,
                                  .value = Bytes(unit.begin(), unit.end()),
                                  .variable = {}});
      auto part = io::EncodedPart::make(group, {.container_id = (*file)->container_id()});
      ASSERT_TRUE(part) << part.error().error.message();
      part->listing().shift(at);
      all.merge(part->listing());
      for (const auto piece : part->pieces()) {
        ASSERT_EQ(::pwrite((*file)->fd(), piece.data(), piece.size(), static_cast<off_t>(at)),
                  static_cast<ssize_t>(piece.size()));
        at += piece.size();
      }
    }
    ASSERT_TRUE((*file)->commit(all, at, false));
  }
};

TEST_F(GroupContentsTest, OfAPackedFileAreThoseOfTheStep) {
  write_groups(tree() + "/restart.0.fb", {"K", "eV"});
  const std::string text = engine::read_text(tree() + "/restart.0.fb");
  const MemorySource source(as_bytes(text));
  const auto alone = contents_of_groups(source);
  ASSERT_TRUE(alone) << alone.error().message();
  ASSERT_EQ(alone->attributes.size(), 1u);
  EXPECT_EQ(as_text(alone->attributes.front().value), "eV");  // what was written last
  pack_ok(options());
  const auto run = open_run(store_path(), {.resources = resources()});
  ASSERT_TRUE(run) << run.error().message();
  const auto step = (*run)->step(0);
  ASSERT_TRUE(step) << step.error().message();
  ASSERT_FALSE((*step)->arrays().empty());
  ASSERT_EQ((*step)->attributes().size(), 1u);
  const Attribute& unit = (*step)->attributes().front();
  EXPECT_EQ(unit.name, "/field/unit");
  EXPECT_EQ(unit.group, "g");
  EXPECT_EQ(as_text(unit.value), "eV");
  EXPECT_EQ(unit.type.value, io::ValueType::string);
}

TEST_F(GroupContentsTest, OfDamagedFilesAreErrorsOrNone) {
  write_groups(tree() + "/restart.0.fb", {"K"});
  const std::string text = engine::read_text(tree() + "/restart.0.fb");
  for (size_t at = 0; at < text.size(); at += 7) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    const MemorySource source(as_bytes(damaged));
    const auto found = contents_of_groups(source);
    EXPECT_TRUE(!found || found->attributes.size() <= 1u);
  }
}

}  // namespace
}  // namespace forebay::view
