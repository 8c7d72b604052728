// Where something stands in a file, for messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace forebay::io {

// Of what a program declared by calls: no file.
struct TextPlace {
  std::string file;
  size_t line = 0, column = 0;  // the first is 1
};

// "FILE:LINE:COLUMN"; "FILE" without a line.
inline std::string to_string(const TextPlace& place) {
  if (place.line == 0) return place.file;
  return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

// Where `text` ends that begins at this place.
inline TextPlace behind(TextPlace place, std::string_view text) {
  const size_t last = text.rfind('\n');
  place.line += static_cast<size_t>(std::ranges::count(text, '\n'));
  place.column = last == std::string_view::npos ? place.column + text.size() : text.size() - last;
  return place;
}

}  // namespace forebay::io
