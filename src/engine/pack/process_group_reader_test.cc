#include "engine/pack/process_group_reader.h"

#include <filesystem>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/checksum.h"
#include "container/format.h"
#include "container/part_draft.h"
#include "engine/test_memory_sources.h"
#include "merge/plan.h"
#include "merge/similarity.h"

namespace forebay::engine {
namespace {

constexpr DataType kDouble{.kind = Kind::floating, .order = ByteOrder::little, .size = 8};

// One file whose bytes are two variables: a small one, and one of 300 rows of 64 bytes, which frames of 4 KiB cut.
struct Group {
  explicit Group(const std::string& small = "small", const std::string& rows = "/grid/rows") {
    Layout layout{.format = "forebay", .variables = {}};
    // Programs need not begin names with a '/'.
    layout.variables.push_back({.path = small, .type = kDouble, .shape = {6, 4}, .extents = {{0, 192}}});
    layout.variables.push_back({.path = rows,
                                .type = kDouble,
                                .shape = {300, 8},
                                .extents = {{192, 19200}},
                                .global_shape = {1000, 8},
                                .global_offset = {500, 0}});
    catalogue.add({.name = "group", .size = 19392}, layout, merge::Similarity().keys(layout));
    std::mt19937_64 random(7);
    bytes.resize(19392);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  }

  // Appends it to `file` as a part of a container that grows, with its frames as they are, but for number `coded`,
  // which is made to look encoded.
  void append_to(Bytes& file, uint64_t number, uint32_t coded) const {
    const auto merged = merge::Plan::make(catalogue, plan);
    ASSERT_TRUE(merged);
    const auto put = [&](std::span<const std::byte> more) { file.insert(file.end(), more.begin(), more.end()); };
    auto draft = container::PartDraft::make(catalogue, plan,
                                            {.number = number, .container_id = 4711, .moment = {}, .description = {}});
    ASSERT_TRUE(draft);
    put(draft->head_front().bytes);
    put(draft->head());
    for (uint32_t i = 0; i < merged->frames().size(); ++i) {
      Bytes payload;
      for (const merge::Slice& slice : merged->slices(merged->frames()[i]))
        merged->for_each_extent(slice, [&](uint64_t offset, uint64_t length) {
          payload.insert(payload.end(), bytes.begin() + static_cast<ptrdiff_t>(offset),
                         bytes.begin() + static_cast<ptrdiff_t>(offset + length));
        });
      const uint64_t hash = hash64(payload), size = payload.size();
      if (i == coded) payload.resize(payload.size() / 2);
      const auto front = draft->append({.number = i,
                                        .raw_bytes = size,
                                        .raw_hash = hash,
                                        .recipe = {},
                                        .chain = "",
                                        .references = {},
                                        .payload = {}},
                                       payload.size(), hash64(payload), file.size());
      ASSERT_TRUE(front);
      put(front->bytes);
      put(payload);
    }
    const auto index = draft->finish({}, {}, file.size());
    ASSERT_TRUE(index);
    put(index->front.bytes);
    put(index->payload);
  }

