// What every format reader promises, whatever the file says.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include "format/fuzz.h"
#include "format/reader.h"

namespace forebay::format {
namespace {

// A source in memory that counts what is read from it, and can be told to fail.
class CountingSource final : public ByteSource {
 public:
  explicit CountingSource(std::span<const std::byte> bytes) : memory_(bytes) {}
  const std::string& name() const override { return memory_.name(); }
  uint64_t size() const override { return memory_.size(); }
  Result<void> read_at(uint64_t offset, std::span<std::byte> out) const override {
    bytes_read_ += out.size();
    if (bytes_read_ > fail_after_) return fail(ErrorKind::io, "injected", name());
    return memory_.read_at(offset, out);
  }
  uint64_t bytes_read() const { return bytes_read_; }
  void fail_after(uint64_t bytes) { fail_after_ = bytes; }

 private:
  MemorySource memory_;
  mutable uint64_t bytes_read_ = 0;
  uint64_t fail_after_ = UINT64_MAX;
};

bool same(const Layout& a, const Layout& b) {
  const auto equal = [](const Variable& x, const Variable& y) {
    return x.path == y.path && x.type == y.type && x.shape == y.shape && x.block == y.block && x.extents == y.extents &&
           x.filtered == y.filtered && x.partial == y.partial;
  };
  return a.format == b.format && std::ranges::equal(a.variables, b.variables, equal);
}

struct Sample {
  std::string name, format;
  size_t variables;
};

class ReaderContract : public testing::TestWithParam<Sample> {
 protected:
  void SetUp() override {
    const std::string path = FOREBAY_SOURCE_DIR "/tests/fuzz/" + GetParam().name;
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(file) << path;
    std::vector<char> content(std::istreambuf_iterator<char>(file), {});
    bytes_.resize(content.size());
    std::ranges::copy(as_bytes({content.data(), content.size()}), bytes_.begin());
  }

  // Reads `bytes` as whatever they look like and as what the parameter says, and holds the reader to its promises.
  void hold(std::span<const std::byte> bytes) {
    const CountingSource source(bytes);
    const auto read = read_layout(source, "file", {});
    ASSERT_TRUE(read) << read.error().message();
    ASSERT_EQ(find_fault(read->layout, bytes.size()), "");
    ASSERT_LE(source.bytes_read(), 100 * bytes.size() + (16 << 20));
    if (read->layout.format == GetParam().format) return;
    for (const FormatReader* reader : all_readers()) {  // what no longer looks like the format may still be given to it
      if (reader->name() != GetParam().format) continue;
      auto layout = reader->read(source);
      if (layout) {
        normalise(*layout, bytes.size());
        ASSERT_EQ(find_fault(*layout, bytes.size()), "");
      } else {
        const ErrorKind kind = layout.error().kind;
        ASSERT_TRUE(kind == ErrorKind::corrupt || kind == ErrorKind::unsupported || kind == ErrorKind::limit)
            << layout.error().message();
      }
    }
  }

  // Every place of a small sample, every 31st of a larger one (which meets each bit of a byte as often).
  size_t step() const { return bytes_.size() <= 2100 ? 1 : 31; }

  Bytes bytes_;
};

INSTANTIATE_TEST_SUITE_P(
    Formats, ReaderContract,
    testing::Values(Sample{"hdf5_fuzz/old", "hdf5", 6}, Sample{"hdf5_fuzz/one", "hdf5", 1},
                    Sample{"hdf5_fuzz/latest", "hdf5", 8}, Sample{"hdf5_fuzz/gzip", "hdf5", 2},
                    Sample{"hdf5_fuzz/dense", "hdf5", 12}, Sample{"netcdf_fuzz/cdf1", "netcdf", 5},
                    Sample{"netcdf_fuzz/cdf2", "netcdf", 5}, Sample{"netcdf_fuzz/cdf5", "netcdf", 6},
                    Sample{"npy_fuzz/f8", "npy", 1}, Sample{"npy_fuzz/npz", "npz", 3},
                    Sample{"safetensors_fuzz/three", "safetensors", 3}, Sample{"records_fuzz/trr", "trr", 3},
                    Sample{"records_fuzz/fortran", "fortran", 3}, Sample{"records_fuzz/big_endian", "fortran", 1},
                    Sample{"records_fuzz/dcd", "fortran", 3}, Sample{"records_fuzz/lammps", "lammps", 2},
                    Sample{"records_fuzz/fab", "fab", 4}, Sample{"records_fuzz/openfoam_field", "openfoam", 2},
                    Sample{"records_fuzz/openfoam_faces", "openfoam", 2}),
    [](const auto& tested) {
      std::string name = tested.param.name;
      std::ranges::replace(name, '/', '_');
      return name;
    });

TEST_P(ReaderContract, ReadsTheSample) {
  const MemorySource source(bytes_);
  const auto read = read_layout(source, "file", {});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->layout.format, GetParam().format);
  EXPECT_EQ(read->layout.variables.size(), GetParam().variables);
  EXPECT_EQ(read->remark, "");
}

TEST_P(ReaderContract, IsDeterministic) {
  const MemorySource source(bytes_);
  const auto first = read_layout(source, "file", {}), second = read_layout(source, "file", {});
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(same(first->layout, second->layout));
}

TEST_P(ReaderContract, SurvivesEveryTruncation) {
  for (size_t size = 0; size < bytes_.size(); size += step())
    ASSERT_NO_FATAL_FAILURE(hold(std::span(bytes_).first(size))) << size;
}

TEST_P(ReaderContract, SurvivesEveryFlippedBit) {
  for (size_t bit = 0; bit < 8 * bytes_.size(); bit += step()) {
    bytes_[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_NO_FATAL_FAILURE(hold(bytes_)) << bit;
    bytes_[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST_P(ReaderContract, SurvivesRandomBytes) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    Bytes changed = bytes_;
    const size_t from = i % 2 == 0 ? 0 : random() % changed.size(), count = random() % 64;
    for (size_t k = 0; k < count; ++k) changed[(from + random() % 512) % changed.size()] = std::byte(random());
    ASSERT_NO_FATAL_FAILURE(hold(changed)) << i;
  }
}

TEST_P(ReaderContract, PassesErrorsOfTheSourceOn) {
  for (uint64_t after = 0; after < std::min<uint64_t>(512, bytes_.size()); ++after) {
    CountingSource source(bytes_);
    source.fail_after(after);
    const auto read = read_layout(source, "file", {});
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::io);
  }
}

TEST_P(ReaderContract, LooksIntoNothingWhenToldSo) {
  const CountingSource source(bytes_);
  const auto read = read_layout(source, "file", {.raw_description = {}, .opaque = true});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->layout.format, "opaque");
  EXPECT_EQ(source.bytes_read(), 0u);
}

}  // namespace
}  // namespace forebay::format
