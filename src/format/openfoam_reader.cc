#include "format/openfoam_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/bytes.h"
#include "format/window.h"

namespace forebay::format {
namespace {

constexpr size_t kMostToken = 4096;  // bytes
constexpr size_t kMostDepth = 32;

// The text of a file, token by token; data between it is passed over.
class Tokens {
 public:
  explicit Tokens(const ByteSource& source) : size_(source.size()), window_(source) {}

  // One of "{}()[];", a word, or a string without its quotes. Empty: the end, also of what can be understood.
  std::string next() {
    if (!skip_blanks()) return {};
    std::string token(1, peek());
    ++at_;
    if (is_mark(token[0])) return token;
    const bool is_string = token[0] == '"';
    if (is_string) token.clear();
    while (at_ < size_ && !error_ && token.size() <= kMostToken) {
      const char c = peek();
      if (is_string ? c == '"' : is_blank(c) || is_mark(c)) {
        at_ += is_string ? 1 : 0;
        return token.empty() ? " " : token;
      }
      token += c;
      ++at_;
    }
    return {};
  }

  // Passes over `length` bytes if they end with ")" within the file.
  std::optional<Extent> data(uint64_t length) {
    if (length >= size_ - at_) return std::nullopt;
    const Extent extent{.offset = at_, .length = length};
    at_ += length;
    if (peek() != ')') return std::nullopt;
    ++at_;
    return extent;
  }

  // Of the source.
  const std::optional<Error>& error() const { return error_; }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  static bool is_mark(char c) { return std::string_view("{}()[];").find(c) != std::string_view::npos; }

  // 0 at the end.
  char peek(uint64_t ahead = 0) {
    const auto bytes = window_.at(at_ + ahead, 1);
    if (!bytes) error_ = bytes.error();
    return bytes && !bytes->empty() ? static_cast<char>(bytes->front()) : '\0';
  }

  // And comments. False: nothing follows.
  bool skip_blanks() {
    while (at_ < size_ && !error_) {
      if (is_blank(peek())) {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        while (at_ < size_ && !error_ && peek() != '\n') ++at_;
      } else if (peek() == '/' && peek(1) == '*') {
        at_ += 2;
        while (at_ < size_ && !error_ && !(peek() == '*' && peek(1) == '/')) ++at_;
        at_ = std::min(at_ + 2, size_);
      } else {
        return !error_;
      }
    }
    return false;
  }

  uint64_t size_, at_ = 0;
  Window window_;
  std::optional<Error> error_;
};

struct Element {
  std::string_view name;
  uint64_t values;
};
constexpr std::array<Element, 6> kElements = {
    {{"scalar", 1}, {"vector", 3}, {"sphericalTensor", 1}, {"symmTensor", 6}, {"tensor", 9}, {"label", 1}}};

// Of a list in a dictionary: List<vector>; of a file that is a list: its class, such as vectorField or labelList.
const Element* element_of(std::string_view word) {
  constexpr std::string_view kList = "List<";
  const auto named = [](std::string_view name) -> const Element* {
    const auto* const found = std::ranges::find(kElements, name, &Element::name);
    return found == kElements.end() ? nullptr : &*found;
  };
  if (word.starts_with(kList) && word.ends_with('>'))
    return named(word.substr(kList.size(), word.size() - kList.size() - 1));
  if (word == "faceCompactList") return named("label");  // where each face begins, then the points of all
  for (const std::string_view kind : {"IOField", "IOList", "Field", "List"})
    if (word.ends_with(kind)) return named(word.substr(0, word.size() - kind.size()));
  return nullptr;
}

std::optional<uint64_t> count_of(std::string_view word) {
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return count;
}

// Walks through a file's dictionaries.
class Walk {
 public:
  explicit Walk(const ByteSource& source) : tokens_(source) {}

  Result<std::vector<Variable>> lists() {
    for (std::string token = tokens_.next(); !token.empty() && take(token); token = tokens_.next()) {
    }
    if (tokens_.error()) return std::unexpected(*tokens_.error());
    return std::move(found_);
  }

