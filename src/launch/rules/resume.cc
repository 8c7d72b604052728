#include "launch/rules/resume.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace forebay::launch::rules {
namespace {

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

struct Halves {
  std::string_view left, right;
  size_t right_column = 1;
};

Result<Halves> halves(std::string_view text, std::string_view between, std::string_view hint) {
  const size_t at = text.find(between);
  const std::string_view left = trim(text.substr(0, at));
  const std::string_view right =
      at == std::string_view::npos ? std::string_view() : trim(text.substr(at + between.size()));
  if (left.empty() || right.empty())
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not of the form {}", text, hint));
  return Halves{left, right, static_cast<size_t>(right.data() - text.data()) + 1};
}

Result<Template> template_with(const Template& text, const Words& words) {
  Template made = text;
  for (Template::Piece& piece : made.pieces) {
    if (piece.kind == Template::Piece::Kind::file) {
      FOREBAY_TRY(piece.file, with_words(piece.file, words));
    }
    if (piece.kind != Template::Piece::Kind::word) continue;
    if (const auto word = words.find(piece.text); word != words.end())
      piece = {.kind = Template::Piece::Kind::text, .text = word->second};
  }
  return made;
}

// Calls visit(template, has_ranks) for each.
template <class Each, class Visit>
Result<void> for_each_template(Each& resume, const Visit& visit) {
  for (auto& each : resume.args) FOREBAY_CHECK(visit(each, false));
  for (auto& each : resume.command) FOREBAY_CHECK(visit(each, false));
  for (auto& each : resume.env) FOREBAY_CHECK(visit(each.second, false));
  for (auto& each : resume.as) FOREBAY_CHECK(visit(each.to, true));
  for (auto& each : resume.points) {
    FOREBAY_CHECK(visit(each.file, false));
    FOREBAY_CHECK(visit(each.text, false));
  }
  for (auto& each : resume.links) {
    FOREBAY_CHECK(visit(each.file, true));
    FOREBAY_CHECK(visit(each.target, true));
  }
  return {};
}

}  // namespace

Result<Resume::As> parse_as(std::string_view text) {
  FOREBAY_TRY(const Halves cut, halves(text, "->", "PATTERN -> NAME"));
  Resume::As as;
  FOREBAY_TRY(as.from, parse_pattern(cut.left, Subject::path));
  FOREBAY_TRY(as.to, parse_template(cut.right, true, cut.right_column));
  return as;
}

Result<Resume::Point> parse_point(std::string_view text) {
  constexpr std::string_view kForm = "FILE \"TEXT\" or FILE += \"TEXT\"";
  FOREBAY_TRY(const Halves cut, halves(text, "\"", kForm));
  if (!cut.right.ends_with('"') || cut.right.size() < 2)
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not of the form {}", text, kForm));
  Resume::Point point;
  std::string_view file = cut.left;
  if (file.ends_with("+=")) {
    point.is_cut = true;
    file = trim(file.substr(0, file.size() - 2));
  }
  FOREBAY_TRY(point.file, parse_template(file));
  FOREBAY_TRY(point.text, parse_template(cut.right.substr(0, cut.right.size() - 1), false, cut.right_column));
  return point;
}

Result<Resume::Link> parse_link(std::string_view text) {
  FOREBAY_TRY(const Halves cut, halves(text, "->", "FILE -> TARGET"));
  Resume::Link link;
  FOREBAY_TRY(link.file, parse_template(cut.left));
  FOREBAY_TRY(link.target, parse_template(cut.right, false, cut.right_column));
  return link;
}

std::string print_as(const Resume::As& as) {
  return fmt::format("{} -> {}", print_pattern(as.from), print_template(as.to));
}

std::string print_point(const Resume::Point& point) {
  return fmt::format("{}{} \"{}\"", print_template(point.file), point.is_cut ? " +=" : "", print_template(point.text));
}

std::string print_link(const Resume::Link& link) {
  return fmt::format("{} -> {}", print_template(link.file), print_template(link.target));
}

Result<void> check_resume(const Resume& resume, const Rule& rule) {
  std::set<std::string, std::less<>> known = {"set", "step", "path", "dir"};
  bool has_rank = false;
  for (const Item& item : rule.items) {
    if (item.kind != Item::Kind::member && item.kind != Item::Kind::optional) continue;
    for (const Piece& piece : item.pattern.pieces) {
      if (piece.kind != Piece::Kind::field) continue;
      has_rank |= piece.text == "rank";
      if (piece.text != "rank") known.insert(piece.text);
    }
  }
  for (const Resume::As& as : resume.as) {
    const auto stars = std::ranges::count(as.from.pieces, Piece::Kind::any, &Piece::kind);
    const auto used = std::ranges::count(as.to.pieces, Template::Piece::Kind::star, &Template::Piece::kind);
    if (used > stars)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("'{}' has more '*' on the right than on the left", print_as(as)));
  }
  return for_each_template(resume, [&](const Template& text, bool may_have_rank) -> Result<void> {
    for (const Template::Piece& piece : text.pieces) {
      if (piece.kind != Template::Piece::Kind::word || known.contains(piece.text)) continue;
      if (piece.text == "rank" && has_rank && may_have_rank) continue;
      return fail(
          ErrorKind::invalid_argument,
          fmt::format("'{}' uses {{{}}}, which the rule does not have there", print_template(text), piece.text), {}, {},
          "{set}, {step}, {path}, {dir}, {file:PATTERN} and the words of the rule; {rank} in 'as' and 'link' alone");
    }
    return {};
  });
}

Result<Resume> with_words(const Resume& resume, const Words& words) {
  Resume made = resume;
  for (Resume::As& as : made.as) {
    FOREBAY_TRY(as.from, with_words(as.from, words));
  }
  FOREBAY_CHECK(for_each_template(made, [&](Template& text, bool) -> Result<void> {
    FOREBAY_TRY(text, template_with(text, words));
    return {};
  }));
  return made;
}

}  // namespace forebay::launch::rules
