#include "io/file/testing.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>
#include <unistd.h>

namespace forebay::io::testing {

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "forebay-io-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
  path_ = name;
}

TempDir::~TempDir() { std::filesystem::remove_all(path_); }

Bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto bytes = as_bytes(text);
  return Bytes(bytes.begin(), bytes.end());
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

OwnedGroup sample_group(uint32_t rank, uint32_t ranks, uint64_t step, bool large) {
  OwnedGroup sample;
  ProcessGroup& group = sample.group;
  group.group = "atoms";
  group.time_index_name = "iter";
  group.rank = rank;
  group.step = step;
  group.time_index = static_cast<uint32_t>(step + 1);
  const std::string text = "step " + std::to_string(step);
  if (rank == 0) sample.add("count", ValueType::int32, {}, std::vector<int32_t>{static_cast<int32_t>(step) - 3});
  Block& title = sample.add("/info/title", ValueType::string, {}, std::vector<char>(text.begin(), text.end()));
  title.is_array = false;
  const uint64_t n = large ? 90'000 : 6;
  std::vector<double> field(4 * n);
  for (size_t i = 0; i < field.size(); ++i)
    field[i] = 0.5 * static_cast<double>(i) + 100.0 * rank + static_cast<double>(step);
  Block& global = sample.add("field", ValueType::float64, {4, n}, field);
  global.global_shape = {4, n * ranks};
  global.offsets = {0, n * rank};
  sample.add("particles", ValueType::float32, {rank}, std::vector<float>(rank, 1.5F));
  Block& packed = sample.add("packed", ValueType::float64, {4, n}, field);
  packed.transform = "zlib:5";
  Block& wave = sample.add("wave", ValueType::complex64, {2}, std::vector<float>{1, 2, 3, 4});
  wave.histogram = {1, 2, 3};
  wave.breaks = {0.5, 1.5};
  sample.add("wave", ValueType::complex64, {3}, std::vector<float>(6, static_cast<float>(rank)));
  group.attributes.push_back({.name = "/info/author",
                              .type = ValueType::string,
                              .value = Bytes(as_bytes("someone").begin(), as_bytes("someone").end()),
                              .variable = {}});
  group.attributes.push_back({.name = "/info/size", .type = ValueType::int32, .value = {}, .variable = "count"});
  return sample;
}

void write_part(int fd, uint64_t offset, const EncodedPart& part) {
  for (const auto piece : part.pieces()) {
    ASSERT_EQ(::pwrite(fd, piece.data(), piece.size(), static_cast<off_t>(offset)), static_cast<ssize_t>(piece.size()));
    offset += piece.size();
  }
}

void write_step(GrowingFile& file, uint32_t ranks, uint64_t step, bool large) {
  Listing all;
  uint64_t offset = file.end();
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const OwnedGroup sample = sample_group(rank, ranks, step, large);
    auto part = EncodedPart::make(sample.group, {.container_id = file.container_id()});
    ASSERT_TRUE(part) << part.error().error.message();
    write_part(file.fd(), offset, *part);
    part->listing().shift(offset);
    all.merge(part->listing());
    offset += part->bytes() + 100;
  }
  const auto done = file.commit(std::move(all), offset, false);
  ASSERT_TRUE(done) << done.error().message();
}

Bytes bytes_of(const EncodedPart& part) {
  Bytes bytes;
  for (const auto piece : part.pieces()) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

std::unique_ptr<FileReader> open_file(const std::string& path) {
  auto reader = FileReader::open(path, kMemory);
  EXPECT_TRUE(reader) << (reader ? "" : reader.error().message());
  return reader ? *std::move(reader) : nullptr;
}

void expect_sample(const FileReader& reader, size_t number, uint32_t ranks, bool large) {
  const ListedPart& listed = reader.listing().parts[number];
  const OwnedGroup sample = sample_group(listed.rank, ranks, listed.step, large);
  const auto part = reader.open_part(number);
  ASSERT_TRUE(part) << part.error().message();
  const ProcessGroup& group = part->group();
  EXPECT_EQ(group.group, "atoms");
  EXPECT_EQ(group.time_index_name, "iter");
  EXPECT_EQ(group.time_index, listed.step + 1);
  ASSERT_EQ(group.blocks.size(), sample.group.blocks.size());
  for (size_t i = 0; i < group.blocks.size(); ++i) {
    const Block &read = group.blocks[i], &written = sample.group.blocks[i];
    EXPECT_EQ(read.name, written.name);
    EXPECT_EQ(read.type, written.type);
    EXPECT_EQ(read.is_array, written.is_array);
    EXPECT_EQ(read.shape, written.shape);
    EXPECT_EQ(read.global_shape, written.global_shape);
    EXPECT_EQ(read.offsets, written.offsets);
    EXPECT_EQ(read.transform, written.transform);
    EXPECT_EQ(read.histogram, written.histogram);
    EXPECT_EQ(read.breaks, written.breaks);
    EXPECT_EQ(read.characteristics, written.characteristics);
    Bytes values(part->bytes(i));
    const auto done = part->read(i, values);
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_TRUE(std::ranges::equal(values, written.bytes)) << read.name;
  }
  ASSERT_EQ(group.attributes.size(), 2u);
  EXPECT_EQ(as_text(group.attributes[0].value), "someone");
  EXPECT_EQ(group.attributes[1].variable, "count");
}

void expect_samples(const FileReader& reader, uint32_t ranks, uint64_t steps) {
  EXPECT_EQ(reader.steps(), steps);
  ASSERT_EQ(reader.listing().parts.size(), ranks * steps);
  for (size_t i = 0; i < reader.listing().parts.size(); ++i) {
    EXPECT_EQ(reader.listing().parts[i].step, i / ranks);
    EXPECT_EQ(reader.listing().parts[i].rank, i % ranks);
    expect_sample(reader, i, ranks);
  }
}

}  // namespace forebay::io::testing