 private:
  // False: this is as far as the file is understood.
  bool take(const std::string& token) {
    if (token == "(" && list_ != nullptr && count_) return take_list();
    if (token == "(" || token == "[") {
      ++brackets_;
    } else if (token == ")" || token == "]") {
      if (brackets_-- == 0) return false;
    } else if (brackets_ > 0) {
      return true;
    } else if (token == "{") {
      if (path_.size() == kMostDepth) return false;
      path_.push_back(std::exchange(key_, {}));
    } else if (token == "}") {
      if (path_.empty()) return false;
      path_.pop_back();
      key_.clear();
    } else if (token == ";") {
      end_entry();
    } else {
      take_word(token);
    }
    return true;
  }

  void take_word(const std::string& word) {
    const auto count = count_of(word);
    if (path_.empty() && key_.empty() && count) {
      list_ = element_of(class_);
      count_ = count;
    } else if (key_.empty()) {
      key_ = word;
    } else if (word.starts_with("List<")) {
      list_ = element_of(word);
      count_.reset();
    } else {
      count_ = count;
      value_ = word;
    }
  }

  void end_entry() {
    if (path_.size() == 1 && path_.front() == "FoamFile") take_header();
    key_.clear();
    value_.clear();
    list_ = nullptr;
    count_.reset();
  }

  void take_header() {
    if (key_ == "class") class_ = value_;
    if (key_ == "object") object_ = value_;
    if (key_ != "arch") return;
    if (value_.starts_with("MSB")) order_ = ByteOrder::big;
    if (value_.find("label=64") != std::string::npos) label_bytes_ = 8;
    if (value_.find("scalar=32") != std::string::npos) scalar_bytes_ = 4;
  }

  bool take_list() {
    const bool is_label = list_->name == "label";
    const uint8_t size = is_label ? label_bytes_ : scalar_bytes_;
    const uint64_t values = *std::exchange(count_, std::nullopt), width = list_->values * size;
    const bool is_top = path_.empty() && key_.empty();
    const Element& element = *std::exchange(list_, nullptr);
    if (values > UINT64_MAX / width) return false;
    const auto extent = tokens_.data(values * width);
    if (!extent) return false;
    if (values == 0) return true;
    Variable& variable = found_.emplace_back();
    variable.path = is_top ? top_path() : entry_path();
    variable.type = {is_label ? Kind::signed_int : Kind::floating, order_, size};
    variable.shape = element.values == 1 ? Shape{values} : Shape{values, element.values};
    variable.extents = {*extent};
    return found_.size() < kMaxVariablesPerFile;
  }

  std::string top_path() {
    const uint64_t number = lists_at_top_++;
    return number == 0 ? "/" + object_ : fmt::format("/{}_{}", object_, number);
  }

  std::string entry_path() const {
    std::string path = "/" + object_;
    if (path_.empty() && key_ == "internalField") return path;
    for (const std::string& name : path_) path += "/" + name;
    return path + "/" + key_;
  }

  Tokens tokens_;
  std::vector<std::string> path_;  // of dictionaries
  size_t brackets_ = 0;            // that are open
  std::string key_, value_;        // of the entry, so far
  const Element* list_ = nullptr;  // the list that is next, and its length
  std::optional<uint64_t> count_;
  std::string class_, object_ = "list";
  ByteOrder order_ = ByteOrder::little;
  uint8_t label_bytes_ = 4, scalar_bytes_ = 8;
  uint64_t lists_at_top_ = 0;
  std::vector<Variable> found_;
};

// Whether `text` has an entry `format binary;`.
bool is_binary(std::string_view text) {
  constexpr std::string_view kKey = "format";
  for (size_t at = text.find(kKey); at != std::string_view::npos; at = text.find(kKey, at + 1)) {
    const size_t value = text.find_first_not_of(" \t", at + kKey.size());
    if (value != std::string_view::npos && text.substr(value).starts_with("binary;")) return true;
  }
  return false;
}

}  // namespace

Result<bool> OpenFoamReader::matches(std::span<const std::byte> head, const ByteSource&) const {
  const std::string_view text = as_text(head);
  const size_t header = text.find("FoamFile");
  return header != std::string_view::npos && is_binary(text.substr(header));
}

Result<Layout> OpenFoamReader::read(const ByteSource& source) const {
  FOREBAY_TRY(auto lists, Walk(source).lists());
  return Layout{.format = "openfoam", .variables = std::move(lists)};
}

}  // namespace forebay::format
