// Chunks that libhdf5 has stored, in every way that it knows: what follows from them must be what libhdf5 reads.
#include "format/hdf5_values.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>

#include <gtest/gtest.h>
#include <hdf5.h>
#include <libdeflate.h>
#include <unistd.h>
#include <zstd.h>
#ifdef FOREBAY_HAVE_BLOSC
#include <blosc.h>
#endif
#ifdef FOREBAY_HAVE_BZIP2
#include <bzlib.h>
#endif
#ifdef FOREBAY_HAVE_LZ4
#include <lz4.h>
#endif

#include "base/byte_source.h"
#include "format/fuzz.h"

namespace forebay::format {
namespace {

using Sizes = std::vector<hsize_t>;

// The elements of a dataset as its chunks have them, in C order.
Result<Bytes> values_of(const std::string& path, const std::string& name) {
  FOREBAY_TRY(const auto source, FileSource::open(path));
  FOREBAY_TRY(const auto headers, DatasetHeaders::find(*source));
  FOREBAY_TRY(const StoredDataset dataset, headers.read(*source, name));
  const size_t rank = dataset.shape.size(), width = dataset.element_bytes;
  Bytes all(element_count(dataset.shape) * width);
  for (size_t i = 0; i < all.size(); ++i) all[i] = dataset.fill[i % width];
  Shape counts(rank);
  for (size_t d = 0; d < rank; ++d) counts[d] = (dataset.shape[d] + dataset.chunk[d] - 1) / dataset.chunk[d];
  for (const StoredChunk& chunk : dataset.chunks) {
    Bytes stored(chunk.extent.length);
    FOREBAY_CHECK(source->read_at(chunk.extent.offset, stored));
    FOREBAY_TRY(const Bytes raw, hdf5::undo_filters(dataset.filters, chunk.mask, stored, dataset.chunk_bytes()));
    for (uint64_t i = 0; i < element_count(dataset.chunk); ++i) {
      uint64_t rest = i, cell = chunk.cell, at = 0, stride = 1;
      bool is_inside = true;
      for (size_t d = rank; d-- > 0;) {
        const uint64_t index = cell % counts[d] * dataset.chunk[d] + rest % dataset.chunk[d];
        is_inside = is_inside && index < dataset.shape[d];
        at += index * stride;
        stride *= dataset.shape[d];
        rest /= dataset.chunk[d];
        cell /= counts[d];
      }
      if (is_inside) std::memcpy(all.data() + at * width, raw.data() + i * width, width);
    }
  }
  return all;
}

class Hdf5Values : public testing::Test {
 protected:
  Hdf5Values()
      : directory_(std::filesystem::path(testing::TempDir()) / ("forebay_values_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(directory_);
  }
  ~Hdf5Values() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name = "file.h5") const { return directory_ / name; }

  // Numbers that rise slowly, with a little noise.
  Bytes numbers(size_t bytes) {
    Bytes values(bytes);
    for (size_t i = 0; i < bytes; ++i) values[i] = static_cast<std::byte>(i / 50 + random_() % 3);
    return values;
  }

