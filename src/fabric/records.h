// Encrypted records: what a connection's bytes are cut into, from the handshake on, where its job encrypts
// (docs/wire.md, "Encryption"). A layer between frames and sockets, whose two directions know nothing of each other.
// Pure.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include <sodium.h>

#include "base/bytes.h"
#include "base/error.h"

namespace forebay::fabric {

inline constexpr size_t kRecordKeyBytes = crypto_secretstream_xchacha20poly1305_KEYBYTES;
using RecordKey = std::array<std::byte, kRecordKeyBytes>;

// The keys of one connection, as one of its sides has them.
struct RecordKeys {
  RecordKey out, in;
};

inline constexpr size_t kStreamHeaderBytes = crypto_secretstream_xchacha20poly1305_HEADERBYTES;
inline constexpr size_t kRecordLengthBytes = 4;
inline constexpr size_t kRecordTagBytes = crypto_secretstream_xchacha20poly1305_ABYTES;
inline constexpr size_t kMaxRecordContent = 64u << 10;

// Bytes that senders encrypt before they send them.
inline constexpr size_t kEncryptedAtOnce = 2 * kMaxRecordContent;

// The direction that this side sends.
class RecordWriter {
 public:
  explicit RecordWriter(const RecordKey& key);
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  RecordWriter(RecordWriter&&) noexcept = default;
  RecordWriter& operator=(RecordWriter&&) noexcept = default;
  ~RecordWriter();

  // Appends the records of `content` to `to`, and before the first one of all the header of the stream. They are to be
  // sent in the order in which they were written.
  void write(std::span<const std::byte> content, Bytes& to);

 private:
  crypto_secretstream_xchacha20poly1305_state state_{};
  std::array<unsigned char, kStreamHeaderBytes> header_{};
  bool begun_ = false;
};

// The direction that this side receives. Memory: one record and what one read brings.
class RecordReader {
 public:
  explicit RecordReader(const RecordKey& key);
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;
  RecordReader(RecordReader&&) noexcept = default;
  RecordReader& operator=(RecordReader&&) noexcept = default;
  ~RecordReader();

  // Room to read into, 4 KiB at least; followed by commit() with the number of bytes that was read.
  std::span<std::byte> room();
  void commit(size_t size) { end_ += size; }

  // The number of bytes in the next record, if all of it is there. corrupt if no record begins so: its length is held
  // to kMaxRecordContent before anything is made of it, or of the bytes behind it.
  Result<std::optional<size_t>> pending();

  // Decrypts that record into `out`, which has the number of bytes that pending() has returned. corrupt if it is not
  // what the other side has written next: then the connection is of no use any more.
  Result<void> take(std::span<std::byte> out);

 private:
  size_t held() const { return end_ - begin_; }
  Result<bool> begin_stream();

  RecordKey key_;
  crypto_secretstream_xchacha20poly1305_state state_{};
  bool begun_ = false;
  Bytes buffer_;
  size_t begin_ = 0, end_ = 0;
};

}  // namespace forebay::fabric
