// What the tests of this room share.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/posix/file_sink.h"
#include "container/container.h"

namespace forebay::container::testing {

// A directory that is removed with its content.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// Bytes with an owner.
class OwnedSource final : public ByteSource {
 public:
  explicit OwnedSource(Bytes bytes, std::string name = "test.fbc") : bytes_(std::move(bytes)), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  uint64_t size() const override { return bytes_.size(); }
  Result<void> read_at(uint64_t offset, std::span<std::byte> out) const override {
    return MemorySource(bytes_, name_).read_at(offset, out);
  }

 private:
  Bytes bytes_;
  std::string name_;
};

Bytes read_file(const std::string& path);
void write_file(const std::string& path, std::span<const std::byte> bytes);

// A container in values.
struct Sample {
  struct Frame {
    uint64_t raw_bytes = 0, raw_hash = 0;
    std::string recipe, chain, payload;
    std::vector<uint32_t> references;
    std::optional<LossyNote> lossy;
  };
  Catalogue catalogue;
  PlanSpec plan;
  std::vector<Frame> frames;
  std::vector<uint64_t> file_crcs;
  std::vector<Characteristics> characteristics;
  Moment moment;
};

// Files of every kind, with weird names, chunked and filtered variables, missing values. The same on every machine.
Sample small_sample();

// The same at random: sizes from nothing to some hundred variables.
Sample random_sample(uint32_t seed);

// `files` files of `variables` variables of 9 KB each: the large case of docs/benchmarks.md.
Sample large_sample(size_t files, size_t variables);

// Begins a container in a new file.
Result<std::unique_ptr<Writer>> create_file(const std::string& path, const Catalogue& catalogue, const PlanSpec& plan,
                                            const Moment& moment = {});

// Writes `sample`, whose frames are appended in `order` (all in theirs if empty).
Result<void> write_sample(const Sample& sample, const std::string& path, std::vector<uint32_t> order = {});
Bytes sample_bytes(const Sample& sample);

// A step in which three ranks write their blocks of global arrays.
Sample placed_sample();

inline constexpr uint64_t kIndexLimit = 256 << 20;

Result<std::unique_ptr<Reader>> open_bytes(Bytes bytes, uint64_t max_index_bytes = kIndexLimit);

// Opens, walks and reads every frame.
Result<void> verify(std::unique_ptr<ByteSource> source);

// Says that the frames of a plan are those of `sample`.
FrameSizes sizes_of(const Sample& sample);

// Says what the recipes of `sample`, which must outlive this, mean.
LossyOfRecipe lossy_of(const Sample& sample);

void expect_equal(const Catalogue& a, const Catalogue& b);
void expect_equal(const PlanSpec& a, const PlanSpec& b);

// That `index` says of everything what `sample` says.
void expect_describes(const Index& index, const Sample& sample);

}  // namespace forebay::container::testing