  // Makes a file with one dataset `x`: set_up says what its chunks go through.
  struct Wish {
    hid_t type = H5T_STD_I32LE;
    Sizes shape, chunk;
    Sizes maximum = {};
    bool latest = false;
    std::function<void(hid_t properties)> set_up;
    std::function<void(hid_t dataset)> write;  // all of it, if nothing is said
  };
  void make(const Wish& wish) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), properties = H5Pcreate(H5P_DATASET_CREATE);
    if (wish.latest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate(path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const int rank = static_cast<int>(wish.shape.size());
    const hid_t space = H5Screate_simple(rank, wish.shape.data(), wish.maximum.empty() ? nullptr : wish.maximum.data());
    if (!wish.chunk.empty()) H5Pset_chunk(properties, rank, wish.chunk.data());
    if (wish.set_up) wish.set_up(properties);
    const hid_t dataset = H5Dcreate2(file, "x", wish.type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    ASSERT_GE(dataset, 0);
    if (wish.write) {
      wish.write(dataset);
    } else {
      const size_t bytes = static_cast<size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(wish.type);
      const Bytes values = values_ ? values_(bytes) : numbers(bytes);
      ASSERT_GE(H5Dwrite(dataset, wish.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    }
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(properties);
    H5Pclose(access);
  }

  void expect_agreement() {
    const hid_t file = H5Fopen(path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT), type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    Bytes theirs(static_cast<size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(type));
    ASSERT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, theirs.data()), 0);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
    H5Fclose(file);
    const auto ours = values_of(path(), "/x");
    ASSERT_TRUE(ours) << ours.error().message();
    EXPECT_TRUE(*ours == theirs);
  }

  std::mt19937 random_{7};
  std::function<Bytes(size_t bytes)> values_;

 private:
  std::filesystem::path directory_;
};

// Random shapes, chunks that do not divide them, filters in every order, indexes of every kind, chunks that were never
// written, and some that go round a filter.
TEST_F(Hdf5Values, FiltersInEveryOrder) {
  using SetUp = std::function<void(hid_t)>;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    Wish wish{.latest = random_() % 2 == 0};
    const hid_t types[] = {H5T_STD_I8LE, H5T_STD_U16BE, H5T_STD_I32LE, H5T_IEEE_F32LE, H5T_IEEE_F64BE, H5T_STD_U64LE};
    wish.type = types[random_() % std::size(types)];
    for (size_t rank = 1 + random_() % 3; rank > 0; --rank) {
      wish.shape.push_back(1 + random_() % 20);
      wish.chunk.push_back(1 + random_() % 12);
      wish.maximum.push_back(random_() % 3 == 0 ? H5S_UNLIMITED : std::max(wish.shape.back(), wish.chunk.back()));
    }
    std::vector<SetUp> filters = {[](hid_t p) { H5Pset_shuffle(p); }, [](hid_t p) { H5Pset_fletcher32(p); },
                                  [](hid_t p) { H5Pset_deflate(p, 4); }};
    std::ranges::shuffle(filters, random_);
    filters.resize(random_() % (filters.size() + 1));
    const bool edges = random_() % 4 == 0;
    wish.set_up = [&](hid_t properties) {
      for (const SetUp& filter : filters) filter(properties);
      if (edges && wish.latest) H5Pset_chunk_opts(properties, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
      const uint64_t fill = random_();
      if (random_() % 2 == 0) H5Pset_fill_value(properties, H5T_STD_U64LE, &fill);
    };
    if (random_() % 2 == 0)
      wish.write = [&](hid_t dataset) {
        const hid_t space = H5Screate_simple(static_cast<int>(wish.shape.size()), wish.shape.data(), nullptr);
        Sizes begin, count;
        for (const hsize_t dim : wish.shape) {
          begin.push_back(random_() % dim);
          count.push_back(1 + random_() % (dim - begin.back()));
        }
        H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr);
        const Bytes values = numbers(static_cast<size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(wish.type));
        ASSERT_GE(H5Dwrite(dataset, wish.type, space, space, H5P_DEFAULT, values.data()), 0);
        if (!filters.empty() && random_() % 2 == 0) {  // the first chunk once more, without any filter
          const Bytes chunk = numbers(
              std::accumulate(wish.chunk.begin(), wish.chunk.end(), H5Tget_size(wish.type), std::multiplies<size_t>()));
          const Sizes first(wish.shape.size());
          ASSERT_GE(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0xFF, first.data(), chunk.size(), chunk.data()), 0);
        }
        H5Sclose(space);
      };
    make(wish);
    expect_agreement();
    if (HasFailure()) return;
  }
}

// By itself: Debian's encoder writes past its buffer where szip makes a small chunk larger.
TEST_F(Hdf5Values, Szip) {
  if (H5Zfilter_avail(H5Z_FILTER_SZIP) <= 0) GTEST_SKIP() << "this libhdf5 has no szip";
  for (const hid_t type : {H5T_STD_I8LE, H5T_STD_U16BE, H5T_STD_I32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE})
    for (const unsigned mask : {H5_SZIP_NN_OPTION_MASK, H5_SZIP_EC_OPTION_MASK})
      for (const unsigned block : {4, 16, 32}) {
        SCOPED_TRACE(testing::Message() << H5Tget_size(type) << " " << mask << " " << block);
        make({.type = type, .shape = {70, 61}, .chunk = {32, 33}, .set_up = [&](hid_t properties) {
                H5Pset_szip(properties, mask, block);
                H5Pset_deflate(properties, 1);
              }});
        expect_agreement();
      }
}

TEST_F(Hdf5Values, NumbersWithFewerBits) {
  const hid_t small = H5Tcopy(H5T_STD_I32LE), big = H5Tcopy(H5T_STD_U16BE), real = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_precision(small, 11);
  H5Tset_offset(small, 5);
  H5Tset_precision(big, 9);
  H5Tset_offset(big, 3);
  H5Tset_fields(real, 26, 20, 6, 7, 13);
  H5Tset_offset(real, 7);
  H5Tset_precision(real, 20);
  H5Tset_size(real, 4);
  const hsize_t three = 3;
  const hid_t array = H5Tarray_create2(small, 1, &three), text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 5);
  const hid_t compound = H5Tcreate(H5T_COMPOUND, 40);
  H5Tinsert(compound, "a", 0, small);
  H5Tinsert(compound, "b", 6, big);
  H5Tinsert(compound, "c", 10, array);
  H5Tinsert(compound, "d", 30, text);
  for (const hid_t type : {small, big, real, array, compound, H5T_STD_I64LE}) {
    SCOPED_TRACE(H5Tget_size(type));
    make({.type = type, .shape = {7, 10}, .chunk = {3, 4}, .set_up = [](hid_t properties) {
            H5Pset_nbit(properties);
            H5Pset_deflate(properties, 1);
          }});
    expect_agreement();
  }
}

