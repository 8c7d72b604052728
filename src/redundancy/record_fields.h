// The fields of records: numbers of variable length (seven bits a byte, the lowest first; the high bit says that more
// follow), texts with their length before them, and reading of what may be hostile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace forebay::redundancy {

class FieldWriter {
 public:
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  void signed_number(int64_t value) {
    number((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  void text(std::string_view value) {
    number(value.size());
    text_ += value;
  }
  void fixed(uint64_t value) {
    std::byte bytes[sizeof value];
    store_le(bytes, value);
    text_ += as_text(bytes);
  }
  std::string& taken() { return text_; }

 private:
  std::string text_;
};

// Reads on after a fault, but only zeros: callers ask once, at the end.
class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : text_(text) {}

  uint64_t number(uint64_t most = UINT64_MAX) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (text_.empty()) return fault();
      const auto byte = static_cast<uint8_t>(text_.front());
      text_.remove_prefix(1);
      if ((shift == 63 && byte > 1) || (byte == 0 && shift > 0)) return fault();  // one form for each number
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value <= most ? value : fault();
    }
    return fault();
  }
  int64_t signed_number() {
    const uint64_t value = number();
    return static_cast<int64_t>((value >> 1) ^ (0 - (value & 1)));
  }
  std::string text() { return std::string(take(number())); }
  uint64_t fixed() {
    const std::string_view bytes = take(sizeof(uint64_t));
    return bytes.empty() ? 0 : load_le<uint64_t>(as_bytes(bytes).data());
  }
  // How many things of at least `least` bytes each follow: no more than there is room for.
  size_t count(size_t least) { return static_cast<size_t>(number(text_.size() / least)); }

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && text_.empty(); }

 private:
  std::string_view take(uint64_t size) {
    if (size > text_.size()) return fault(), std::string_view{};
    const std::string_view taken = text_.substr(0, static_cast<size_t>(size));
    text_.remove_prefix(static_cast<size_t>(size));
    return taken;
  }
  uint64_t fault() {
    ok_ = false;
    text_ = {};
    return 0;
  }

  std::string_view text_;
  bool ok_ = true;
};

}  // namespace forebay::redundancy
