#include "cli/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay::cli {

namespace {

bool is_plain(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

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