TEST_F(Hdf5Values, NumbersAsOffsets) {
  const auto ints = [this](size_t bytes) {
    Bytes values = numbers(bytes);
    for (size_t i = 0; i < bytes; ++i)
      if (i % 4 > 1) values[i] = std::byte{0};
    return values;
  };
  const auto floats = [](size_t bytes) {
    Bytes values(bytes);
    for (size_t i = 0; i < bytes / 4; ++i) {
      const float value = -3.0F + 0.01F * static_cast<float>(i * i % 977);
      std::memcpy(values.data() + i * 4, &value, 4);
    }
    return values;
  };
  const auto doubles = [](size_t bytes) {
    Bytes values(bytes);
    for (size_t i = 0; i < bytes / 8; ++i) {
      const double value = 1e3 + 0.001 * static_cast<double>(i * i % 977);
      std::memcpy(values.data() + i * 8, &value, 8);
    }
    return values;
  };
  struct Case {
    hid_t type;
    H5Z_SO_scale_type_t kind;
    int factor;
    std::function<Bytes(size_t)> values;
  };
  for (const Case& one :
       {Case{H5T_STD_I32LE, H5Z_SO_INT, 0, ints}, Case{H5T_STD_I8LE, H5Z_SO_INT, 0, {}},
        Case{H5T_STD_U16LE, H5Z_SO_INT, 0, {}}, Case{H5T_STD_I64LE, H5Z_SO_INT, 0, ints},
        Case{H5T_STD_I32BE, H5Z_SO_INT, 0, {}}, Case{H5T_STD_I32LE, H5Z_SO_INT, 32, ints},
        Case{H5T_IEEE_F32LE, H5Z_SO_FLOAT_DSCALE, 2, floats}, Case{H5T_IEEE_F64LE, H5Z_SO_FLOAT_DSCALE, 3, doubles},
        Case{H5T_IEEE_F64LE, H5Z_SO_FLOAT_DSCALE, 0, doubles}})
    for (const bool with_fill : {false, true}) {
      SCOPED_TRACE(testing::Message() << H5Tget_size(one.type) << " " << one.factor << " " << with_fill);
      values_ = one.values;
      make({.type = one.type, .shape = {13, 10}, .chunk = {5, 4}, .set_up = [&](hid_t properties) {
              H5Pset_scaleoffset(properties, one.kind, one.factor);
              H5Pset_fletcher32(properties);
              const int fill = -3;
              if (with_fill) H5Pset_fill_value(properties, H5T_NATIVE_INT, &fill);
            }});
      expect_agreement();
    }
}

