// Columns of text.
#pragma once

#include <string>
#include <vector>

namespace forebay::cli {

enum class Align : unsigned char { left, right };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column, already printable.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // Calls write(line), line without a line feed, for the titles and each row. Two blanks between columns, none at the
  // end.
  template <class Write>
  void for_each_line(const Write& write) const {
    const std::vector<size_t> widths = measure();
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.push_back(column.title);
    write(format_row(titles, widths));
    for (const auto& row : rows_) write(format_row(row, widths));
  }

 private:
  std::vector<size_t> measure() const;
  std::string format_row(const std::vector<std::string>& cells, const std::vector<size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace forebay::cli
