// Columns: lists of integers and strings inside the index, as compressed byte planes (docs/format.md, "Columns").
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <zstd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory_budget.h"
#include "container/effort.h"
#include "index_generated.h"

namespace forebay::container {

// The error of an index that cannot be understood.
inline std::unexpected<Error> bad(const char* what) { return fail(ErrorKind::corrupt, std::string("index: ") + what); }

using Values = std::vector<uint64_t>;

// Signed differences as small unsigned numbers: 0, -1, 1, -2, 2, ...
inline uint64_t zigzag(uint64_t difference) { return (difference << 1) ^ (0 - (difference >> 63)); }
inline uint64_t unzigzag(uint64_t value) { return (value >> 1) ^ (0 - (value & 1)); }

// Each value becomes the zigzag of its difference from the one before, and back.
void delta_encode(std::span<uint64_t> values);
void delta_decode(std::span<uint64_t> values);

// A number, or a text, of each row.
template <class Rows, class Field>
Values column_of(const Rows& rows, Field field) {
  Values values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(static_cast<uint64_t>(field(row)));
  return values;
}

template <class Rows, class Field>
std::vector<std::string> texts_of(const Rows& rows, Field field) {
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (const auto& row : rows) texts.push_back(field(row));
  return texts;
}

// Builds one FlatBuffer of columns. An empty list is a column that is not there.
class ColumnWriter {
 public:
  using Column = flatbuffers::Offset<fb::Column>;
  using Texts = flatbuffers::Offset<fb::Texts>;

  explicit ColumnWriter(Effort effort = Effort::thorough);

  Column put(std::span<const uint64_t> values);
  Column put_deltas(Values values);
  Column put_bytes(std::span<const std::byte> bytes);  // one byte a value
  Texts put(std::span<const std::string> texts);

  flatbuffers::FlatBufferBuilder& builder() { return builder_; }

  // The finished buffer, padded with zeros to a multiple of 8. limit if it is too large for a FlatBuffer.
  template <class Table>
  Result<Bytes> finish(flatbuffers::Offset<Table> root) {
    builder_.Finish(root);
    return take();
  }

 private:
  // Appends the plane's stored form to `planes_` and returns its size.
  uint32_t pack_plane(std::span<const std::byte> plane);
  Column add(uint64_t count, std::span<const uint32_t> sizes);
  Result<Bytes> take();

  flatbuffers::FlatBufferBuilder builder_;
  const Effort effort_;
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> zstd_;
  Bytes plane_, planes_, scratch_;
  bool too_large_ = false;
};

// A decoded column, with its share of the memory that decoding may take.
template <class T>
struct Decoded {
  std::vector<T> values;
  Lease lease;

  size_t size() const { return values.size(); }
  T operator[](size_t index) const { return values[index]; }
};

// Reads columns, which are hostile. All members return corrupt for what cannot be, and limit where the budget ends.
class ColumnReader {
 public:
  explicit ColumnReader(MemoryBudget& budget);

  // The values of a column of `count` entries, each at most `max`.
  Result<Decoded<uint64_t>> get(const fb::Column* column, uint64_t count, uint64_t max = UINT64_MAX);
  Result<Decoded<uint64_t>> get_deltas(const fb::Column* column, uint64_t count, uint64_t max = UINT64_MAX);
  Result<Decoded<std::byte>> get_bytes(const fb::Column* column);
  Result<Decoded<std::string>> get(const fb::Texts* texts);

  // Takes `count` times `bytes` of the budget.
  Result<Lease> lease(uint64_t count, uint64_t bytes);

  // The number of entries of a column that may be missing.
  static uint64_t count(const fb::Column* column) { return column ? column->count() : 0; }

 private:
  Result<void> unpack_plane(std::span<const std::byte> stored, std::span<std::byte> plane);

  MemoryBudget& budget_;
  Bytes plane_;
};

// Checks `bytes` (aligned to 8) to be a well-formed FlatBuffer with root `Table`: corrupt if not.
template <class Table>
Result<const Table*> verified_root(std::span<const std::byte> bytes) {
  const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) return fail(ErrorKind::limit, "the index is too large");
  flatbuffers::Verifier verifier(begin, bytes.size());
  if (!verifier.VerifyBuffer<Table>(nullptr)) return fail(ErrorKind::corrupt, "the index is malformed");
  return flatbuffers::GetRoot<Table>(begin);
}

}  // namespace forebay::container