// A filter of others, which is registered for writing only: libhdf5 hands it what it has, and stores what comes back.
using Pack = std::function<Bytes(std::span<const std::byte>)>;
Pack pack_with;

size_t pack(unsigned flags, size_t, const unsigned*, size_t bytes, size_t* room, void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) != 0) return 0;
  const Bytes packed = pack_with({static_cast<const std::byte*>(*buffer), bytes});
  std::free(*buffer);
  *buffer = std::malloc(packed.size());
  std::memcpy(*buffer, packed.data(), packed.size());
  *room = packed.size();
  return packed.size();
}

template <std::integral T>
void append_be(Bytes& to, T value) {
  for (size_t i = sizeof value; i-- > 0;) to.push_back(static_cast<std::byte>(value >> (8 * i)));
}

class Hdf5OthersFilters : public Hdf5Values {
 protected:
  void expect_undone(H5Z_filter_t id, const std::vector<unsigned>& parameters, Pack pack_chunk, hsize_t columns = 30) {
    SCOPED_TRACE(id);
    pack_with = std::move(pack_chunk);
    const H5Z_class2_t filter{H5Z_CLASS_T_VERS, id, 1, 1, "of others", nullptr, nullptr, pack};
    ASSERT_GE(H5Zregister(&filter), 0);
    Bytes written;
    values_ = [&](size_t bytes) { return written = numbers(bytes); };
    make({.type = H5T_STD_I32LE, .shape = {70, columns}, .chunk = {70, columns}, .set_up = [&](hid_t properties) {
            H5Pset_filter(properties, id, H5Z_FLAG_MANDATORY, parameters.size(), parameters.data());
          }});
    H5Zunregister(id);
    const auto ours = values_of(path(), "/x");
    ASSERT_TRUE(ours) << ours.error().message();
    EXPECT_TRUE(*ours == written);
    // Cut short, it is an error, and nothing else.
    const auto source = FileSource::open(path());
    const auto dataset = DatasetHeaders::find(**source)->read(**source, "/x");
    Bytes stored(dataset->chunks.front().extent.length);
    ASSERT_TRUE((*source)->read_at(dataset->chunks.front().extent.offset, stored));
    for (const size_t left : {size_t{0}, size_t{1}, stored.size() / 2, stored.size() - 1}) {
      const Bytes cut(stored.begin(), stored.begin() + static_cast<ptrdiff_t>(left));
      EXPECT_FALSE(hdf5::undo_filters(dataset->filters, 0, cut, dataset->chunk_bytes()));
    }
  }
};

TEST_F(Hdf5OthersFilters, Zstd) {
  expect_undone(32015, {3}, [](std::span<const std::byte> raw) {
    Bytes packed(ZSTD_compressBound(raw.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), 3));
    return packed;
  });
}

#ifdef FOREBAY_HAVE_BZIP2
TEST_F(Hdf5OthersFilters, Bzip2) {
  expect_undone(307, {9}, [](std::span<const std::byte> raw) {
    Bytes packed(raw.size() * 2 + 600);
    auto size = static_cast<unsigned>(packed.size());
    BZ2_bzBuffToBuffCompress(reinterpret_cast<char*>(packed.data()), &size,
                             const_cast<char*>(reinterpret_cast<const char*>(raw.data())),
                             static_cast<unsigned>(raw.size()), 9, 0, 0);
    packed.resize(size);
    return packed;
  });
}
#endif

