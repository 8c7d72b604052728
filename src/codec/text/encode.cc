#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "codec/text/choose.h"
#include "codec/text/fit.h"
#include "codec/text/lines.h"
#include "codec/text/text.h"
#include "codec/varint.h"

namespace forebay::codec::text {
namespace {

constexpr uint32_t kLeastUses = 4;  // of a template that is kept
constexpr size_t kLeastRows = 8;    // of a table
constexpr size_t kLeastSection = 4 << 10, kLeastCut = 256 << 10;

std::string_view characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void append(Bytes& out, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// The parts of a frame that sections are cut from: its blocks, short ones together.
std::vector<std::string_view> cut_parts(const FrameShape& shape, std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0, end = 0;
  for (const Block& block : shape.blocks) {
    end += block.count() * shape.type.size;
    if (end - begin < kLeastSection && end != text.size()) continue;
    if (end != begin) parts.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return parts;
}

// The bytes of the longest sections of a frame: small frames have small ones, so that these take little memory.
size_t most_of_section(size_t raw) { return std::clamp(raw / 4, kLeastCut, kMostSection); }

// What a section has at most of `text`: all, or whole lines where it has any.
std::string_view longest_section(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  const size_t line_end = text.rfind('\n', most - 1);
  return text.substr(0, line_end == text.npos ? most : line_end + 1);
}

// A section in the making: its lines and columns.
struct Draft {
  Lines lines;
  size_t bytes = 0;                 // of the lines
  std::vector<uint8_t> codes;       // of the lines: kPlainLine, or templates from 1 on
  std::vector<uint32_t> templates;  // by code - 1: numbers of templates in `lines`
  std::vector<Table> tables;        // by how many numbers lines have; without rows if there is none
};

// By template number: whether it is among the most frequent ones.
std::vector<bool> frequent_templates(const std::vector<Template>& templates) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < templates.size(); ++i)
    if (templates[i].uses >= kLeastUses) order.push_back(i);
  std::ranges::stable_sort(order, std::greater(), [&](uint32_t i) { return templates[i].uses; });
  if (order.size() > kMostTemplates) order.resize(kMostTemplates);
  std::vector<bool> is_kept(templates.size() + 1);
  for (const uint32_t i : order) is_kept[i + 1] = true;
  return is_kept;
}

// The table of the lines with as many numbers as there are `columns`; `is_kept` is by line of these, and is cleared for
// those that the columns cannot print. Without rows if too few remain.
Table make_table(std::span<const Decimal> numbers, size_t columns, std::vector<bool>& is_kept) {
  Table table;
  table.columns = fit_columns(numbers, columns);
  for (Column& column : table.columns) column.keys.reserve(is_kept.size());
  std::vector<int64_t> keys(columns);
  for (size_t row = 0; row < is_kept.size(); ++row) {
    if (!is_kept[row] || !make_keys(numbers.subspan(row * columns, columns), table.columns, keys)) {
      is_kept[row] = false;
      continue;
    }
    ++table.rows;
    for (size_t i = 0; i < columns; ++i) table.columns[i].keys.push_back(keys[i]);
  }
  if (table.rows >= kLeastRows) return table;
  is_kept.assign(is_kept.size(), false);
  return {};
}

size_t numbers_of(const Lines& lines, const Lines::Line& line) {
  return line.template_number == 0 ? 0 : lines.templates[line.template_number - 1].numbers();
}

size_t numbers_in(const Lines& lines) {
  size_t count = 0;
  for (const Lines::Line& line : lines.lines) count += numbers_of(lines, line);
  return count;
}

// Takes the last run of lines with as many numbers away, unless it is most of the section: more of it follows, and a
// run is predicted best as a whole.
void drop_last_run(Draft& draft) {
  Lines& lines = draft.lines;
  const size_t numbers = numbers_of(lines, lines.lines.back());
  size_t first = lines.lines.size(), begin = draft.bytes;
  for (; first > 0 && numbers_of(lines, lines.lines[first - 1]) == numbers; --first)
    begin -= lines.lines[first - 1].bytes;
  if (begin < draft.bytes / 2) return;
  draft.bytes = begin;
  lines.numbers[numbers].resize(lines.numbers[numbers].size() - (lines.lines.size() - first) * numbers);
  lines.lines.resize(first);
}

// Makes the tables, forgets the numbers, and returns which lines the tables hold, by how many numbers they have.
std::vector<std::vector<bool>> make_tables(Draft& draft) {
  Lines& lines = draft.lines;
  const std::vector<bool> is_frequent = frequent_templates(lines.templates);
  std::vector<std::vector<bool>> is_kept(lines.numbers.size());
  for (const Lines::Line& line : lines.lines)
    if (line.template_number != 0) is_kept[numbers_of(lines, line)].push_back(is_frequent[line.template_number]);
  draft.tables.resize(lines.numbers.size());
  for (size_t columns = 1; columns < lines.numbers.size(); ++columns) {
    const std::vector<Decimal> numbers = std::exchange(lines.numbers[columns], {});
    if (!numbers.empty()) draft.tables[columns] = make_table(numbers, columns, is_kept[columns]);
  }
  return is_kept;
}

// Makes the codes of the lines.
void make_codes(Draft& draft, const std::vector<std::vector<bool>>& is_kept) {
  const Lines& lines = draft.lines;
  std::vector<uint8_t> code_of(lines.templates.size() + 1, kPlainLine);
  std::vector<size_t> next(is_kept.size());
  for (const Lines::Line& line : lines.lines) {
    const size_t numbers = numbers_of(lines, line);
    const bool is_plain = numbers == 0 || !is_kept[numbers][next[numbers]++];
    uint8_t& code = code_of[is_plain ? 0 : line.template_number];
    if (!is_plain && code == kPlainLine) {
      draft.templates.push_back(line.template_number);
      code = static_cast<uint8_t>(draft.templates.size());
    }
    draft.codes.push_back(code);
  }
}

// A section at the front of `text`; no templates if there is no table in it.
Draft make_draft(std::string_view text, bool is_whole) {
  Draft draft;
  draft.bytes = text.size();
  if (!is_mostly_numbers(text)) return draft;
  draft.lines = split_lines(text, text.size() / kBytesPerNumber);
  size_t bytes = 0;
  for (const Lines::Line& line : draft.lines.lines) bytes += line.bytes;
  if (bytes != text.size()) return draft;  // there were too many numbers
  if (!is_whole) drop_last_run(draft);
  if (numbers_in(draft.lines) > draft.bytes / kBytesPerNumber) return draft;
  make_codes(draft, make_tables(draft));
  return draft;
}

class Encoder {
 public:
  Encoder(size_t raw_bytes, Effort effort, const Cuts& cuts)
      : raw_bytes_(raw_bytes),
        effort_(effort),
        most_section_(cuts.most_section == 0 ? most_of_section(raw_bytes) : cuts.most_section) {}

