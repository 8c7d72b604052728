#include "container/column.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace forebay::container {

namespace {

// A FlatBuffer ends before 2 GiB; the rest is for what lies between the columns.
constexpr uint64_t kMaxBuffer = uint64_t{3} << 29;

// Small planes are worth thorough compression, large ones get what costs less than computing them did.
constexpr size_t kSmallPlane = 256 << 10;
constexpr int kProbeLevel = 1, kSmallLevel = 15, kLargeLevel = 5;
constexpr size_t kWorthwhilePlane = 192;  // below, quick writers do not try

// This thread's: many small indices are read one after another.
ZSTD_DCtx* decompressor() {
  thread_local const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> own(ZSTD_createDCtx(), ZSTD_freeDCtx);
  return own.get();
}

size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

void delta_encode(std::span<uint64_t> values) {
  uint64_t before = 0;
  for (uint64_t& value : values) {
    const uint64_t difference = value - before;
    before = value;
    value = zigzag(difference);
  }
}

void delta_decode(std::span<uint64_t> values) {
  uint64_t before = 0;
  for (uint64_t& value : values) before = value = before + unzigzag(value);
}

ColumnWriter::ColumnWriter(Effort effort) : effort_(effort), zstd_(nullptr, ZSTD_freeCCtx) {}

uint32_t ColumnWriter::pack_plane(std::span<const std::byte> plane) {
  const auto squeeze = [&](int level) {
    if (!zstd_) zstd_.reset(ZSTD_createCCtx());
    const size_t size =
        ZSTD_compressCCtx(zstd_.get(), scratch_.data(), scratch_.size(), plane.data(), plane.size(), level);
    return ZSTD_isError(size) ? plane.size() : std::min(size, plane.size());
  };
  const auto append = [&](std::span<const std::byte> stored) {
    planes_.insert(planes_.end(), stored.begin(), stored.end());
    return static_cast<uint32_t>(stored.size());
  };
  if (std::ranges::all_of(plane, [](std::byte b) { return b == std::byte{0}; })) return 0;
  if (effort_ == Effort::quick && plane.size() < kWorthwhilePlane) return append(plane);
  scratch_.resize(ZSTD_compressBound(plane.size()));
  // Noise, which most planes of floating-point columns are, is told apart cheaply.
  size_t size = squeeze(kProbeLevel);
  if (size < plane.size() && effort_ == Effort::thorough)
    size = squeeze(plane.size() <= kSmallPlane ? kSmallLevel : kLargeLevel);
  return append(size < plane.size() ? std::span<const std::byte>(scratch_).first(size) : plane);
}

ColumnWriter::Column ColumnWriter::add(uint64_t count, std::span<const uint32_t> sizes) {
  if (builder_.GetSize() + planes_.size() > kMaxBuffer) {
    too_large_ = true;
    planes_.clear();
  }
  if (count == 0) return 0;
  if (sizes.empty()) return fb::CreateColumn(builder_, count);
  const auto sizes_offset = builder_.CreateVector(sizes.data(), sizes.size());
  const auto planes_offset = builder_.CreateVector(reinterpret_cast<const uint8_t*>(planes_.data()), planes_.size());
  planes_.clear();
  return fb::CreateColumn(builder_, count, sizes_offset, planes_offset);
}

ColumnWriter::Column ColumnWriter::put(std::span<const uint64_t> values) {
  uint64_t all_bits = 0;
  for (const uint64_t value : values) all_bits |= value;
  std::vector<uint32_t> sizes;
  plane_.resize(values.size());
  for (int shift = 0; shift < static_cast<int>(std::bit_width(all_bits)); shift += 8) {
    for (size_t i = 0; i < values.size(); ++i) plane_[i] = static_cast<std::byte>(values[i] >> shift);
    sizes.push_back(pack_plane(plane_));
  }
  return add(values.size(), sizes);
}

ColumnWriter::Column ColumnWriter::put_deltas(Values values) {
  delta_encode(values);
  return put(values);
}

ColumnWriter::Column ColumnWriter::put_bytes(std::span<const std::byte> bytes) {
  if (bytes.empty()) return add(0, {});
  const uint32_t size = pack_plane(bytes);
  return add(bytes.size(), std::span(&size, 1));
}

ColumnWriter::Texts ColumnWriter::put(std::span<const std::string> texts) {
  if (texts.empty()) return 0;
  Values shared, lengths;
  Bytes rests;
  std::string_view before;
  for (const std::string& text : texts) {
    const size_t prefix = common_prefix(before, text);
    const auto rest = as_bytes(text).subspan(prefix);
    shared.push_back(prefix);
    lengths.push_back(rest.size());
    rests.insert(rests.end(), rest.begin(), rest.end());
    before = text;
  }
  const Column shared_offset = put(shared), lengths_offset = put(lengths), rests_offset = put_bytes(rests);
  return fb::CreateTexts(builder_, shared_offset, lengths_offset, rests_offset);
}

Result<Bytes> ColumnWriter::take() {
  if (too_large_ || builder_.GetSize() > kMaxBuffer)
    return fail(ErrorKind::limit, "the index would pass 1.5 GiB", {}, {}, "use a smaller --group-size");
  const auto* begin = reinterpret_cast<const std::byte*>(builder_.GetBufferPointer());
  Bytes bytes(begin, begin + builder_.GetSize());
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes;
}

ColumnReader::ColumnReader(MemoryBudget& budget) : budget_(budget) {}

Result<Lease> ColumnReader::lease(uint64_t count, uint64_t bytes) {
  uint64_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total)) total = UINT64_MAX;
  auto lease = budget_.try_lease(total);
  if (!lease) lease.error().what = "index: " + lease.error().what;
  return lease;
}

