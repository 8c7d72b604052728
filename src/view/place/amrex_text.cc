#include "view/place/amrex_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace forebay::view {
namespace {

constexpr int64_t kMostCell = int64_t{1} << 31;

std::unexpected<Error> not_amrex(std::string what) {
  return fail(ErrorKind::corrupt, "a plotfile of AMReX: " + std::move(what));
}

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool is_at_end() const { return rest_.empty(); }
  // Without its end, and blanks there. Empty behind the last one.
  std::string_view next() {
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    return line;
  }

 private:
  std::string_view rest_;
};

// All integers of a line, whatever stands between them; one that is too large ends it.
std::vector<int64_t> integers_in(std::string_view line) {
  std::vector<int64_t> numbers;
  const char *at = line.data(), *const end = at + line.size();
  while (at != end) {
    int64_t number = 0;
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error == std::errc::result_out_of_range) break;
    if (error == std::errc()) numbers.push_back(number);
    at = error == std::errc() ? behind : at + 1;
  }
  return numbers;
}

std::optional<uint64_t> count_in(std::string_view line, uint64_t most) {
  const auto numbers = integers_in(line);
  if (numbers.empty() || numbers[0] < 0 || static_cast<uint64_t>(numbers[0]) > most) return {};
  return static_cast<uint64_t>(numbers[0]);
}

// ((0,0,0) (31,31,31) (0,0,0)): the corners, and whether cells or faces are meant, which is all zeros for cells.
std::optional<AmrexBox> box_of(std::span<const int64_t> numbers) {
  const size_t dimensions = numbers.size() / 3;
  if (dimensions < 1 || dimensions > 3 || numbers.size() % 3 != 0) return {};
  AmrexBox box;
  for (size_t d = 0; d < dimensions; ++d) {
    const int64_t low = numbers[d], high = numbers[dimensions + d];
    if (low < -kMostCell || high > kMostCell || high < low || numbers[2 * dimensions + d] != 0) return {};
    box.low.push_back(low);
    box.high.push_back(high);
  }
  return box;
}

std::optional<double> real_in(std::string_view line) {
  double number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || end != line.data() + line.size() || !std::isfinite(number)) return {};
  return number;
}

}  // namespace

Shape shape_of(const AmrexBox& box, uint64_t ghosts) {
  Shape shape;
  for (size_t d = box.low.size(); d-- > 0;)
    shape.push_back(static_cast<uint64_t>(box.high[d] - box.low[d] + 1) + 2 * ghosts);
  return shape;
}

// A name, the fields, the number of dimensions, the time, the finest level, ..., and in one line the domains.
Result<AmrexHeader> parse_amrex_header(std::string_view text) {
  constexpr uint64_t kMostFields = 4096, kMostLevels = 64;
  Lines lines(text);
  AmrexHeader header;
  lines.next();
  const auto fields = count_in(lines.next(), kMostFields);
  if (!fields || *fields == 0) return not_amrex("the number of fields is impossible");
  for (uint64_t i = 0; i < *fields; ++i) header.fields.emplace_back(lines.next());
  if (std::ranges::any_of(header.fields, &std::string::empty)) return not_amrex("a field has no name");
  const auto dimensions = count_in(lines.next(), 3);
  if (!dimensions || *dimensions == 0) return not_amrex("the number of dimensions is impossible");
  header.time = real_in(lines.next());
  const auto finest = count_in(lines.next(), kMostLevels);
  if (!finest) return not_amrex("the finest level is impossible");
  std::string_view line;
  while (!lines.is_at_end() && !line.starts_with("((")) line = lines.next();
  const std::vector<int64_t> numbers = integers_in(line);
  const size_t each = 3 * *dimensions;
  if (numbers.size() != each * (*finest + 1)) return not_amrex("there is not one domain for each level");
  for (size_t at = 0; at < numbers.size(); at += each) {
    auto box = box_of(std::span(numbers).subspan(at, each));
    if (!box) return not_amrex("a domain is impossible");
    header.domains.push_back(*std::move(box));
  }
  return header;
}

// Two numbers of versions, the components, the ghost cells, the boxes, and where they are stored in the same order.
Result<AmrexLevelFiles> parse_amrex_level(std::string_view text) {
  constexpr uint64_t kMostComponents = 4096, kMostBoxes = 1 << 22, kMostGhosts = 32;
  constexpr std::string_view kOnDisk = "FabOnDisk: ";
  Lines lines(text);
  AmrexLevelFiles level;
  lines.next();
  lines.next();
  const auto components = count_in(lines.next(), kMostComponents);
  const std::vector<int64_t> ghosts = integers_in(lines.next());
  if (!components || *components == 0 || ghosts.empty()) return not_amrex("a level has no components");
  if (std::ranges::any_of(ghosts, [&](int64_t one) { return one != ghosts.front(); }))
    return fail(ErrorKind::unsupported, "a plotfile of AMReX: ghost cells differ by axis");
  if (ghosts.front() < 0 || ghosts.front() > static_cast<int64_t>(kMostGhosts))
    return not_amrex("the number of ghost cells is impossible");
  level.components = *components;
  level.ghosts = static_cast<uint64_t>(ghosts.front());
  const auto boxes = count_in(lines.next(), kMostBoxes);
  if (!boxes) return not_amrex("the number of boxes is impossible");
  for (uint64_t i = 0; i < *boxes; ++i) {
    auto box = box_of(integers_in(lines.next()));
    if (!box) return not_amrex("a box is impossible");
    level.fabs.push_back({.box = *std::move(box), .file = {}, .offset = 0});
  }
  lines.next();  // the bracket behind them
  if (count_in(lines.next(), kMostBoxes) != boxes) return not_amrex("boxes and stored boxes differ in number");
  for (AmrexFab& fab : level.fabs) {
    std::string_view line = lines.next();
    if (!line.starts_with(kOnDisk)) return not_amrex("a box is stored nowhere");
    line.remove_prefix(kOnDisk.size());
    const size_t blank = std::min(line.rfind(' '), line.size());
    const auto offset = count_in(line.substr(blank), INT64_MAX);
    if (blank == 0 || !offset) return not_amrex("a box is stored nowhere");
    fab.file = line.substr(0, blank);
    fab.offset = *offset;
  }
  return level;
}

}  // namespace forebay::view
