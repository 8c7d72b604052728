#include "codec/text/lines.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <unordered_map>

namespace forebay::codec::text {
namespace {

constexpr size_t kMostCandidates = 4096;  // for templates,
constexpr size_t kMostLiterals = 32768;   // and of literals in them
constexpr size_t kMostLine = 16 << 10;    // in bytes, of a line that is looked at
constexpr size_t kShortNumber = 4;        // characters below which a number right behind a letter is part of a name

bool is_letter(char c) { return static_cast<unsigned char>((c | 0x20) - 'a') < 26; }
bool starts_number(const char* p, const char* end) {
  return is_digit(*p) || (*p == '-' && end - p > 1 && is_digit(p[1]));
}

const char* skip_blanks(const char* p, const char* end) {
  while (p != end && *p == ' ') ++p;
  return p;
}

// A line taken apart.
struct Pieces {
  std::vector<std::string_view> literals;
  std::vector<Decimal> numbers;
};

class Splitter {
 public:
  Splitter(std::string_view text, size_t most) : begin_(text.data()), end_(text.data() + text.size()), most_(most) {
    lines_.numbers.resize(kMostNumbers + 1);
    successors_.resize(kMostCandidates + 1);
  }

  Lines run() && {
    uint32_t before = 0;
    for (const char* p = begin_; p != end_ && numbers_ <= most_ && lines_.lines.size() <= most_;) {
      const uint32_t expected = successors_[before];
      const char* next = expected == 0 ? nullptr : match(p, expected);
      uint32_t found = expected;
      if (next == nullptr) {
        const auto* line_end = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end_ - p)));
        next = line_end == nullptr ? end_ : line_end + 1;
        found = line_end == nullptr || static_cast<size_t>(line_end - p) > kMostLine ? 0 : find_template(p, line_end);
      }
      add_line(p, next, found);
      successors_[before] = found;
      before = found;
      p = next;
    }
    return std::move(lines_);
  }

 private:
  // The end of the line at `p` if it is one of this template, whose numbers are then in pieces_; else null.
  const char* match(const char* p, uint32_t number) {
    const std::vector<std::string_view>& literals = lines_.templates[number - 1].literals;
    pieces_.numbers.clear();
    for (size_t i = 0; i < literals.size(); ++i) {
      if (static_cast<size_t>(end_ - p) <= literals[i].size()) return nullptr;
      if (std::memcmp(p, literals[i].data(), literals[i].size()) != 0) return nullptr;
      p += literals[i].size();
      if (i + 1 == literals.size()) break;
      const char* const start = skip_blanks(p, end_);
      const auto decimal = scan(start, end_);
      if (!decimal || start - p > UINT16_MAX) return nullptr;
      pieces_.numbers.push_back(*decimal);
      pieces_.numbers.back().blanks = static_cast<uint16_t>(start - p);
      p = start + decimal->characters;
    }
    return *p == '\n' ? p + 1 : nullptr;
  }

  // Takes a line apart, into pieces_. False if it has too many numbers.
  bool take_apart(const char* line, const char* end) {
    pieces_.literals.clear();
    pieces_.numbers.clear();
    const char* literal = line;
    for (const char* p = line; p != end;) {
      if (!starts_number(p, end)) {
        ++p;
        continue;
      }
      const auto decimal = scan(p, end);
      const bool is_name = p != literal && is_letter(p[-1]) && decimal && decimal->characters < kShortNumber;
      if (!decimal || is_name) {
        while (p != end && (is_digit(*p) || *p == '-' || *p == '.')) ++p;
        continue;
      }
      if (pieces_.numbers.size() == kMostNumbers) return false;
      const char* blanks = p;
      while (blanks != literal && blanks[-1] == ' ') --blanks;
      pieces_.literals.emplace_back(literal, static_cast<size_t>(blanks - literal));
      pieces_.numbers.push_back(*decimal);
      pieces_.numbers.back().blanks = static_cast<uint16_t>(p - blanks);
      p += decimal->characters;
      literal = p;
    }
    pieces_.literals.emplace_back(literal, static_cast<size_t>(end - literal));
    return !pieces_.numbers.empty();
  }

  uint32_t find_template(const char* line, const char* end) {
    if (!take_apart(line, end)) return 0;
    uint64_t hash = 0;
    for (const std::string_view& literal : pieces_.literals)
      hash = hash * 0x9E3779B97F4A7C15u + std::hash<std::string_view>()(literal) + 1;
    std::vector<uint32_t>& numbers = by_hash_[hash];
    for (const uint32_t number : numbers)
      if (lines_.templates[number - 1].literals == pieces_.literals) return number;
    if (lines_.templates.size() == kMostCandidates || literals_ + pieces_.literals.size() > kMostLiterals) return 0;
    literals_ += pieces_.literals.size();
    lines_.templates.push_back({pieces_.literals, 0});
    numbers.push_back(static_cast<uint32_t>(lines_.templates.size()));
    return numbers.back();
  }

  void add_line(const char* line, const char* next, uint32_t number) {
    lines_.lines.push_back({static_cast<uint32_t>(next - line), number});
    if (number == 0) return;
    ++lines_.templates[number - 1].uses;
    numbers_ += pieces_.numbers.size();
    std::vector<Decimal>& numbers = lines_.numbers[pieces_.numbers.size()];
    numbers.insert(numbers.end(), pieces_.numbers.begin(), pieces_.numbers.end());
  }

  const char* const begin_;
  const char* const end_;
  const size_t most_;
  size_t numbers_ = 0, literals_ = 0;
  Lines lines_;
  Pieces pieces_;
  std::vector<uint32_t> successors_;  // of each template, and of lines without one: what came after it
  std::unordered_map<uint64_t, std::vector<uint32_t>> by_hash_;
};

// What a piece of text consists of.
struct Counts {
  size_t digits = 0, others_of_numbers = 0, bytes = 0;
  bool is_text = true;
};

void count(std::string_view piece, Counts& counts) {
  for (const char c : piece) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\n' && c != '\t' && c != '\r') counts.is_text = false;
    if (is_digit(c))
      ++counts.digits;
    else if (std::string_view(" \n\t\r.-+eE,;()").find(c) != std::string_view::npos)
      ++counts.others_of_numbers;
  }
  counts.bytes += piece.size();
}

}  // namespace

Lines split_lines(std::string_view text, size_t most) { return Splitter(text, most).run(); }

bool is_mostly_numbers(std::string_view text) {
  constexpr size_t kPieces = 4, kPieceBytes = 4 << 10;
  constexpr size_t kDigitsPercent = 30, kNumbersPercent = 80;
  Counts counts;
  for (size_t i = 0; i < kPieces && counts.is_text; ++i) {
    const size_t begin = text.size() > kPieceBytes ? (text.size() - kPieceBytes) / (kPieces - 1) * i : 0;
    count(text.substr(begin, kPieceBytes), counts);
    if (text.size() <= kPieceBytes) break;
  }
  return counts.is_text && counts.digits * 100 > counts.bytes * kDigitsPercent &&
         (counts.digits + counts.others_of_numbers) * 100 > counts.bytes * kNumbersPercent;
}

}  // namespace forebay::codec::text
