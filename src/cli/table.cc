#include "cli/table.h"

#include <algorithm>

#include "cli/text.h"

namespace forebay::cli {

Table::Table(std::vector<Column> columns_of_table) : columns_(std::move(columns_of_table)) {
  for (const Column& column : columns_) widths_.push_back(columns(column.title));
}

void Table::add(std::vector<std::string> cells) {
  measure(cells);
  rows_.push_back(std::move(cells));
}

void Table::measure(const std::vector<std::string>& cells) {
  for (size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], columns(cells[i]));
}

std::string Table::titles() const {
  std::vector<std::string> cells;
  for (const Column& column : columns_) cells.push_back(column.title);
  return line(cells);
}

std::string Table::line(const std::vector<std::string>& cells) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string fill(widths_[i] - columns(cells[i]), ' ');
    const bool is_right = columns_[i].align == Align::right;
    line += (i ? "  " : "") + (is_right ? fill + cells[i] : cells[i] + fill);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace forebay::cli
