// Line charts as SVG, told apart by dashes and marks as well as by colours. Pure.
#pragma once

#include <string>
#include <vector>

namespace forebay::report {

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;  // finite; x rising
};

inline constexpr size_t kMostLines = 3;

struct Chart {
  std::string title{};                                  // what it shows, for those who do not see it
  std::string description{};                            // and what there is to see
  std::vector<Line> lines{};                            // kMostLines at most
  std::vector<std::pair<double, std::string>> marks{};  // at x, with what it says
  double first_x = 0, last_x = 1;
  std::string first_label{}, last_label{};  // of the ends of the x axis
};

std::string svg_of(const Chart& chart);

}  // namespace forebay::report
