// Process groups for the tests of this folder.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/file/file_reader.h"
#include "io/file/growing_file.h"
#include "io/file/part.h"
#include "io/group/process_group.h"

namespace forebay::io::testing {

// A directory that is removed with its content.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

Bytes read_file(const std::string& path);
void write_file(const std::string& path, std::span<const std::byte> bytes);

// Keeps what blocks borrow.
struct OwnedGroup {
  ProcessGroup group;
  std::vector<std::unique_ptr<Bytes>> values;

  template <class T>
  Block& add(std::string name, ValueType type, Shape shape, const std::vector<T>& elements) {
    const auto bytes = std::as_bytes(std::span(elements));
    values.push_back(std::make_unique<Bytes>(bytes.begin(), bytes.end()));
    Block block{.name = std::move(name), .type = type, .is_array = !shape.empty(), .shape = std::move(shape)};
    block.bytes = *values.back();
    block.characteristics = container::characterise(data_type(type), block.bytes);
    group.blocks.push_back(std::move(block));
    return group.blocks.back();
  }
};

// What rank `rank` of `ranks` writes in `step`: scalars, a string, a global array, a local array of changing size
// (nothing at rank 0), one that is larger than a frame at `large`, complex numbers, attributes, a histogram.
OwnedGroup sample_group(uint32_t rank, uint32_t ranks, uint64_t step, bool large = false);

// Writes a process group at `offset` of `fd`.
void write_part(int fd, uint64_t offset, const EncodedPart& part);

// One step of `ranks` ranks: each has its part in a slot, which it does not fill.
void write_step(GrowingFile& file, uint32_t ranks, uint64_t step, bool large = false);

Bytes bytes_of(const EncodedPart& part);

inline constexpr uint64_t kMemory = 64 << 20;  // for what readers list

// The reader of a file, which can be read; null, and a failure of the test, if it cannot.
std::unique_ptr<FileReader> open_file(const std::string& path);

// That the process group is what sample_group() makes.
void expect_sample(const FileReader& reader, size_t number, uint32_t ranks, bool large = false);

// That the file has the steps that write_step() writes, and nothing else.
void expect_samples(const FileReader& reader, uint32_t ranks, uint64_t steps);

}  // namespace forebay::io::testing
