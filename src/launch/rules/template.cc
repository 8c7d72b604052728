#include "launch/rules/template.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace forebay::launch::rules {
namespace {

constexpr size_t kMostTemplateBytes = 4096;
using Kind = Template::Piece::Kind;

std::unexpected<Error> bad_template(size_t column, std::string what, std::string hint = {}) {
  return fail(ErrorKind::invalid_argument, fmt::format("column {}: {}", column, what), {}, {}, std::move(hint));
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

Result<Template::Piece> braced(std::string_view inside, size_t column) {
  constexpr std::string_view kFile = "file:";
  if (inside.starts_with(kFile)) {
    Template::Piece piece{.kind = Kind::file};
    FOREBAY_TRY(piece.file, parse_pattern(inside.substr(kFile.size()), Subject::path, column + kFile.size()));
    return piece;
  }
  if (!is_name(inside) || inside == "file")
    return bad_template(column, fmt::format("'{}' is no word", inside),
                        "{set}, {step}, {path}, {dir}, {file:PATTERN} or a word of the rule");
  return Template::Piece{.kind = Kind::word, .text = std::string(inside)};
}

Result<std::string> file_of(const Pattern& pattern, const Filling& filling) {
  const bool is_bare =
      std::ranges::none_of(pattern.pieces, [](const Piece& piece) { return piece.text.contains('/'); });
  std::vector<std::string_view> found;
  for (const std::string_view path : filling.files)
    if (match(pattern, is_bare ? path.substr(path.rfind('/') + 1) : path)) found.push_back(path);
  const std::string text = print_pattern(pattern);
  if (found.empty()) return fail(ErrorKind::not_found, fmt::format("no file of the set matches {{file:{}}}", text));
  if (found.size() > 1)
    return fail(ErrorKind::invalid_argument,
                fmt::format("{{file:{}}} may be {} or {} of the set", text, found[0], found[1]), {}, {},
                "a longer pattern means one of them");
  return filling.root.empty() ? std::string(found[0]) : fmt::format("{}/{}", filling.root, found[0]);
}

}  // namespace

bool Template::has_word(std::string_view name) const {
  return std::ranges::any_of(pieces,
                             [&](const Piece& piece) { return piece.kind == Kind::word && piece.text == name; });
}

Result<Template> parse_template(std::string_view text, bool has_stars, size_t column) {
  if (text.size() > kMostTemplateBytes) return bad_template(column, "the text is too long");
  Template made;
  std::string plain;
  const auto end_plain = [&] {
    if (!plain.empty()) made.pieces.push_back({.kind = Kind::text, .text = std::exchange(plain, {})});
  };
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '}') return bad_template(column + at, "'}' closes nothing");
    if (text[at] == '{') {
      const size_t end = text.find('}', at);
      if (end == std::string_view::npos) return bad_template(column + at, "'{' has no '}'", "such as {set}");
      end_plain();
      FOREBAY_TRY(made.pieces.emplace_back(), braced(text.substr(at + 1, end - at - 1), column + at + 1));
      at = end;
    } else if (text[at] == '*' && has_stars) {
      end_plain();
      made.pieces.push_back({.kind = Kind::star});
    } else {
      plain += text[at];
    }
  }
  end_plain();
  return made;
}

std::string print_template(const Template& text) {
  std::string printed;
  for (const Template::Piece& piece : text.pieces) {
    if (piece.kind == Kind::text) printed += piece.text;
    if (piece.kind == Kind::star) printed += '*';
    if (piece.kind == Kind::word) printed += fmt::format("{{{}}}", piece.text);
    if (piece.kind == Kind::file) printed += fmt::format("{{file:{}}}", print_pattern(piece.file));
  }
  return printed;
}

Result<std::string> fill(const Template& text, const Filling& filling) {
  std::string filled;
  size_t star = 0;
  for (const Template::Piece& piece : text.pieces) {
    switch (piece.kind) {
      case Kind::text:
        filled += piece.text;
        break;
      case Kind::star:
        if (star == filling.stars.size())
          return fail(ErrorKind::not_found, fmt::format("'{}' has more '*' than its pattern", print_template(text)));
        filled += filling.stars[star++];
        break;
      case Kind::word: {
        const auto word = filling.words.find(piece.text);
        if (word == filling.words.end())
          return fail(ErrorKind::not_found,
                      fmt::format("nothing is known of {{{}}} in '{}'", piece.text, print_template(text)), {}, {},
                      "{set}, {step}, {path}, {dir}, {file:PATTERN} and the rule's words have values");
        filled += word->second;
        break;
      }
      case Kind::file: {
        FOREBAY_TRY(const std::string path, file_of(piece.file, filling));
        filled += path;
        break;
      }
    }
  }
  return filled;
}

}  // namespace forebay::launch::rules
