#include "fabric/records.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace forebay::fabric {
namespace {

constexpr size_t kLeastRoom = 4096;
constexpr size_t kMostRoom = kRecordLengthBytes + kMaxRecordContent + kRecordTagBytes;

// Has libsodium choose what is fast on this processor. Without randomness it cannot, as new_secret() cannot.
void prepare_sodium() {
  static const bool is_ready = ::sodium_init() >= 0;
  if (!is_ready) std::abort();
}

unsigned char* unsigned_of(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* unsigned_of(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }

std::unexpected<Error> not_genuine() {
  return fail(ErrorKind::corrupt, "an encrypted record is not what the other side has sent next");
}

}  // namespace

RecordWriter::RecordWriter(const RecordKey& key) {
  prepare_sodium();
  crypto_secretstream_xchacha20poly1305_init_push(&state_, header_.data(), unsigned_of(key.data()));
}

RecordWriter::~RecordWriter() { ::sodium_memzero(&state_, sizeof state_); }

void RecordWriter::write(std::span<const std::byte> content, Bytes& to) {
  if (!begun_) {
    const auto header = std::as_bytes(std::span(header_));
    to.insert(to.end(), header.begin(), header.end());
    begun_ = true;
  }
  while (!content.empty()) {
    const auto part = content.first(std::min(content.size(), kMaxRecordContent));
    const size_t at = to.size();
    to.resize(at + kRecordLengthBytes + part.size() + kRecordTagBytes);
    store_le(to.data() + at, static_cast<uint32_t>(part.size() + kRecordTagBytes));
    crypto_secretstream_xchacha20poly1305_push(&state_, unsigned_of(to.data() + at + kRecordLengthBytes), nullptr,
                                               unsigned_of(part.data()), part.size(), nullptr, 0,
                                               crypto_secretstream_xchacha20poly1305_TAG_MESSAGE);
    content = content.subspan(part.size());
  }
}

RecordReader::RecordReader(const RecordKey& key) : key_(key) { prepare_sodium(); }

RecordReader::~RecordReader() {
  ::sodium_memzero(&state_, sizeof state_);
  ::sodium_memzero(key_.data(), key_.size());
}

std::span<std::byte> RecordReader::room() {
  if (begin_ > 0) {
    if (held() > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, held());
    end_ -= begin_;
    begin_ = 0;
  }
  // A connection with small messages keeps a small buffer.
  if (buffer_.size() - end_ < kLeastRoom) buffer_.resize(std::max(end_ + kLeastRoom, std::min(2 * end_, kMostRoom)));
  return std::span(buffer_).subspan(end_);
}

Result<bool> RecordReader::begin_stream() {
  if (begun_) return true;
  if (held() < kStreamHeaderBytes) return false;
  if (crypto_secretstream_xchacha20poly1305_init_pull(&state_, unsigned_of(buffer_.data() + begin_),
                                                      unsigned_of(key_.data())) != 0)
    return not_genuine();
  begin_ += kStreamHeaderBytes;
  begun_ = true;
  return true;
}

Result<std::optional<size_t>> RecordReader::pending() {
  FOREBAY_TRY(const bool begun, begin_stream());
  if (!begun || held() < kRecordLengthBytes) return std::nullopt;
  const auto length = load_le<uint32_t>(buffer_.data() + begin_);
  if (length <= kRecordTagBytes || length > kMaxRecordContent + kRecordTagBytes)
    return fail(ErrorKind::corrupt, fmt::format("an encrypted record of {} bytes, where {} to {} are allowed", length,
                                                kRecordTagBytes + 1, kMaxRecordContent + kRecordTagBytes));
  if (held() - kRecordLengthBytes < length) return std::nullopt;
  return length - kRecordTagBytes;
}

Result<void> RecordReader::take(std::span<std::byte> out) {
  const std::byte* record = buffer_.data() + begin_ + kRecordLengthBytes;
  unsigned char tag = 0;
  const int fault = crypto_secretstream_xchacha20poly1305_pull(
      &state_, unsigned_of(out.data()), nullptr, &tag, unsigned_of(record), out.size() + kRecordTagBytes, nullptr, 0);
  if (fault != 0 || tag != crypto_secretstream_xchacha20poly1305_TAG_MESSAGE) return not_genuine();
  begin_ += kRecordLengthBytes + out.size() + kRecordTagBytes;
  if (begin_ == end_) begin_ = end_ = 0;
  return {};
}

}  // namespace forebay::fabric
