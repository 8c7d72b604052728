#include "io/config/document.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "io/config/config.h"
#include "io/group/text.h"

namespace forebay::io {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

// Copies a text up to and including `end`, or all of it.
class Copier {
 public:
  explicit Copier(std::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }
  char peek() const { return text_[at_]; }
  bool sees(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  size_t position() const { return at_; }
  void take() { out_.text.push_back(text_[at_++]); }
  void quote() {
    out_.added.push_back(out_.text.size());
    out_.text.push_back('"');
  }
  void take_through(std::string_view end) {
    const size_t found = text_.find(end, at_);
    const size_t stop = found == std::string_view::npos ? text_.size() : found + end.size();
    out_.text.append(text_.substr(at_, stop - at_));
    at_ = stop;
  }
  QuotedText result() && { return std::move(out_); }

 private:
  std::string_view text_;
  size_t at_ = 0;
  QuotedText out_;
};

// After '=': a value with or without quotes.
void copy_value(Copier& copier) {
  while (!copier.done() && is_blank(copier.peek())) copier.take();
  if (copier.done() || copier.peek() == '>' || copier.sees("/>")) return;
  if (const char mark = copier.peek(); mark == '"' || mark == '\'') {
    copier.take();
    copier.take_through(std::string_view(&mark, 1));
    return;
  }
  copier.quote();
  while (!copier.done() && !is_blank(copier.peek()) && copier.peek() != '>' && !copier.sees("/>")) copier.take();
  copier.quote();
}

// From '<' on; whether it ends with "/>".
bool copy_tag(Copier& copier) {
  copier.take();
  while (!copier.done() && copier.peek() != '>') {
    if (copier.sees("/>")) {
      copier.take_through("/>");
      return true;
    }
    const bool is_value = copier.peek() == '=';
    copier.take();
    if (is_value) copy_value(copier);
  }
  if (!copier.done()) copier.take();
  return false;
}

}  // namespace

Outcome<QuotedText> quote_values(std::string_view text) {
  Copier copier(text);
  size_t depth = 0;
  while (!copier.done()) {
    if (copier.sees("<!--")) {
      copier.take_through("-->");
    } else if (copier.sees("<![CDATA[")) {
      copier.take_through("]]>");
    } else if (copier.sees("<?")) {
      copier.take_through("?>");
    } else if (copier.sees("</")) {
      copier.take_through(">");
      depth -= depth > 0 ? 1 : 0;
    } else if (copier.sees("<!")) {
      copier.take();
    } else if (copier.peek() == '<') {
      const size_t start = copier.position();
      if (!copy_tag(copier)) ++depth;
      if (depth > kMaxConfigDepth)
        return std::unexpected(
            Failure(Code::invalid_xml, Error{ErrorKind::limit,
                                             fmt::format("elements are more than {} deep within each "
                                                         "other",
                                                         kMaxConfigDepth),
                                             {},
                                             start,
                                             {}}));
    } else {
      copier.take();
    }
  }
  return std::move(copier).result();
}

Outcome<std::unique_ptr<Document>> Document::parse(std::string_view text, std::string file) {
  auto document = std::unique_ptr<Document>(new Document);
  document->file_ = std::move(file);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  document->original_ = text;
  document->line_starts_ = {0};
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    document->line_starts_.push_back(at + 1);
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos)
    return io::refuse(Code::invalid_xml, "there is a NUL byte in it", {}, to_string(document->place_in_text(zero)));
  auto quoted = quote_values(text);
  if (!quoted) {
    Failure failure = std::move(quoted.error());
    failure.error.path = to_string(document->place_in_text(failure.error.offset.value_or(0)));
    failure.error.offset.reset();
    return std::unexpected(std::move(failure));
  }
  document->quoted_ = std::move(*quoted);
  std::string& buffer = document->quoted_.text;
  const auto result =
      document->tree_.load_buffer_inplace(buffer.data(), buffer.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result && result.status != pugi::status_no_document_element)
    return document->refuse(Code::invalid_xml, buffer.data() + result.offset,
                            fmt::format("the XML cannot be read: {}", result.description()));
  return document;
}

