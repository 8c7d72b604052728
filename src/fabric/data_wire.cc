#include "fabric/data_wire.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/cursor.h"

namespace forebay::fabric::data_wire {
namespace {

constexpr size_t kMaxPath = 4096, kMaxWhat = 512;

// By their numbers on the wire, from 1.
constexpr std::array kKinds = {ErrorKind::io,         ErrorKind::not_found,        ErrorKind::changed,
                               ErrorKind::permission, ErrorKind::invalid_argument, ErrorKind::limit,
                               ErrorKind::unsupported};

class Writer {
 public:
  Writer(Bytes& to, Type type) : to_(to), begin_(begin_frame(to, static_cast<uint8_t>(type))) {}
  ~Writer() { end_frame(to_, begin_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  Writer& number(uint64_t value) { return put_varint(to_, value), *this; }
  Writer& text(std::string_view value) { return put_text(to_, value), *this; }
  Writer& bytes(std::span<const std::byte> value) { return to_.insert(to_.end(), value.begin(), value.end()), *this; }

 private:
  Bytes& to_;
  size_t begin_;
};

std::unexpected<Error> broken(const char* what) { return fail(ErrorKind::corrupt, what); }

void write(Writer& writer, const Read& read) {
  writer.number(read.number).number(read.exposure).number(read.pieces.size());
  for (const Piece& piece : read.pieces) writer.number(piece.file).number(piece.offset).number(piece.length);
}

Result<void> check_bounds(const std::vector<Piece>& pieces) {
  std::vector<uint32_t> files;
  uint64_t bytes = 0;
  for (const Piece& piece : pieces) {
    bytes += piece.length;  // each at most kMaxReadBytes
    files.push_back(piece.file);
  }
  std::ranges::sort(files);
  const auto different = static_cast<size_t>(std::ranges::unique(files).begin() - files.begin());
  if (bytes > kMaxReadBytes || different > kMaxFiles) return broken("a request for too much");
  return {};
}

}  // namespace

void encode(Bytes& to, const Read& read) {
  Writer writer(to, Type::read);
  write(writer, read);
}

void encode(Bytes& to, const Read& read, const Token& token) {
  Writer writer(to, Type::ucx_read);
  writer.bytes(token);
  write(writer, read);
}

Result<Read> decode_read(std::span<const std::byte> body) {
  Cursor from(body);
  Read read;
  read.number = from.varint();
  read.exposure = from.varint();
  const uint64_t count = from.varint(kMaxPieces);
  if (!from.ok() || count > from.remaining()) return broken("a malformed request");
  read.pieces.resize(count);
  for (Piece& piece : read.pieces) {
    piece.file = static_cast<uint32_t>(from.varint(std::numeric_limits<uint32_t>::max()));
    piece.offset = from.varint(std::numeric_limits<int64_t>::max());
    piece.length = from.varint(kMaxReadBytes);
  }
  if (!from.at_end()) return broken("a malformed request");
  FOREBAY_CHECK(check_bounds(read.pieces));
  return read;
}

Result<UcxRead> decode_ucx_read(std::span<const std::byte> body) {
  if (body.size() < kTokenBytes) return broken("a malformed request");
  UcxRead request;
  std::ranges::copy(body.first(kTokenBytes), request.token.begin());
  FOREBAY_TRY(request.read, decode_read(body.subspan(kTokenBytes)));
  return request;
}

uint64_t total(std::span<const Piece> pieces) {
  uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.length;
  return bytes;
}

std::vector<std::vector<Piece>> cut(std::span<const Piece> pieces) {
  std::vector<std::vector<Piece>> requests;
  std::set<uint32_t> files;
  uint64_t room = 0;
  for (Piece rest : pieces) {
    do {
      const bool full = requests.empty() || requests.back().size() == kMaxPieces || (room == 0 && rest.length > 0) ||
                        (files.size() == kMaxFiles && !files.contains(rest.file));
      if (full) {
        requests.emplace_back();
        files.clear();
        room = kMaxReadBytes;
      }
      const uint64_t length = std::min(rest.length, room);
      requests.back().push_back({rest.file, rest.offset, length});
      files.insert(rest.file);
      room -= length;
      rest.offset += length;
      rest.length -= length;
    } while (rest.length > 0);
  }
  return requests;
}

void encode(Bytes& to, const Check& check) { Writer(to, Type::check).number(check.number).number(check.exposure); }

Result<Check> decode_check(std::span<const std::byte> body) {
  Cursor from(body);
  const Check check{from.varint(), from.varint()};
  if (!from.at_end()) return broken("a malformed check");
  return check;
}

Bytes data_header(uint64_t number, uint64_t bytes) {
  Bytes header;
  begin_frame(header, static_cast<uint8_t>(Type::data));
  store_le(header.data(), static_cast<uint32_t>(kDataNumberBytes + bytes));
  header.resize(kFrameHeaderBytes + kDataNumberBytes);
  store_le(header.data() + kFrameHeaderBytes, number);
  return header;
}

void encode_number(Bytes& to, Type type, uint64_t number) { Writer(to, type).number(number); }

Result<uint64_t> decode_number(std::span<const std::byte> body) {
  Cursor from(body);
  const uint64_t number = from.varint();
  if (!from.at_end()) return broken("a malformed answer");
  return number;
}

void encode(Bytes& to, const Failed& failed) {
  const auto kind = std::ranges::find(kKinds, failed.error.kind);
  const auto code = kind == kKinds.end() ? 0 : kind - kKinds.begin();
  Writer(to, Type::failed)
      .number(failed.number)
      .number(static_cast<uint64_t>(code) + 1)
      .text(std::string_view(failed.error.path).substr(0, kMaxPath))
      .text(std::string_view(failed.error.what).substr(0, kMaxWhat));
}

Result<Failed> decode_failed(std::span<const std::byte> body) {
  Cursor from(body);
  Failed failed;
  failed.number = from.varint();
  const uint64_t code = from.varint(kKinds.size());
  failed.error.path = from.varint_text(kMaxPath);
  failed.error.what = from.varint_text(kMaxWhat);
  if (!from.at_end() || code == 0) return broken("a malformed failure");
  failed.error.kind = kKinds[code - 1];
  return failed;
}

void encode(Bytes& to, Type type, const UcxAddress& address) {
  Writer(to, type).number(address.version).text(as_text(address.bytes));
}

Result<UcxAddress> decode_address(std::span<const std::byte> body) {
  Cursor from(body);
  UcxAddress address;
  address.version = from.varint();
  const auto bytes = as_bytes(from.varint_text(kMaxUcxAddress));
  if (!from.at_end()) return broken("a malformed address");
  address.bytes.assign(bytes.begin(), bytes.end());
  return address;
}

}  // namespace forebay::fabric::data_wire