  // Adds a part of the frame, section by section.
  void add(std::string_view part) {
    while (!part.empty() && !is_hopeless()) {
      const std::string_view text = longest_section(part, most_section_);
      Draft draft = make_draft(text, text.size() == part.size());
      add(draft, text.substr(0, draft.bytes));
      part.remove_prefix(draft.bytes);
    }
  }

  // Empty if there are no tables, or if nothing is gained.
  Bytes take() && {
    if (columns_.empty() || is_hopeless()) return {};
    Bytes out;
    for (Bytes* const stream : {&heads_, &codes_, &choices_, &plain_}) {
      put_bytes(out, *stream, effort_);
      *stream = {};
    }
    out.insert(out.end(), columns_.begin(), columns_.end());
    return out;
  }

 private:
  // Whether the streams have more than three quarters of the frame's bytes: there is little to gain then.
  bool is_hopeless() const {
    const size_t bytes = heads_.size() + codes_.size() + choices_.size() + plain_.size() + columns_.size();
    return bytes > raw_bytes_ / 4 * 3;
  }

  void add(Draft& draft, std::string_view text) {
    before_.start_section(begin_);
    begin_ += text.size();
    put_varint(heads_, text.size());
    if (draft.templates.empty()) {
      put_varint(heads_, 0);
      append(plain_, text);
      return;
    }
    put_head(draft);
    put_lines(draft, text);
    put_runs(draft);
  }

  void put_head(const Draft& draft) {
    put_varint(heads_, draft.codes.size());
    put_varint(heads_, draft.templates.size());
    for (const uint32_t number : draft.templates) {
      const Template& lines = draft.lines.templates[number - 1];
      put_varint(heads_, lines.numbers());
      for (const std::string_view& literal : lines.literals) {
        put_varint(heads_, literal.size());
        append(heads_, literal);
      }
    }
    for (const Table& table : draft.tables)
      for (const Column& column : table.columns) put_format(column);
  }

