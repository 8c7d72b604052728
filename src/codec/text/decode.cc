#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/text/fit.h"
#include "codec/text/lines.h"
#include "codec/text/run_column.h"
#include "codec/text/text.h"
#include "codec/varint.h"

namespace forebay::codec::text {
namespace {

// What is left of a stream.
using Rest = std::span<const std::byte>;

Result<uint64_t> take_number(Rest& in) {
  const auto number = take_varint(in);
  if (!number) return malformed_text();
  return *number;
}

Result<Rest> take(Rest& in, uint64_t bytes) {
  if (bytes > in.size()) return malformed_text();
  const Rest front = in.first(bytes);
  in = in.subspan(bytes);
  return front;
}

Result<uint8_t> take_byte(Rest& in) {
  FOREBAY_TRY(const Rest front, take(in, 1));
  return std::to_integer<uint8_t>(front.front());
}

// A template as its literals.
using Literals = std::vector<Rest>;

struct Section {
  Rest codes;
  std::vector<Literals> templates;  // by code - 1
  std::vector<Table*> tables;       // by how many numbers lines have
};

class Decoder {
 public:
  Decoder(std::span<const std::byte> encoded, std::span<std::byte> raw)
      : raw_bytes_(raw.size()), in_(encoded), out_(raw) {}

  Result<void> run() {
    Bytes streams[4];
    size_t left = raw_bytes_;  // encoders do without this codec where they are longer than the frame
    for (Bytes& stream : streams) {
      FOREBAY_TRY(stream, take_bytes(in_, left));
      left -= stream.size();
    }
    heads_ = streams[0];
    codes_ = streams[1];
    choices_ = streams[2];
    plain_ = streams[3];
    while (!out_.empty()) FOREBAY_CHECK(decode_section());
    if (!heads_.empty() || !codes_.empty() || !choices_.empty() || !plain_.empty() || !in_.empty())
      return malformed_text();
    return {};
  }

 private:
  Result<void> decode_section() {
    FOREBAY_TRY(const uint64_t bytes, take_number(heads_));
    FOREBAY_TRY(const uint64_t lines, take_number(heads_));
    if (bytes == 0 || bytes > out_.size()) return malformed_text();
    before_.start_section(raw_bytes_ - out_.size());
    text_ = out_.first(bytes);
    out_ = out_.subspan(bytes);
    if (lines == 0) return copy_plain(bytes);
    if (bytes > kMostSection) return malformed_text();
    Section section;
    FOREBAY_TRY(section.codes, take(codes_, lines));
    FOREBAY_CHECK(take_templates(section));
    FOREBAY_CHECK(make_tables(section, bytes));
    FOREBAY_CHECK(decode_runs(section));
    return print_lines(section);
  }

  Result<void> copy_plain(size_t bytes) {
    FOREBAY_TRY(const Rest plain, take(plain_, bytes));
    if (bytes > text_.size()) return malformed_text();
    std::ranges::copy(plain, text_.begin());
    text_ = text_.subspan(bytes);
    return {};
  }

  Result<void> take_templates(Section& section) {
    FOREBAY_TRY(const uint64_t count, take_number(heads_));
    if (count == 0 || count > kMostTemplates) return malformed_text();
    for (uint64_t i = 0; i < count; ++i) {
      FOREBAY_TRY(const uint64_t numbers, take_number(heads_));
      if (numbers == 0 || numbers > kMostNumbers) return malformed_text();
      Literals& literals = section.templates.emplace_back();
      for (uint64_t j = 0; j <= numbers; ++j) {
        FOREBAY_TRY(const uint64_t size, take_number(heads_));
        FOREBAY_TRY(literals.emplace_back(), take(heads_, size));
      }
    }
    return {};
  }

  Result<void> make_tables(Section& section, size_t bytes) {
    std::vector<size_t> rows(kMostNumbers + 1);
    size_t numbers = 0;
    for (const std::byte byte : section.codes) {
      const auto code = std::to_integer<size_t>(byte);
      if (code == kPlainLine) continue;
      if (code > section.templates.size()) return malformed_text();
      const size_t table = section.templates[code - 1].size() - 1;
      ++rows[table];
      numbers += table;
    }
    if (numbers > bytes / kBytesPerNumber) return malformed_text();
    section.tables.resize(rows.size());
    for (size_t i = 1; i < rows.size(); ++i) {
      if (rows[i] == 0) continue;
      Table table{.columns = {}, .rows = rows[i]};
      for (size_t j = 0; j < i; ++j) {
        FOREBAY_TRY(Column column, take_column());
        if (j == 0 && column.padding == Padding::left) return malformed_text();
        column.keys.resize(rows[i]);
        table.columns.push_back(std::move(column));
      }
      section.tables[i] = &before_.add(std::move(table));
    }
    return {};
  }