TextPlace Document::place(const char* in_tree, bool behind_blanks) const {
  const char* first = quoted_.text.data();
  const std::less<> before;
  if (before(in_tree, first) || before(first + quoted_.text.size(), in_tree)) return {.file = file_};
  const auto offset = static_cast<size_t>(in_tree - first);
  const auto added = std::ranges::lower_bound(quoted_.added, offset) - quoted_.added.begin();
  size_t in_text = offset - static_cast<size_t>(added);
  while (behind_blanks && in_text < original_.size() && is_blank(original_[in_text])) ++in_text;
  return place_in_text(in_text);
}

TextPlace Document::place_in_text(size_t offset) const {
  const size_t inside = std::min(offset, original_.size());
  const auto after = std::ranges::upper_bound(line_starts_, inside);
  return {
      .file = file_, .line = static_cast<size_t>(after - line_starts_.begin()), .column = inside - *(after - 1) + 1};
}

std::unexpected<Failure> Document::refuse(Code code, const char* in_tree, std::string what, std::string hint) const {
  return io::refuse(code, std::move(what), std::move(hint), where(in_tree));
}

std::unexpected<Failure> Document::at(const char* in_tree, Failure failure) const {
  failure.error.path = where(in_tree);
  return std::unexpected(std::move(failure));
}

void Document::warn(const char* in_tree, std::string_view what, const Hint& hint) {
  if (warnings_.size() >= kMaxConfigWarnings) {
    ++warnings_left_out_;
    return;
  }
  const std::string help = hint ? hint() : std::string();
  warnings_.push_back(fmt::format("{}: {}{}", where(in_tree), what, help.empty() ? "" : fmt::format(" ({})", help)));
}

std::vector<std::string> Document::take_warnings() {
  if (warnings_left_out_ > 0) warnings_.push_back(fmt::format("{}: {} more", file_, warnings_left_out_));
  warnings_left_out_ = 0;
  return std::move(warnings_);
}

std::string Element::name() const { return lower(node_.name()); }

std::vector<Element> Element::children() const {
  std::vector<Element> result;
  for (const pugi::xml_node child : node_.children())
    if (child.type() == pugi::node_element) result.emplace_back(*document_, child);
  return result;
}

std::string Element::text() const { return std::string(trimmed(node_.child_value())); }

TextPlace Element::text_place() const {
  const char* const value = node_.child_value();
  return *value == '\0' ? document_->place(at()) : document_->place(value, true);
}

void Element::expect_attributes(std::initializer_list<std::string_view> known) const {
  std::vector<std::string> seen;
  for (const pugi::xml_attribute attribute : node_.attributes()) {
    const std::string word = lower(attribute.name());
    if (std::ranges::find(known, word) == known.end()) {
      document_->warn(attribute.name(), fmt::format("{} has no attribute '{}', which is ignored", name(), word), [&] {
        const std::vector<std::string> names(known.begin(), known.end());
        return nearest_hint(word, names, fmt::format("it may have {}", fmt::join(known, ", ")));
      });
    } else if (std::ranges::find(seen, word) != seen.end()) {
      document_->warn(attribute.name(), fmt::format("'{}' is given again, which is ignored", word));
    } else {
      seen.push_back(word);
    }
  }
}

Outcome<std::optional<Value>> Element::find(std::initializer_list<std::string_view> names) const {
  for (const std::string_view wanted : names)
    for (const pugi::xml_attribute attribute : node_.attributes()) {
      if (!equal_in_any_case(attribute.name(), wanted)) continue;
      if (std::strlen(attribute.value()) > kMaxConfigWord)
        return document_->refuse(Code::invalid_xml, attribute.name(),
                                 fmt::format("'{}' is longer than {} bytes", wanted, kMaxConfigWord));
      return Value{attribute.value(), attribute.name()};
    }
  return std::nullopt;
}

Outcome<Value> Element::get(std::initializer_list<std::string_view> names) const {
  FOREBAY_TRY(auto value, find(names));
  return value.value_or(Value{{}, at()});
}

Outcome<Value> Element::need(std::string_view wanted, Code code) const {
  FOREBAY_TRY(Value value, get({wanted}));
  if (value.text.empty())
    return document_->refuse(code, value.at, fmt::format("expected attribute '{}' of {}", wanted, name()));
  return value;
}

Value Element::get_long(std::string_view wanted) const {
  for (const pugi::xml_attribute attribute : node_.attributes())
    if (equal_in_any_case(attribute.name(), wanted)) return {attribute.value(), attribute.name()};
  return {{}, at()};
}

}  // namespace forebay::io