Result<void> ColumnReader::unpack_plane(std::span<const std::byte> stored, std::span<std::byte> plane) {
  if (stored.empty()) {
    std::ranges::fill(plane, std::byte{0});
  } else if (stored.size() == plane.size()) {
    std::ranges::copy(stored, plane.begin());
  } else {
    if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != plane.size())
      return bad("a column's compressed size contradicts its count");
    if (ZSTD_decompressDCtx(decompressor(), plane.data(), plane.size(), stored.data(), stored.size()) != plane.size())
      return bad("a column cannot be decompressed");
  }
  return {};
}

namespace {

// Cuts a column into the stored forms of its planes.
Result<std::vector<std::span<const std::byte>>> cut_planes(const fb::Column& column, size_t max_planes) {
  std::vector<std::span<const std::byte>> planes;
  const auto* sizes = column.plane_sizes();
  const auto* data = column.planes();
  if (sizes == nullptr || sizes->size() == 0) return planes;
  if (data == nullptr || sizes->size() > max_planes) return bad("a column has a wrong number of planes");
  auto rest = std::as_bytes(std::span(data->data(), data->size()));
  for (const uint32_t size : *sizes) {
    if (size > rest.size()) return bad("a column's planes are not there");
    planes.push_back(rest.first(size));
    rest = rest.subspan(size);
  }
  return planes;
}

}  // namespace

Result<Decoded<uint64_t>> ColumnReader::get(const fb::Column* column, uint64_t expected, uint64_t max) {
  if (count(column) != expected) return bad("a column has a wrong number of entries");
  Decoded<uint64_t> decoded;
  if (expected == 0) return decoded;
  FOREBAY_TRY(decoded.lease, lease(expected, sizeof(uint64_t) + 1));
  FOREBAY_TRY(const auto planes, cut_planes(*column, sizeof(uint64_t)));
  decoded.values.resize(expected);
  plane_.resize(expected);
  for (size_t k = 0; k < planes.size(); ++k) {
    if (planes[k].empty()) continue;
    FOREBAY_CHECK(unpack_plane(planes[k], plane_));
    for (size_t i = 0; i < plane_.size(); ++i) decoded.values[i] |= std::to_integer<uint64_t>(plane_[i]) << (8 * k);
  }
  if (std::ranges::any_of(decoded.values, [max](uint64_t value) { return value > max; }))
    return bad("a column has an impossible value");
  return decoded;
}

Result<Decoded<uint64_t>> ColumnReader::get_deltas(const fb::Column* column, uint64_t expected, uint64_t max) {
  FOREBAY_TRY(Decoded<uint64_t> decoded, get(column, expected));
  delta_decode(decoded.values);
  if (std::ranges::any_of(decoded.values, [max](uint64_t value) { return value > max; }))
    return bad("a column has an impossible value");
  return decoded;
}

Result<Decoded<std::byte>> ColumnReader::get_bytes(const fb::Column* column) {
  Decoded<std::byte> decoded;
  if (count(column) == 0) return decoded;
  FOREBAY_TRY(decoded.lease, lease(count(column), 1));
  FOREBAY_TRY(const auto planes, cut_planes(*column, 1));
  decoded.values.resize(count(column));
  if (!planes.empty()) FOREBAY_CHECK(unpack_plane(planes[0], decoded.values));
  return decoded;
}

Result<Decoded<std::string>> ColumnReader::get(const fb::Texts* texts) {
  Decoded<std::string> decoded;
  if (texts == nullptr) return decoded;
  const uint64_t texts_count = count(texts->lengths());
  FOREBAY_TRY(const auto lengths, get(texts->lengths(), texts_count, UINT32_MAX));
  FOREBAY_TRY(const auto shared, get(texts->shared(), texts_count, UINT32_MAX));
  FOREBAY_TRY(const auto rests, get_bytes(texts->rests()));
  uint64_t total = texts_count * sizeof(std::string), rest_total = 0, before = 0;
  for (size_t i = 0; i < texts_count; before = shared[i] + lengths[i], ++i) {
    if (shared[i] > before) return bad("a string shares more than its predecessor has");
    total += shared[i] + lengths[i];
    rest_total += lengths[i];
  }
  if (rest_total != rests.size()) return bad("the lengths of strings do not add up");
  FOREBAY_TRY(decoded.lease, lease(total, 1));
  decoded.values.reserve(texts_count);
  std::string_view rest = as_text(rests.values);
  for (size_t i = 0; i < texts_count; ++i) {
    std::string text = i == 0 ? std::string() : decoded.values.back().substr(0, shared[i]);
    text += rest.substr(0, lengths[i]);
    rest.remove_prefix(lengths[i]);
    decoded.values.push_back(std::move(text));
  }
  return decoded;
}

}  // namespace forebay::container
