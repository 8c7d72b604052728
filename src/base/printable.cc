#include "base/printable.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace forebay {
namespace {

struct Decoded {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

// The first character of `text`, which is not empty. Overlong forms, surrogates and codes above 10FFFF are not UTF-8.
Decoded decode_first(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  uint32_t code = lead & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, length};
}

bool is_control(uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

// Line and paragraph separators, bidirectional overrides and isolates, invisible joiners, tags.
bool is_deceptive(uint32_t code) {
  return (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || code == 0x061c || code == 0x00ad || code == 0x180e ||
         (code >= 0xfff9 && code <= 0xfffb) || (code >= 0xe0000 && code <= 0xe0fff);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Decoded first = decode_first(text);
    if (first.bytes == 0 || (first.bytes == 1 && is_control(first.code)))
      result += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
    else if (is_control(first.code) || is_deceptive(first.code))
      result += fmt::format("\\u{{{:04x}}}", first.code);
    else
      result += text.substr(0, first.bytes);
    text.remove_prefix(first.bytes == 0 ? 1 : first.bytes);
  }
  return result;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Decoded first = decode_first(text);
    if (first.bytes == 0) return false;
    text.remove_prefix(first.bytes);
  }
  return true;
}

std::string printable_json(std::string_view document) {
  const auto is_special = [](char c) { return static_cast<uint8_t>(c) >= 0x7f; };
  if (std::ranges::none_of(document, is_special)) return std::string(document);
  std::string result;
  while (!document.empty()) {
    const Decoded first = decode_first(document);
    const size_t bytes = std::max<size_t>(first.bytes, 1);
    const bool is_layout = first.code < 0x20;  // of a text such a character is written as an escape already
    if (first.bytes == 0 || is_layout || (!is_control(first.code) && !is_deceptive(first.code)))
      result += document.substr(0, bytes);
    else if (first.code <= 0xffff)
      result += fmt::format("\\u{:04x}", first.code);
    else  // two halves
      result += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((first.code - 0x10000) >> 10),
                            0xdc00 + ((first.code - 0x10000) & 0x3ff));
    document.remove_prefix(bytes);
  }
  return result;
}

}  // namespace forebay
