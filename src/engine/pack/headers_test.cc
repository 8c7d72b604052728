#include "engine/pack/headers.h"

#include <algorithm>
#include <random>

#include "engine/pack/source_pool.h"
#include "engine/test_gas.h"
#include "engine/test_memory_sources.h"

namespace forebay::engine {
namespace {

class HeadersTest : public GasTest {
 protected:
  HeadersTest() {
    write_gas(0.5, 4);
    write_ranks(4, 10, 10);
    write(tree() + "/broken.1.h5", "\x89HDF\r\n\x1a\n and nothing else");
    write(tree() + "/raw.2.bin", std::string(800, 'x'));
    write(tree() + "/raw.2.bin.forebay.toml",
          "[[file]]\nmatch = \"*\"\n[[file.variable]]\nname = \"x\"\ntype = \"f8\"\nshape = [100]\n");
    std::filesystem::create_directory(tree() + "/empty");
    files_ = scan_tree(std::vector{tree()})->files;
  }

  // What the node of these files sends, as it arrives.
  static Headers sent(std::span<const SourceFile> files) {
    SourcePool pool(files);
    const auto headers = read_headers(files, pool, {}, 64 << 20, 2);
    if (!headers) throw std::runtime_error(headers.error().message());
    const auto back = decode_headers(*encode_headers(*headers), 4 << 20);
    if (!back) throw std::runtime_error(back.error().message());
    EXPECT_EQ(back->remarks, headers->remarks);
    return *back;
  }

  // Of the files whose places in the group have the remainder `node` by `nodes`, in reverse order.
  std::vector<SourceFile> files_of(size_t node, size_t nodes) const {
    std::vector<SourceFile> files;
    for (size_t i = 0; i < files_.size(); ++i) {
      const std::string& name = files_[i].row.name;
      const bool is_raw = name.starts_with("raw.");  // a file and its description lie on one node
      if ((is_raw ? 0 : i % nodes) == node) files.insert(files.begin(), files_[i]);
    }
    return files;
  }

  GroupCatalogue expected() const {
    SourcePool pool(files_);
    return *read_group(files_, pool, {}, {}, 64 << 20, 1);
  }

  Result<GroupCatalogue> merged(std::span<const Headers> headers) const {
    return merge_headers(headers, files_, {}, 64 << 20, 2);
  }

