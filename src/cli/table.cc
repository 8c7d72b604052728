#include "cli/table.h"

#include <algorithm>

#include "cli/text.h"

namespace forebay::cli {

std::vector<size_t> Table::measure() const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(columns(column.title));
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  return widths;
}

std::string Table::format_row(const std::vector<std::string>& cells, const std::vector<size_t>& widths) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string fill(widths[i] - columns(cells[i]), ' ');
    const bool is_right = columns_[i].align == Align::right;
    line += (i ? "  " : "") + (is_right ? fill + cells[i] : cells[i] + fill);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace forebay::cli
