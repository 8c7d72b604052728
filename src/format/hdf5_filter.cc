#include "format/hdf5_filter.h"

#include <algorithm>

#include <fmt/format.h>

#include "format/hdf5_filter_steps.h"

namespace forebay::format::hdf5 {
namespace {

struct Known {
  uint16_t id;
  std::string_view name;
  UndoFilter* undo;
};

constexpr Known kFilters[] = {
    {1, "deflate", undo_deflate},
    {2, "shuffle", undo_shuffle},
    {3, "fletcher32", undo_fletcher32},
#ifdef FOREBAY_HAVE_SZIP
    {4, "szip", undo_szip},
#endif
    {5, "nbit", undo_nbit},
    {6, "scaleoffset", undo_scale_offset},
#ifdef FOREBAY_HAVE_BZIP2
    {307, "bzip2", undo_bzip2},
#endif
    {32000, "lzf", undo_lzf},
#ifdef FOREBAY_HAVE_BLOSC
    {32001, "blosc", undo_blosc},
#endif
#ifdef FOREBAY_HAVE_LZ4
    {32004, "lz4", undo_lz4},
#endif
    {32008, "bitshuffle", undo_bitshuffle},
    {32015, "zstd", undo_zstd},
};

std::unexpected<Error> not_known(const Filter& filter) {
  return fail(ErrorKind::unsupported,
              fmt::format("its chunks went through HDF5's filter {}{}, which is not undone", filter.id,
                          filter.name.empty() ? "" : fmt::format(" ('{}')", filter.name)),
              {}, {}, "`forebay mount` shows the file to programs that have the filter");
}

}  // namespace

std::optional<std::vector<Filter>> decode_filters(Cursor message) {
  constexpr uint8_t kMostFilters = 32;  // as HDF5 has it: a mask has a bit for each
  constexpr uint16_t kFirstNamed = 256;
  const uint8_t version = message.u8(), count = message.u8();
  if ((version != 1 && version != 2) || count > kMostFilters) return {};
  if (version == 1) message.skip(6);
  std::vector<Filter> filters(count);
  for (Filter& filter : filters) {
    filter.id = message.u16();
    const uint16_t name_bytes = version == 1 || filter.id >= kFirstNamed ? message.u16() : 0;
    message.skip(2);  // whether a chunk may do without: its mask says whether it does
    const uint16_t values = message.u16();
    const std::string_view name = message.text(name_bytes);
    filter.name = name.substr(0, name.find('\0'));
    if (values > message.remaining() / sizeof(uint32_t)) return {};
    filter.values.resize(values);
    for (uint32_t& value : filter.values) value = message.u32();
    if (version == 1 && values % 2 != 0) message.skip(4);
  }
  if (!message.ok()) return {};
  return filters;
}

Result<Bytes> undo_filters(std::span<const Filter> filters, uint32_t mask, Bytes stored, uint64_t raw_bytes,
                           const OtherFilter& other) {
  // A filter before the one that is undone may have added a little: a checksum, or how it has packed.
  const uint64_t most = raw_bytes + raw_bytes / 64 + 4096;
  Bytes bytes = std::move(stored);
  for (size_t i = filters.size(); i-- > 0;) {
    if ((mask >> i & 1) != 0) continue;
    if (other.undo != nullptr && filters[i].id == other.id) {
      FOREBAY_TRY(bytes, other.undo(bytes, most));
      continue;
    }
    const auto known = std::ranges::find(kFilters, filters[i].id, &Known::id);
    if (known == std::end(kFilters) || (known->undo == undo_bitshuffle && !can_undo_bitshuffle(filters[i].values)))
      return not_known(filters[i]);
    auto undone = known->undo(filters[i].values, bytes, most);
    if (!undone)
      return fail(ErrorKind::corrupt, fmt::format("the {} bytes of a chunk are not what HDF5's filter {} makes of {}",
                                                  bytes.size(), known->name, raw_bytes));
    bytes = *std::move(undone);
  }
  if (bytes.size() == raw_bytes) return bytes;
  return fail(ErrorKind::corrupt, fmt::format("a chunk has {} bytes where its shape has {}", bytes.size(), raw_bytes));
}

}  // namespace forebay::format::hdf5
