#include "cli/json_stream.h"

#include "base/printable.h"

namespace forebay::cli {

namespace {

constexpr size_t kIndent = 2;

}  // namespace

JsonStream::JsonStream() { open('{', '}'); }

void JsonStream::member(std::string_view name, const Json& content) {
  key(name);
  value(content);
}

void JsonStream::begin_list(std::string_view name) {
  key(name);
  open('[', ']');
}

void JsonStream::begin_object() {
  next();
  open('{', '}');
}

void JsonStream::element(const Json& content) {
  next();
  value(content);
}

void JsonStream::end() {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.is_empty) (text_ += '\n').append(kIndent * levels_.size(), ' ');
  text_ += level.closing;
  flush();
}

void JsonStream::finish() {
  end();
  text_ += '\n';
  std::fwrite(text_.data(), 1, text_.size(), stdout);
}

void JsonStream::next() {
  if (!levels_.back().is_empty) text_ += ',';
  levels_.back().is_empty = false;
  (text_ += '\n').append(kIndent * levels_.size(), ' ');
}

void JsonStream::key(std::string_view name) {
  next();
  text_ += printable_json(Json(name).dump()) + ": ";
}

void JsonStream::open(char opening, char closing) {
  text_ += opening;
  levels_.push_back({closing});
}

// Line feeds inside of texts are escaped: those of the dump are between its lines.
void JsonStream::value(const Json& content) {
  const std::string indent(kIndent * levels_.size(), ' ');
  for (const char c : printable_json(content.dump(kIndent))) {
    text_ += c;
    if (c == '\n') text_ += indent;
  }
  flush();
}

void JsonStream::flush() {
  constexpr size_t kEnough = 64 << 10;
  if (text_.size() < kEnough) return;
  std::fwrite(text_.data(), 1, text_.size(), stdout);
  text_.clear();
}

}  // namespace forebay::cli