#ifdef FOREBAY_HAVE_BLOSC
TEST_F(Hdf5OthersFilters, Blosc) {
  for (const char* coder : {"blosclz", "lz4", "zstd"})
    for (const int shuffle : {0, 1, 2})
      expect_undone(32001, {2, 2, 4, 0}, [&](std::span<const std::byte> raw) {
        Bytes packed(raw.size() + BLOSC_MAX_OVERHEAD);
        const int size =
            blosc_compress_ctx(5, shuffle, 4, raw.size(), raw.data(), packed.data(), packed.size(), coder, 0, 1);
        packed.resize(static_cast<size_t>(size));
        return packed;
      });
}
#endif

#ifdef FOREBAY_HAVE_LZ4
Bytes lz4_block(std::span<const std::byte> raw) {
  Bytes packed(static_cast<size_t>(LZ4_compressBound(static_cast<int>(raw.size()))));
  packed.resize(static_cast<size_t>(
      LZ4_compress_default(reinterpret_cast<const char*>(raw.data()), reinterpret_cast<char*>(packed.data()),
                           static_cast<int>(raw.size()), static_cast<int>(packed.size()))));
  return packed;
}

TEST_F(Hdf5OthersFilters, Lz4) {
  for (const uint32_t block : {1000U, 1U << 30})
    expect_undone(32004, {block}, [&](std::span<const std::byte> raw) {
      Bytes packed;
      append_be<uint64_t>(packed, raw.size());
      append_be<uint32_t>(packed, block);
      for (size_t at = 0; at < raw.size(); at += block) {
        const auto here = raw.subspan(at, std::min<size_t>(block, raw.size() - at));
        Bytes one = lz4_block(here);
        if (one.size() >= here.size() || at == block) one.assign(here.begin(), here.end());
        append_be<uint32_t>(packed, static_cast<uint32_t>(one.size()));
        packed.insert(packed.end(), one.begin(), one.end());
      }
      return packed;
    });
}

// By its definition: bit by bit.
Bytes shuffle_bits(std::span<const std::byte> raw, size_t width) {
  const size_t elements = raw.size() / width;
  Bytes shuffled(raw.size());
  for (size_t i = 0; i < elements; ++i)
    for (size_t bit = 0; bit < 8 * width; ++bit)
      if ((raw[i * width + bit / 8] >> (bit % 8) & std::byte{1}) != std::byte{0})
        shuffled[bit * (elements / 8) + i / 8] |= std::byte{1} << (i % 8);
  return shuffled;
}

TEST_F(Hdf5OthersFilters, BitShuffle) {
  constexpr size_t kWidth = 4;
  for (const unsigned packing : {0U, 2U, 3U})
    for (const size_t block : {size_t{64}, size_t{2048}})
      for (const hsize_t columns : {30, 31})  // the second leaves elements that are no group of eight
        expect_undone(
            32008, {0, 4, kWidth, packing == 0 && block == 2048 ? 0 : static_cast<unsigned>(block), packing},
            [&](std::span<const std::byte> raw) {
              Bytes packed;
              if (packing != 0) {
                append_be<uint64_t>(packed, raw.size());
                append_be<uint32_t>(packed, static_cast<uint32_t>(block * kWidth));
              }
              const size_t grouped = raw.size() / kWidth / 8 * 8 * kWidth;
              for (size_t at = 0; at < grouped; at += block * kWidth) {
                Bytes one = shuffle_bits(raw.subspan(at, std::min(block * kWidth, grouped - at)), kWidth);
                if (packing == 3) {
                  Bytes smaller(ZSTD_compressBound(one.size()));
                  smaller.resize(ZSTD_compress(smaller.data(), smaller.size(), one.data(), one.size(), 1));
                  one = smaller;
                } else if (packing == 2) {
                  one = lz4_block(one);
                }
                if (packing != 0) append_be<uint32_t>(packed, static_cast<uint32_t>(one.size()));
                packed.insert(packed.end(), one.begin(), one.end());
              }
              packed.insert(packed.end(), raw.begin() + static_cast<ptrdiff_t>(grouped), raw.end());
              return packed;
            },
            columns);
}
#endif

