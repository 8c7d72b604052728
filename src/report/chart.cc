#include "report/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "report/text.h"

namespace forebay::report {
namespace {

constexpr double kWidth = 640, kHeight = 180, kLeft = 84, kRight = 12, kTop = 12, kBottom = 30;
constexpr size_t kMostPointMarks = 40;  // more would hide the line

struct Range {
  double low = 0, high = 1;
  double at(double value) const {
    return kHeight - kBottom - (value / high_low() - low / high_low()) * (kHeight - kTop - kBottom);
  }
  // Without overflow where values lie at both ends of what doubles hold.
  double high_low() const { return std::max(high / 2 - low / 2, std::numeric_limits<double>::min()) * 2; }
};

Range range_of(const std::vector<Line>& lines) {
  Range range{HUGE_VAL, -HUGE_VAL};
  for (const Line& line : lines)
    for (const auto& [x, y] : line.points) {
      range.low = std::min(range.low, y);
      range.high = std::max(range.high, y);
    }
  if (range.low > range.high) return {0, 1};
  if (range.low == range.high) {
    const double around = range.low == 0 ? 1 : std::abs(range.low) / 10;
    return {range.low - around, range.high + around};
  }
  return range;
}

double x_at(const Chart& chart, double x) {
  const double span = chart.last_x - chart.first_x;
  const double share = span > 0 ? (x - chart.first_x) / span : 0.5;
  return kLeft + share * (kWidth - kLeft - kRight);
}

std::string point_mark(size_t line, double x, double y) {
  if (line == 0) return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>", x, y);
  if (line == 1) return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"6\" height=\"6\"/>", x - 3, y - 3);
  return fmt::format("<path d=\"M{:.1f} {:.1f}l4 7h-8z\"/>", x, y - 4);
}

std::string axis(const Chart& chart, const Range& range) {
  std::string text;
  const std::array values{range.low, range.low / 2 + range.high / 2, range.high};
  const std::vector<std::string> labels = short_numbers(values);
  for (size_t i = 0; i < values.size(); ++i) {
    const double y = range.at(values[i]);
    text += fmt::format(
        "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text>",
        kLeft, kWidth - kRight, y, y, kLeft - 6, y + 4, labels[i]);
  }
  text += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", kLeft, kHeight - 8, escaped(chart.first_label));
  if (chart.last_label != chart.first_label)
    text += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kWidth - kRight, kHeight - 8,
                        escaped(chart.last_label));
  return text;
}

}  // namespace

std::string svg_of(const Chart& chart) {
  const Range range = range_of(chart.lines);
  std::string text =
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"><title>{}</title><desc>{}</desc>", kWidth,
                  kHeight, escaped(chart.title), escaped(chart.title), escaped(chart.description));
  text += axis(chart, range);
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    const auto& points = chart.lines[i].points;
    text += fmt::format("<g class=\"line{}\"><polyline points=\"", i);
    for (const auto& [x, y] : points) text += fmt::format("{:.1f},{:.1f} ", x_at(chart, x), range.at(y));
    text += "\"/>";
    const size_t every = (points.size() + kMostPointMarks - 1) / kMostPointMarks;
    for (size_t p = 0; p < points.size(); p += every)
      text += point_mark(i, x_at(chart, points[p].first), range.at(points[p].second));
    text += "</g>";
  }
  for (const auto& [x, what] : chart.marks)
    text += fmt::format(
        "<g class=\"mark\"><title>{}</title><line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\"/><text x=\"{:.1f}\" "
        "y=\"{}\" text-anchor=\"middle\">!</text></g>",
        escaped(what), x_at(chart, x), x_at(chart, x), kTop + 2, kHeight - kBottom, x_at(chart, x), kTop - 1);
  return text + "</svg>";
}

}  // namespace forebay::report
