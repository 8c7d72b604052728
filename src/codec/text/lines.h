// Text as lines, and lines as templates: what stands between their numbers. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "codec/text/decimal.h"

namespace forebay::codec::text {

inline constexpr size_t kMostNumbers = 250;    // of a line
inline constexpr size_t kMostTemplates = 255;  // of a section that are kept
inline constexpr uint8_t kPlainLine = 0;       // in the place of a template: the line stays text

// The literals of a line with at least one number: before the first, between two, and behind the last one up to the end
// of the line, which is not part of it. Blanks in front of a number belong to the number.
struct Template {
  std::vector<std::string_view> literals;
  uint32_t uses = 0;

  size_t numbers() const { return literals.size() - 1; }
};

// A text, which must stay as long as this does, cut into its lines.
struct Lines {
  struct Line {
    uint32_t bytes = 0;            // with its line end
    uint32_t template_number = 0;  // counted from 1; 0 if the line has no numbers, or too many
  };
  std::vector<Line> lines;
  std::vector<Template> templates;
  std::vector<std::vector<Decimal>> numbers;  // by how many of them their lines have, line by line
};

// `text` has less than 2^32 bytes. A line without a line end, as the last one may be, has no template. Stops, and gives
// what there is so far, at more than `most` lines or numbers.
Lines split_lines(std::string_view text, size_t most);

// Whether most of `text` are numbers: whether it is worth a split. Looks at a few pieces only.
bool is_mostly_numbers(std::string_view text);

}  // namespace forebay::codec::text
