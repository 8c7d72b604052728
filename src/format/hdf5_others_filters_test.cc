// Chunks behind filters that are not libhdf5's own, packed by the libraries that they are of.
#include <algorithm>
#include <cstdlib>
#include <numeric>

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

#include "format/test_hdf5_values.h"

namespace forebay::format {
namespace {

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

}  // namespace
}  // namespace forebay::format
