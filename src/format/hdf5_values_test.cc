// Chunks that libhdf5 has stored, in every way that it knows: what follows from them must be what libhdf5 reads.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>

#include <libdeflate.h>

#include "format/fuzz.h"
#include "format/test_hdf5_values.h"

namespace forebay::format {
namespace {

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
