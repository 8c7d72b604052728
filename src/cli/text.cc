#include "cli/text.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace forebay::cli {

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

// Line and paragraph separators, bidirectional overrides and isolates, invisible joiners.
bool is_deceptive(uint32_t code) {
  return (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || code == 0x061c;
}

bool is_plain(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

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

size_t columns(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<uint8_t>(c) & 0xc0) != 0x80;
  return count;
}

std::string wrapped(std::string_view text, size_t indent) {
  constexpr size_t kColumns = 80;
  std::string result;
  for (size_t column = indent; !text.empty();) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!result.empty() && column + 1 + columns(word) > kColumns) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!result.empty()) {
      result += ' ';
      ++column;
    }
    result += word;
    column += columns(word);
  }
  return result;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k) word = word << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) result += i + k > bytes.size() ? '=' : kDigits[word >> (18 - 6 * k) & 63];
  }
  return result;
}

std::string as_file_name(std::string_view path) {
  constexpr size_t kMost = 120;
  while (path.starts_with('/')) path.remove_prefix(1);
  std::string result(path.substr(0, kMost));
  for (char& c : result)
    if (!is_plain(c) && c != '.' && c != '-' && c != '_') c = '_';
  if (result.empty() || result[0] == '.') result.insert(0, "_");
  return result;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kSafe = "/._-+=@,:%";
  bool safe = !text.empty();
  for (const char c : text) safe = safe && (is_plain(c) || kSafe.find(c) != kSafe.npos);
  if (safe) return std::string(text);
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace forebay::cli
