// A configuration file as a tree of elements that know where they stand.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "io/group/failure.h"
#include "io/group/text_place.h"

namespace forebay::io {

// Puts the values of attributes that have none into quotes, and tells at which bytes of the result a quote was put in.
// invalid_xml, with the byte of `text` in Error::offset, if elements are too deep within each other.
struct QuotedText {
  std::string text;
  std::vector<size_t> added;  // ascending
};
Outcome<QuotedText> quote_values(std::string_view text);

class Document {
 public:
  // invalid_xml if `text` is too deep or not well-formed.
  static Outcome<std::unique_ptr<Document>> parse(std::string_view text, std::string file);

  pugi::xml_node top() const { return tree_; }

  // Of something that lies in the tree, or of its end; `behind_blanks`: of what follows there.
  TextPlace place(const char* in_tree, bool behind_blanks = false) const;
  std::string where(const char* in_tree) const { return to_string(place(in_tree)); }

  std::unexpected<Failure> refuse(Code code, const char* in_tree, std::string what, std::string hint = {}) const;

  // The same failure, found while what lies there was looked at.
  std::unexpected<Failure> at(const char* in_tree, Failure failure) const;

  // `hint` is only asked for if there is room for the warning.
  using Hint = std::function<std::string()>;
  void warn(const char* in_tree, std::string_view what, const Hint& hint = {});
  std::vector<std::string> take_warnings();

  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

 private:
  Document() = default;
  TextPlace place_in_text(size_t offset) const;

  std::string file_;
  std::string original_;
  std::vector<size_t> line_starts_;  // in it
  QuotedText quoted_;                // its text is taken apart by the parser
  pugi::xml_document tree_;
  std::vector<std::string> warnings_;
  size_t warnings_left_out_ = 0;
};

// A value and where it stands.
struct Value {
  std::string text;
  const char* at = nullptr;
};

// One element. Names count in any case.
class Element {
 public:
  Element(Document& document, pugi::xml_node node) : document_(&document), node_(node) {}

  std::string name() const;
  const char* at() const { return node_.name(); }
  std::vector<Element> children() const;  // elements only
  std::string text() const;               // of the element, without blanks around it
  TextPlace text_place() const;           // of the first letter of the text

  // Warns of attributes that are not in the list, or there twice.
  void expect_attributes(std::initializer_list<std::string_view> known) const;

  // The first of these attributes that is there, or nothing. invalid_xml if it is longer than kMaxConfigWord.
  Outcome<std::optional<Value>> find(std::initializer_list<std::string_view> names) const;

  // The same; what is not there is empty.
  Outcome<Value> get(std::initializer_list<std::string_view> names) const;

  // The same; refused with `code` if it is not there, or empty.
  Outcome<Value> need(std::string_view name, Code code) const;

  // Of any length.
  Value get_long(std::string_view name) const;

  Document& document() const { return *document_; }

 private:
  Document* document_;
  pugi::xml_node node_;
};

}  // namespace forebay::io
