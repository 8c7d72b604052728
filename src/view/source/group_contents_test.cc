#include "view/source/group_contents.h"

#include <array>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/test_sets.h"
#include "io/file/growing_file.h"
#include "io/file/part.h"
#include "io/method/staged_file.h"
#include "view/read/selection.h"
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

// What a rank wrote: each name with its elements; "text" in the name makes a string of them.
io::ProcessGroup group_of(uint32_t rank, const std::string& name,
                          std::span<const std::pair<std::string, Bytes>> blocks) {
  io::ProcessGroup group{.group = name, .time_index_name = "", .rank = rank};
  for (const auto& [variable, bytes] : blocks) {
    io::Block block{.name = variable, .type = io::ValueType::int8, .is_array = true, .shape = {bytes.size()}};
    if (variable.contains("text")) block = {.name = variable, .type = io::ValueType::string};
    block.bytes = bytes;
    group.blocks.push_back(block);
  }
  return group;
}

TEST_F(GroupContentsTest, VariablesAreThoseOfTheProgram) {
  const auto bytes = [](std::string_view text) { return Bytes(as_bytes(text).begin(), as_bytes(text).end()); };
  const std::vector<std::pair<std::string, Bytes>> both{
      {"/a", bytes("one")}, {"a", bytes("two")}, {"/text", bytes("hello")}};
  constexpr uint32_t kRanks = 70;  // more than would be looked into if each had variables of its own
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    std::vector<std::pair<std::string, Bytes>> blocks = both;
    blocks.emplace_back(fmt::format("/text{}", rank), bytes("own"));
    const std::array groups{group_of(rank, "g", blocks), group_of(rank, "h", std::span(both).first(1))};
    ASSERT_TRUE(io::write_staged(tree() + "/" + io::staged_file_name(rank), groups));
  }
  pack_ok(options());
  const auto run = open_run(store_path(), {.resources = resources()});
  ASSERT_TRUE(run) << run.error().message();
  const auto step = (*run)->step(0);
  ASSERT_TRUE(step) << step.error().message();
  EXPECT_TRUE((*step)->remarks().empty());
  std::map<std::string, const Array*> arrays;
  for (const Array& array : (*step)->arrays()) arrays[array.name] = &array;
  EXPECT_EQ(arrays.size(), kRanks + 4u);  // "/a" of both groups, "a", "/text"
  ASSERT_TRUE(arrays.contains("a") && arrays.contains("/a") && arrays.contains("/text") && arrays.contains("/text69"));
  EXPECT_EQ(arrays["a"]->blocks, kRanks);
  EXPECT_EQ(arrays["/text"]->form, Form::scalar);
  EXPECT_EQ(arrays["/text69"]->type.value, io::ValueType::string);
  const auto blocks = (*step)->blocks(static_cast<size_t>(arrays["a"] - (*step)->arrays().data()));
  ASSERT_TRUE(blocks);
  std::string value(3, ' ');
  const Request request{step->get(), static_cast<size_t>(arrays["a"] - (*step)->arrays().data()), WrittenBlock{7, {}},
                        std::as_writable_bytes(std::span(value))};
  ASSERT_FALSE(read({&request, 1}).outcomes[0].error);
  EXPECT_EQ(value, "two");
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