  std::vector<SourceFile> files_;
};

void expect_equal(const Catalogue& a, const Catalogue& b) {
  EXPECT_EQ(a.paths.values(), b.paths.values());
  EXPECT_EQ(a.keys.values(), b.keys.values());
  EXPECT_EQ(a.shapes.values(), b.shapes.values());
  EXPECT_EQ(a.extents, b.extents);
  ASSERT_EQ(a.files.size(), b.files.size());
  for (size_t i = 0; i < a.files.size(); ++i) {
    EXPECT_EQ(a.files[i].name, b.files[i].name);
    EXPECT_EQ(a.files[i].format, b.files[i].format);
    EXPECT_EQ(a.files[i].rank, b.files[i].rank);
    EXPECT_EQ(a.files[i].first_variable, b.files[i].first_variable);
    EXPECT_EQ(a.files[i].variable_count, b.files[i].variable_count);
  }
  ASSERT_EQ(a.variables.size(), b.variables.size());
  for (size_t i = 0; i < a.variables.size(); ++i) {
    const VariableRow &x = a.variables[i], &y = b.variables[i];
    EXPECT_TRUE(x.path == y.path && x.key == y.key && x.shape == y.shape && x.block == y.block &&
                x.first_extent == y.first_extent && x.extent_count == y.extent_count && x.type == y.type &&
                x.filtered == y.filtered && x.partial == y.partial)
        << i;
  }
}

TEST_F(HeadersTest, SeveralNodesMakeWhatOneWouldHaveRead) {
  const GroupCatalogue group = expected();
  EXPECT_GT(group.catalogue.variables.size(), 20u);
  ASSERT_EQ(group.remarks.size(), 1u);
  EXPECT_TRUE(group.remarks[0].starts_with(tree() + "/broken.1.h5: ")) << group.remarks[0];
  EXPECT_EQ(group.remarks[0].find(tree(), 1), std::string::npos) << "the path once: " << group.remarks[0];
  for (const size_t nodes : {1, 2, 3, 7}) {
    std::vector<Headers> headers;
    for (size_t node = 0; node < nodes; ++node) headers.push_back(sent(files_of(node, nodes)));
    const auto together = merged(headers);
    ASSERT_TRUE(together) << together.error().message();
    expect_equal(together->catalogue, group.catalogue);
    EXPECT_EQ(together->remarks, group.remarks);
  }
}

TEST_F(HeadersTest, BlockedPartialAndFilteredVariablesComeThrough) {
  const Layout layout{
      .format = "hdf5",
      .variables = {
          {.path = "/blocked",
           .type = {Kind::floating, ByteOrder::little, 4},
           .shape = {5, 6},
           .block = {3, 6},
           .extents = {{0, 72}, {100, 72}}},
          {.path = "/part",
           .type = {Kind::floating, ByteOrder::big, 8},
           .shape = {9},
           .block = {3},
           .extents = {{200, 24}},
           .partial = true},
          {.path = "/packed",
           .type = {Kind::floating, ByteOrder::little, 8},
           .shape = {100},
           .block = {50},
           .extents = {{300, 7}, {320, 9}},
           .filtered = true},
          {.path = "/scalar", .type = {Kind::floating, ByteOrder::little, 8}, .shape = {}, .extents = {{400, 8}}}}};
  const std::vector<SourceFile> files = {{.path = "/n/f", .row = {.name = "f", .size = 1000}}};
  Headers headers;
  headers.catalogue.add(files[0].row, layout, std::vector<std::string>(4));
  const merge::Similarity similarity;
  Catalogue group;
  group.add(files[0].row, layout, similarity.keys(layout));
  const std::vector<Headers> arrived = {*decode_headers(*encode_headers(headers), 1 << 20)};
  const auto merged = merge_headers(arrived, files, similarity, 64 << 20, 1);
  ASSERT_TRUE(merged) << merged.error().message();
  expect_equal(merged->catalogue, group);
}

TEST_F(HeadersTest, FilesThatTheGroupHasNotDoNotMatter) {
  const std::vector<Headers> headers = {sent(files_)};
  const auto some = std::span<const SourceFile>(files_).subspan(3, 4);
  SourcePool pool(some);
  const auto together = merge_headers(headers, some, {}, 64 << 20, 1);
  ASSERT_TRUE(together);
  expect_equal(together->catalogue, read_group(some, pool, {}, {}, 64 << 20, 1)->catalogue);
}

TEST_F(HeadersTest, WhatIsMissingOrOtherIsNamed) {
  const std::vector<Headers> none;
  EXPECT_EQ(merged(none).error().kind, ErrorKind::changed);
  std::vector<Headers> headers = {sent(files_)};
  const std::string name = headers[0].catalogue.files.back().name;
  headers[0].catalogue.files.back().mtime_ns ^= 1;
  EXPECT_EQ(merged(headers).error().kind, ErrorKind::changed);
  EXPECT_EQ(merged(headers).error().path, tree() + "/" + name);
  headers = {sent(files_), sent(files_of(0, 2))};
  EXPECT_EQ(merged(headers).error().kind, ErrorKind::corrupt);
}

TEST_F(HeadersTest, ImpossibleLayoutsAreRefused) {
  // Rows that are valid, and that no format reader makes: an array in one piece that lies in two places.
  const Layout layout{.format = "raw",
                      .variables = {{.path = "/x",
                                     .type = {Kind::floating, ByteOrder::little, 8},
                                     .shape = {2},
                                     .extents = {{0, 16}, {100, 16}}}}};
  const std::vector<SourceFile> files = {{.path = "/n/f", .row = {.name = "f", .size = 1000}}};
  Headers headers;
  headers.catalogue.add(files[0].row, layout, std::vector<std::string>(1));
  const auto arrived = decode_headers(*encode_headers(headers), 1 << 20);
  ASSERT_TRUE(arrived) << arrived.error().message();
  const auto merged = merge_headers({&*arrived, 1}, files, {}, 64 << 20, 1);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().kind, ErrorKind::corrupt);
}

TEST_F(HeadersTest, MemoryIsBounded) {
  SourcePool pool(files_);
  const auto headers = *read_headers(files_, pool, {}, 64 << 20, 1);
  const Bytes bytes = *encode_headers(headers);
  EXPECT_EQ(decode_headers(bytes, bytes.size()).error().kind, ErrorKind::limit);
  EXPECT_EQ(decode_headers(bytes, 100).error().kind, ErrorKind::limit);
  EXPECT_EQ(read_headers(files_, pool, {}, 1000, 1).error().kind, ErrorKind::limit);
  const std::vector<Headers> all = {headers};
  EXPECT_EQ(merge_headers(all, files_, {}, 10'000'000, 1).has_value(), true);
  EXPECT_EQ(merge_headers(all, files_, {}, 10'000, 1).error().kind, ErrorKind::limit);
}

TEST_F(HeadersTest, DamagedBytesAreRefusedOrValid) {
  const Bytes good = [&] {
    SourcePool pool(files_);
    return *encode_headers(*read_headers(files_, pool, {}, 64 << 20, 1));
  }();
  size_t whole = 0;
  for (size_t length = 0; length < good.size(); ++length)
    whole += decode_headers(std::span(good).first(length), 1 << 20).has_value();
  EXPECT_EQ(whole, 1u);  // without the remark
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Bytes bytes = good;
    bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
    const auto decoded = decode_headers(bytes, 1 << 20);
    if (!decoded) continue;
    EXPECT_TRUE(decoded->catalogue.validate());
    const std::vector<Headers> headers = {*decoded};
    (void)merged(headers);  // comes back, whatever it says
  }
}

TEST_F(HeadersTest, LongRemarksAreCut) {
  Headers headers;
  headers.catalogue.add({.name = "a"}, {}, {});
  headers.catalogue.add({.name = "b"}, {}, {});
  headers.remarks = {{1, std::string(5000, 'r')}};
  const auto back = decode_headers(*encode_headers(headers), 1 << 20);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->remarks, (std::vector<LayoutRemark>{{1, std::string(1024, 'r')}}));
}

TEST_F(HeadersTest, TheyAreSmall) {
  std::vector<SourceFile> files;
  for (const SourceFile& file : files_)
    if (file.row.name.ends_with(".npy") || file.row.name.starts_with("dump.")) files.push_back(file);
  SourcePool pool(files);
  const auto headers = *read_headers(files, pool, {}, 64 << 20, 1);
  EXPECT_LT(encode_headers(headers)->size(), 1000 + 60 * headers.catalogue.variables.size());
}

}  // namespace
}  // namespace forebay::engine