  Result<Column> take_column() {
    constexpr unsigned kUpper = 0x80, kPaddingShift = 4, kLowBits = 0xF, kPaddingBits = 0x7;
    FOREBAY_TRY(const unsigned head, take_byte(heads_));
    const unsigned notation = head & kLowBits, padding = head >> kPaddingShift & kPaddingBits;
    if (notation >= kNotations || padding >= kPaddings) return malformed_text();
    Column column;
    column.format.notation = static_cast<Notation>(notation);
    column.format.is_upper = (head & kUpper) != 0;
    column.padding = static_cast<Padding>(padding);
    FOREBAY_TRY(column.format.digits, take_byte(heads_));
    FOREBAY_TRY(column.width, take_byte(heads_));
    if (column.format.has_exponents()) {
      FOREBAY_TRY(const uint64_t code, take_number(heads_));
      const auto lowest = static_cast<int64_t>(unzigzag(code));
      if (lowest < kLeastExponent || lowest > kMostExponent) return malformed_text();
      column.format.lowest = static_cast<int16_t>(lowest);
    }
    if (!is_valid(column.format)) return malformed_text();
    return column;
  }

  // The runs of the section; each table's columns are streams of their own, and residuals wait in the place of keys.
  Result<void> decode_runs(Section& section) {
    for (Table* const table : section.tables) {
      if (table == nullptr) continue;
      for (Column& column : table->columns)
        FOREBAY_CHECK(take_integers(in_, {reinterpret_cast<uint64_t*>(column.keys.data()), column.keys.size()}));
    }
    const auto table_of = [&](size_t line) {
      const auto code = std::to_integer<size_t>(section.codes[line]);
      return code == kPlainLine ? 0 : section.templates[code - 1].size() - 1;
    };
    Runs runs(section.codes.size(), table_of, section.tables.size());
    while (const auto run = runs.next()) FOREBAY_CHECK(decode_run(*section.tables[run->table], *run));
    return {};
  }

  Result<void> decode_run(Table& table, const Run& run) {
    const bool is_chosen = run.rows >= kLeastChosenRows;
    const History history = before_.follow(run.table, table, run.first, run.rows);
    uint64_t lag = 0;
    if (is_chosen) {
      FOREBAY_TRY(lag, take_number(choices_));
      if (lag == 1 || lag >= run.rows) return malformed_text();
    }
    std::vector<int32_t> by_id;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (i == 1 && is_chosen) by_id = rows_by_id(table, run.first, run.rows, history.last);
      RunColumn column(table, run, i, history, lag, by_id, false);
      Choice choice;
      if (is_chosen) {
        FOREBAY_TRY(const unsigned byte, take_byte(choices_));
        choice = {static_cast<Predictor>(byte >> 1), (byte & 1) != 0};
        if (byte >> 1 >= kPredictors || !column.allows(choice)) return malformed_text();
      }
      column.undo_residuals(choice);
    }
    return {};
  }

  Result<void> print_lines(const Section& section) {
    std::vector<size_t> rows(section.tables.size());
    for (const std::byte byte : section.codes) {
      const auto code = std::to_integer<size_t>(byte);
      if (code == kPlainLine) {
        FOREBAY_CHECK(copy_plain(plain_line()));
        continue;
      }
      const Literals& literals = section.templates[code - 1];
      const size_t numbers = literals.size() - 1;
      FOREBAY_CHECK(print_line(literals, *section.tables[numbers], rows[numbers]++));
    }
    if (!text_.empty()) return malformed_text();
    return {};
  }

  // The bytes of the next plain line: up to a line end, or the rest of the section.
  size_t plain_line() const {
    const size_t most = std::min(plain_.size(), text_.size());
    const void* const end = most == 0 ? nullptr : std::memchr(plain_.data(), '\n', most);
    return end == nullptr ? text_.size() : static_cast<size_t>(static_cast<const std::byte*>(end) - plain_.data()) + 1;
  }

  Result<void> print_line(const Literals& literals, const Table& table, size_t row) {
    int64_t before = 0;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      char number[kMostCharacters];
      const int64_t size = print(column.keys[row], column.format, number) - number;
      const int64_t blanks = blanks_of(column, size, before);
      if (blanks < 0 || literals[i].size() + static_cast<size_t>(blanks + size) > text_.size()) return malformed_text();
      put(literals[i]);
      std::memset(text_.data(), ' ', static_cast<size_t>(blanks));
      text_ = text_.subspan(static_cast<size_t>(blanks));
      put(std::as_bytes(std::span(number, static_cast<size_t>(size))));
      before = size;
    }
    if (literals.back().size() >= text_.size()) return malformed_text();
    put(literals.back());
    text_.front() = std::byte{'\n'};
    text_ = text_.subspan(1);
    return {};
  }

  void put(Rest bytes) {
    if (!bytes.empty()) std::memcpy(text_.data(), bytes.data(), bytes.size());
    text_ = text_.subspan(bytes.size());
  }

  const size_t raw_bytes_;
  std::span<const std::byte> in_;
  std::span<std::byte> out_;   // what no section has filled yet
  std::span<std::byte> text_;  // what is left of the section at hand
  Rest heads_, codes_, choices_, plain_;
  TablesBefore before_{kReach};
};

}  // namespace

size_t decode_bytes(size_t raw) {
  constexpr size_t kPerByteOfSection = 8, kMostTables = 2 << 20, kTableBytes = 8;
  return raw + keys_bytes(raw) + kPerByteOfSection * std::min(raw, kMostSection) +
         std::min(kTableBytes * raw, kMostTables) + decode_coder_bytes();
}

Result<void> decode(std::span<const std::byte> encoded, std::span<std::byte> raw) {
  return Decoder(encoded, raw).run();
}

}  // namespace forebay::codec::text