TEST_F(Hdf5Values, WhatCannotBeUndoneIsNamed) {
  const auto refused = hdf5::undo_filters(std::vector<hdf5::Filter>{{.id = 32013, .name = "ZFP"}}, 0, Bytes(10), 10);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unsupported);
  EXPECT_NE(refused.error().what.find("32013 ('ZFP')"), std::string::npos) << refused.error().what;
  EXPECT_TRUE(hdf5::undo_filters(std::vector<hdf5::Filter>{{.id = 32013}}, 1, Bytes(10), 10));  // not applied
  std::vector<unsigned> packings = {7};                                                         // which nobody has
#ifndef FOREBAY_HAVE_LZ4
  packings.push_back(2);
#endif
  for (const unsigned packing : packings) {
    const std::vector<hdf5::Filter> shuffled = {{.id = 32008, .values = {0, 4, 4, 0, packing}}};
    const auto unknown = hdf5::undo_filters(shuffled, 0, Bytes(40), 40);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().kind, ErrorKind::unsupported);
  }
}

TEST_F(Hdf5Values, CompoundsOfNBitHaveMembers) {
  const std::vector<hdf5::Filter> empty = {{.id = 5, .values = {6, 0, 1, 3, 4, 0}}};
  const auto refused = hdf5::undo_filters(empty, 0, Bytes(4), 4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
}

// A fill value that nobody understands matters where something was never written.
TEST_F(Hdf5Values, AnUnknownFillValueOfWhatIsAllThere) {
  const int64_t fill = 0x123456789abcdef;
  for (const bool is_all_there : {true, false}) {
    make({.type = H5T_STD_I64LE,
          .shape = {8},
          .chunk = {4},
          .set_up =
              [&](hid_t properties) {
                H5Pset_fill_value(properties, H5T_STD_I64LE, &fill);
                H5Pset_deflate(properties, 1);
              },
          .write = is_all_there ? std::function<void(hid_t)>() : [](hid_t) {}});
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::string wanted(reinterpret_cast<const char*>(&fill), sizeof fill);
    constexpr size_t kVersion = 8, kHasValue = 5;  // bytes before the value, in the newer of two messages
    size_t found = 0;
    for (size_t at = 0; (at = bytes.find(wanted, at)) != std::string::npos; ++at) {
      if (bytes[at - kHasValue] != 1) continue;
      ++found;
      file.seekp(static_cast<std::streamoff>(at - kVersion));
      file.put('\x09');
    }
    file.close();
    EXPECT_EQ(found, 1U);
    const auto values = values_of(path(), "/x");
    EXPECT_EQ(values.has_value(), is_all_there);
    if (!values) {
      EXPECT_EQ(values.error().kind, ErrorKind::unsupported);
    }
  }
}

// A chunk that inflates to more than its shape has is an error; so is one of which a byte changed on its way.
TEST_F(Hdf5Values, ChunksThatAreNotWhatTheyShouldBe) {
  const std::vector<hdf5::Filter> deflate = {{.id = 1}}, checksum = {{.id = 3}};
  const Bytes zeros(8 << 20);
  Bytes packed(1 << 16);
  libdeflate_compressor* const compressor = libdeflate_alloc_compressor(6);
  packed.resize(libdeflate_zlib_compress(compressor, zeros.data(), zeros.size(), packed.data(), packed.size()));
  libdeflate_free_compressor(compressor);
  EXPECT_TRUE(hdf5::undo_filters(deflate, 0, packed, zeros.size()));
  for (const uint64_t other : {zeros.size() - 1, zeros.size() + 1, uint64_t{100}}) {
    const auto refused = hdf5::undo_filters(deflate, 0, packed, other);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
  }
  const std::byte sum[] = {std::byte{7}, std::byte{0}, std::byte{0}, std::byte{0}};
  EXPECT_FALSE(hdf5::undo_filters(checksum, 0, Bytes(std::begin(sum), std::end(sum)), 0));
  EXPECT_TRUE(hdf5::undo_filters(checksum, 0, Bytes(104), 100));
}

}  // namespace
}  // namespace forebay::format
