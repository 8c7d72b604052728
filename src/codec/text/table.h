// Tables of numbers: the columns of a section's lines that have as many numbers, their runs, and which earlier run each
// may be predicted from. Both sides of the codec build the same.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "codec/text/decimal.h"

namespace forebay::codec::text {

// Blanks in front of the numbers of a column.
enum class Padding : uint8_t {
  blanks,  // `width` of them
  right,   // as many as make blanks and number `width` characters
  left,    // as many as make the number before in the line, and the blanks, `width` characters
};
inline constexpr uint8_t kPaddings = 3;

struct Column {
  Format format;
  Padding padding = Padding::blanks;
  uint16_t width = 0;
  std::vector<int64_t> keys;  // by row
};

struct Table {
  std::vector<Column> columns;
  size_t rows = 0;
};

// Rows of a table whose lines follow each other in the text.
struct Run {
  size_t table = 0;  // by how many numbers its lines have
  size_t first = 0, rows = 0;
};

// The runs of a section, one after another.
template <class TableOf>
class Runs {
 public:
  // `table_of(line)` is by how many numbers the line has in its table; 0 if it is in none.
  Runs(size_t lines, TableOf table_of, size_t tables) : lines_(lines), table_of_(table_of), rows_(tables) {}

  std::optional<Run> next() {
    while (line_ < lines_) {
      Run run{.table = table_of_(line_)};
      for (; line_ < lines_ && table_of_(line_) == run.table; ++line_) ++run.rows;
      if (run.table == 0) continue;
      run.first = rows_[run.table];
      rows_[run.table] += run.rows;
      return run;
    }
    return std::nullopt;
  }

 private:
  const size_t lines_;
  const TableOf table_of_;
  size_t line_ = 0;
  std::vector<size_t> rows_;  // by table: of the runs so far
};

inline constexpr size_t kLeastChosenRows = 64;  // of a run whose prediction is chosen; others take the row before

// An earlier run of as many numbers and rows.
struct Earlier {
  const Table* table = nullptr;  // null: there is none
  size_t first = 0;
  size_t section = 0;  // where its section begins in the frame
};

// The two runs before a run, the last one first.
struct History {
  Earlier last, second;
};

// The tables of a frame, as far back as runs are predicted from.
class TablesBefore {
 public:
  // A run is predicted from runs of sections that begin at most `reach` bytes before its own.
  explicit TablesBefore(size_t reach) : reach_(reach) {}

  // Goes on to the section that begins at byte `begin` of the frame. Tables beyond reach are no more.
  void start_section(size_t begin);

  // Adds a table of the section, which stays where it is.
  Table& add(Table table);

  // What is before a run of the section, whose lines have `numbers` numbers, and which then is before the next.
  History follow(size_t numbers, const Table& table, size_t first, size_t rows);

 private:
  struct Kept {
    size_t section = 0;
    Table table;
  };
  Earlier if_in_reach(const Earlier& earlier) const;

  const size_t reach_;
  size_t section_ = 0;
  std::deque<Kept> tables_;  // in the order of the frame
  std::map<std::pair<size_t, size_t>, History> by_size_;
};

// Of each row of a run of `rows` from `first` on, the row of the earlier run with the same number in the first column;
// -1 if there is none. Empty if these are not ids: integers from 0 to 8 times the rows.
std::vector<int32_t> rows_by_id(const Table& table, size_t first, size_t rows, const Earlier& earlier);

}  // namespace forebay::codec::text