  Catalogue catalogue;
  PlanSpec plan{.scheme = Scheme::aware, .block_bytes = 64, .frame_bytes = 4096, .share_bytes = 0};
  Bytes bytes;
};

class ProcessGroupReaderTest : public testing::Test {
 protected:
  ProcessGroupReaderTest() {
    std::string pattern = testing::TempDir() + "process-group-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~ProcessGroupReaderTest() override { std::filesystem::remove_all(directory_); }

  std::string write(const Group& group, size_t parts, uint32_t coded = UINT32_MAX) {
    return write(std::vector<Group>(parts, group), coded);
  }

  std::string write(const std::vector<Group>& groups, uint32_t coded = UINT32_MAX) {
    const std::string path = directory_ + "/file";
    const auto header = container::encode_file_header();
    Bytes bytes(header.begin(), header.end());
    for (size_t i = 0; i < groups.size(); ++i) groups[i].append_to(bytes, i + 1, coded);
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    return path;
  }

  static Bytes gather(const ByteSource& source, const Variable& variable) {
    Bytes all;
    for (const Extent& extent : variable.extents) {
      Bytes piece(extent.length);
      EXPECT_TRUE(source.read_at(extent.offset, piece));
      all.insert(all.end(), piece.begin(), piece.end());
    }
    return all;
  }

  static format::ReadLayout read(const ByteSource& source) {
    static const ProcessGroupReader reader;
    static const std::array<const format::FormatReader*, 1> readers = {&reader};
    const auto layout = format::read_layout(source, "file", {.raw_description = "", .opaque = false, .more = readers});
    EXPECT_TRUE(layout) << layout.error().message();
    return layout.value_or(format::ReadLayout{});
  }

  std::string directory_;
};

TEST_F(ProcessGroupReaderTest, FindsValuesWhereTheyLie) {
  const Group group;
  const auto source = FileSource::open(write(group, 1));
  ASSERT_TRUE(source);
  const auto read_layout = read(**source);
  EXPECT_EQ(read_layout.remark, "");
  ASSERT_EQ(read_layout.layout.format, "forebay");
  ASSERT_EQ(read_layout.layout.variables.size(), 3u);
  Bytes rows;
  for (const Variable& variable : read_layout.layout.variables) {
    EXPECT_EQ(variable.type, kDouble);
    const Bytes values = gather(**source, variable);
    if (variable.path == "/small") {
      EXPECT_EQ(variable.shape, (Shape{6, 4}));
      EXPECT_TRUE(std::ranges::equal(values, std::span(group.bytes).first(192)));
      continue;
    }
    const bool is_rest = variable.path == "/grid/rows.rest";
    EXPECT_EQ(variable.path, is_rest ? "/grid/rows.rest" : "/grid/rows");
    EXPECT_EQ(variable.shape, (is_rest ? Shape{44, 8} : Shape{256, 8}));
    EXPECT_EQ(variable.block, (is_rest ? Shape{} : Shape{64, 8}));
    EXPECT_EQ(variable.global_shape, (Shape{1000, 8}));
    EXPECT_EQ(variable.global_offset, (is_rest ? Shape{756, 0} : Shape{500, 0}));
    rows.insert(rows.end(), values.begin(), values.end());
  }
  EXPECT_TRUE(std::ranges::equal(rows, std::span(group.bytes).subspan(192)));
}

TEST_F(ProcessGroupReaderTest, TellsPartsApart) {
  const auto source = FileSource::open(write(Group(), 2));
  ASSERT_TRUE(source);
  std::vector<std::string> paths;
  for (const Variable& variable : read(**source).layout.variables) paths.push_back(variable.path);
  EXPECT_THAT(paths, testing::UnorderedElementsAre("/part0/small", "/part0/grid/rows", "/part0/grid/rows.rest",
                                                   "/part1/small", "/part1/grid/rows", "/part1/grid/rows.rest"));
}

// As when a rank writes much: its values leave in several process groups.
TEST_F(ProcessGroupReaderTest, KeepsNamesThatNoTwoPartsHave) {
  const auto source = FileSource::open(write({Group(), Group("other", "part0/small")}));
  ASSERT_TRUE(source);
  std::vector<std::string> paths;
  for (const Variable& variable : read(**source).layout.variables) paths.push_back(variable.path);
  EXPECT_THAT(paths, testing::UnorderedElementsAre("/small", "/grid/rows", "/grid/rows.rest", "/other", "/part0/small",
                                                   "/part0/small.rest"));
}

TEST_F(ProcessGroupReaderTest, LeavesOutWhatIsEncoded) {
  for (uint32_t coded = 0; coded < 3; ++coded) {
    std::filesystem::remove(directory_ + "/file");
    const auto source = FileSource::open(write(Group(), 1, coded));
    ASSERT_TRUE(source);
    const size_t found = read(**source).layout.variables.size();
    EXPECT_TRUE(found == 1 || found == 2) << found;
  }
}

// What is not understood costs compression only; nothing else may happen.
TEST_F(ProcessGroupReaderTest, ReadsDamagedFilesAsFarAsTheyGo) {
  const std::string path = write(Group(), 1);
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (size_t size = 0; size < text.size(); size += 97) {
    const MemorySource source(std::as_bytes(std::span(text).first(size)), "cut");
    (void)read(source);
  }
  for (size_t i = 0; i < text.size(); i += 13) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    (void)read(MemorySource(std::as_bytes(std::span(damaged)), "flipped"));
  }
}

}  // namespace
}  // namespace forebay::engine
