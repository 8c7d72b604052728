// Columns of text.
#pragma once

#include <string>
#include <vector>

namespace forebay::cli {

enum class Align : unsigned char { left, right };

// Rows of few tables are add()ed and then written; where there may be millions, each is measure()d and forgotten, and
// made again for line().
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns);

  // One cell per column, already printable.
  void add(std::vector<std::string> cells);

  // Makes the columns as wide as a row needs that is not kept.
  void measure(const std::vector<std::string>& cells);

  // As wide as all rows so far need: two blanks between columns, none at the end, no line feed.
  std::string titles() const;
  std::string line(const std::vector<std::string>& cells) const;

  // Calls write(line) for the titles and each row that was added.
  template <class Write>
  void for_each_line(const Write& write) const {
    write(titles());
    for (const auto& row : rows_) write(line(row));
  }

 private:
  std::vector<Column> columns_;
  std::vector<size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace forebay::cli
