// What a verb takes on its command line: declared once, for parsing and for --help.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace forebay::cli {

// Takes the text of one value; invalid_argument if it is none.
using Setter = std::function<Result<void>(const std::string& text)>;

Setter set_text(std::string& to);
Setter add_text(std::vector<std::string>& to);
Setter set_bytes(uint64_t& to);  // "64K"; 1 at least
Setter set_count(uint64_t& to);  // 1 at least
Setter set_zero_count(uint64_t& to);
Setter set_threads(unsigned& to);
Setter set_seconds(std::chrono::milliseconds& to);  // with up to three decimals; above 0, and a day at most
Setter set_integer(std::optional<int64_t>& to);

struct OptionText {
  std::string names;  // "-o,--output"
  std::string value;  // "SIZE"; empty for a flag
  std::string help;
};

// A table of words and their meaning.
struct WordTable {
  std::string title;
  std::vector<std::pair<std::string, std::string>> rows;
};

class Syntax {
 public:
  // Everything that is no option, in order.
  void operands(std::vector<std::string>& to) { operands_ = &to; }

  // What follows "--", apart from the operands before it.
  void command(std::vector<std::string>& to) { command_ = &to; }

  void flag(std::string names, bool& to, std::string help);

  // May be given several times: the setter is called for each, in order.
  void option(std::string names, std::string value, std::string help, Setter setter);

  // What is given of the options that are declared from now on is also appended to each of `to`, as words that another
  // command line takes.
  void record(std::vector<std::vector<std::string>*> to) { recorders_ = std::move(to); }

  // A table of words and their meaning, for --help.
  void section(std::string title, std::vector<std::pair<std::string, std::string>> rows);

  // Parses what follows the verb and calls the setters. invalid_argument with the reason. With --help among the
  // arguments, does nothing else and returns true.
  Result<bool> parse(const std::string& verb, std::vector<std::string> arguments);

  // The options and sections, as text of at most 80 columns.
  std::string help() const;

  // The same for programs, --help included.
  std::vector<OptionText> option_texts() const;
  const std::vector<WordTable>& word_tables() const { return sections_; }

 private:
  struct Option {
    OptionText text;
    Setter setter;         // of an option
    bool* flag = nullptr;  // of a flag
    std::vector<std::vector<std::string>*> recorders;
  };

  // What is wrong with a word that nothing takes.
  Error unexpected(const std::string& verb, const std::string& word) const;
  static Result<void> apply(const Option& option, const std::vector<std::string>& values);

  std::vector<std::string>*operands_ = nullptr, *command_ = nullptr;
  std::deque<Option> options_;
  std::vector<WordTable> sections_;
  std::vector<std::vector<std::string>*> recorders_;
};

}  // namespace forebay::cli