  void put_format(const Column& column) {
    constexpr unsigned kUpper = 0x80, kPaddingShift = 4;
    const Format& format = column.format;
    heads_.push_back(static_cast<std::byte>(static_cast<unsigned>(format.notation) |
                                            static_cast<unsigned>(column.padding) << kPaddingShift |
                                            (format.is_upper ? kUpper : 0)));
    heads_.push_back(static_cast<std::byte>(format.digits));
    heads_.push_back(static_cast<std::byte>(column.width));
    if (format.has_exponents()) put_varint(heads_, zigzag(static_cast<uint64_t>(int64_t{format.lowest})));
  }

  void put_lines(const Draft& draft, std::string_view text) {
    for (size_t i = 0; i < draft.codes.size(); ++i) {
      codes_.push_back(static_cast<std::byte>(draft.codes[i]));
      const size_t bytes = draft.lines.lines[i].bytes;
      if (draft.codes[i] == kPlainLine) append(plain_, text.substr(0, bytes));
      text.remove_prefix(bytes);
    }
  }

  void put_runs(Draft& draft) {
    std::vector<Table*> tables(draft.tables.size());
    for (size_t i = 0; i < draft.tables.size(); ++i)
      if (draft.tables[i].rows != 0) tables[i] = &before_.add(std::move(draft.tables[i]));
    std::vector<std::vector<std::vector<uint64_t>>> residuals(tables.size());
    for (size_t i = 0; i < tables.size(); ++i)
      if (tables[i] != nullptr) residuals[i].resize(i);
    const auto table_of = [&](size_t line) {
      return draft.codes[line] == kPlainLine ? 0 : numbers_of(draft.lines, draft.lines.lines[line]);
    };
    Runs runs(draft.codes.size(), table_of, tables.size());
    while (const auto run = runs.next()) put_run(*tables[run->table], *run, residuals[run->table]);
    for (const auto& table : residuals)
      for (const std::vector<uint64_t>& column : table) put_integers(columns_, column, effort_);
  }

  void put_run(Table& table, const Run& run, std::vector<std::vector<uint64_t>>& residuals) {
    const bool chooses = run.rows >= kLeastChosenRows;
    const History history = before_.follow(run.table, table, run.first, run.rows);
    size_t lag = 0;
    std::vector<int32_t> by_id;
    if (chooses) {
      for (size_t i = 0; i < table.columns.size() && lag == 0; ++i)
        lag = find_lag(std::span(table.columns[i].keys).subspan(run.first, run.rows));
      put_varint(choices_, lag);
      by_id = rows_by_id(table, run.first, run.rows, history.last);
    }
    for (size_t i = 0; i < table.columns.size(); ++i) {
      RunColumn column(table, run, i, history, lag, i == 0 ? std::span<const int32_t>() : by_id, true);
      Choice choice;
      if (chooses) {
        choice = choose(column);
        choices_.push_back(
            static_cast<std::byte>(static_cast<unsigned>(choice.predictor) << 1 | (choice.in_values ? 1u : 0u)));
      }
      column.take_residuals(choice, residuals[i]);
    }
  }

  const size_t raw_bytes_;
  const Effort effort_;
  const size_t most_section_;
  size_t begin_ = 0;  // of the section at hand
  Bytes heads_, codes_, choices_, plain_, columns_;
  TablesBefore before_{kReach};
};

}  // namespace

bool is_worth_trying(const FrameShape& shape, std::span<const std::byte> raw) {
  constexpr size_t kLooks = 8, kPieceBytes = 16 << 10;
  if (shape.type.is_number() || raw.size() < kLeastFrame) return false;
  size_t texts = 0;
  for (size_t look = 0; look < kLooks; ++look) {
    const size_t begin = raw.size() > kPieceBytes ? (raw.size() - kPieceBytes) / (kLooks - 1) * look : 0;
    if (is_mostly_numbers(characters(raw.subspan(begin, std::min(kPieceBytes, raw.size()))))) ++texts;
  }
  return texts * 2 >= kLooks;
}

size_t encode_bytes(size_t raw, Effort effort) {
  constexpr size_t kPerByteOfSection = 24, kTables = 1 << 20;
  if (raw < kLeastFrame) return 0;
  const size_t streams = 2 * raw + raw / 4;  // which may take twice what is in them, and then are coded
  return streams + keys_bytes(raw) + kPerByteOfSection * std::min(raw, most_of_section(raw)) + kTables +
         coder_bytes(raw, effort);
}

Bytes encode(const FrameShape& shape, std::span<const std::byte> raw, Effort effort, Cuts cuts) {
  if (raw.size() < cuts.least_frame) return {};
  Encoder encoder(raw.size(), effort, cuts);
  for (const std::string_view part : cut_parts(shape, characters(raw))) encoder.add(part);
  return std::move(encoder).take();
}

}  // namespace forebay::codec::text
