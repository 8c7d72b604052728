// The only file that includes CLI11. It parses one verb's words at a time and returns them as they were typed: CLI11's
// own conversions would split a directory named "[a,b]", and its subcommands would take one named "ls" for a verb.
#include "cli/syntax.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/nearest.h"
#include "cli/text.h"
#include "cli/units.h"

namespace forebay::cli {

Setter set_text(std::string& to) {
  return [&to](const std::string& text) -> Result<void> {
    to = text;
    return {};
  };
}

Setter add_text(std::vector<std::string>& to) {
  return [&to](const std::string& text) -> Result<void> {
    to.push_back(text);
    return {};
  };
}

static Result<uint64_t> at_least_one(Result<uint64_t> value) {
  if (value && *value == 0) return fail(ErrorKind::invalid_argument, "must be 1 at least");
  return value;
}

Setter set_bytes(uint64_t& to) {
  return [&to](const std::string& text) -> Result<void> {
    FOREBAY_TRY(to, at_least_one(parse_bytes(text)));
    return {};
  };
}

Setter set_count(uint64_t& to) {
  return [&to](const std::string& text) -> Result<void> {
    FOREBAY_TRY(to, at_least_one(parse_count(text)));
    return {};
  };
}

Setter set_zero_count(uint64_t& to) {
  return [&to](const std::string& text) -> Result<void> {
    FOREBAY_TRY(to, parse_count(text));
    return {};
  };
}

Setter set_threads(unsigned& to) {
  static constexpr uint64_t kMost = 1024;
  return [&to](const std::string& text) -> Result<void> {
    FOREBAY_TRY(const uint64_t count, at_least_one(parse_count(text)));
    if (count > kMost) return fail(ErrorKind::invalid_argument, fmt::format("must be {} at most", kMost));
    to = static_cast<unsigned>(count);
    return {};
  };
}

Setter set_seconds(std::chrono::milliseconds& to) {
  return [&to](const std::string& text) -> Result<void> {
    FOREBAY_TRY(const double seconds, parse_positive(text));
    if (seconds > 86400) return fail(ErrorKind::invalid_argument, "more than a day");
    to = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000 + 0.5));
    return {};
  };
}

Setter set_integer(std::optional<int64_t>& to) {
  return [&to](const std::string& text) -> Result<void> {
    FOREBAY_TRY(to, parse_integer(text));
    return {};
  };
}

void Syntax::flag(std::string names, bool& to, std::string help) {
  options_.push_back({{std::move(names), "", std::move(help)}, {}, &to, recorders_});
}

void Syntax::option(std::string names, std::string value, std::string help, Setter setter) {
  options_.push_back({{std::move(names), std::move(value), std::move(help)}, std::move(setter), nullptr, recorders_});
}

void Syntax::section(std::string title, std::vector<std::pair<std::string, std::string>> rows) {
  sections_.push_back({std::move(title), std::move(rows)});
}

// CLI11's message in our form: one clause without a final full stop.
static Error usage_error(const std::string& verb, const CLI::ParseError& error) {
  std::string what = error.what();
  if (const size_t colon = what.find(": 1 required"); colon != what.npos)
    what.replace(colon, what.npos, " needs a value");
  std::ranges::replace(what, '\n', ' ');
  while (what.ends_with('.') || what.ends_with(' ')) what.pop_back();
  return {ErrorKind::invalid_argument, what, {}, {}, fmt::format("see 'forebay {} --help'", verb)};
}

// "--store" of "-s,--store,-o".
static std::string long_name(const std::string& names) {
  const size_t begin = names.find("--");
  return names.substr(begin, names.find(',', begin) - begin);
}

Error Syntax::unexpected(const std::string& verb, const std::string& word) const {
  const std::string see = fmt::format("see 'forebay {} --help'", verb);
  if (!word.starts_with('-'))
    return {ErrorKind::invalid_argument, fmt::format("unexpected argument '{}'", word), {}, {}, see};
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> names = {"--help"};
  for (const Option& option : options_) names.push_back(long_name(option.text.names));
  const std::string near = nearest_hint(name, names, "");
  return {ErrorKind::invalid_argument,
          fmt::format("'{}' is not an option of '{}'", name, verb),
          {},
          {},
          near.empty() ? see : near + " " + see};
}

Result<void> Syntax::apply(const Option& option, const std::vector<std::string>& values) {
  for (auto* words : option.recorders)
    for (const std::string& value : values)
      words->push_back(option.flag ? long_name(option.text.names) : long_name(option.text.names) + "=" + value);
  if (!option.flag) {
    for (const std::string& value : values) FOREBAY_CHECK(option.setter(value));
    return {};
  }
  // CLI11 takes "--flag=no" for a flag that was given, with this value.
  if (std::ranges::any_of(values, [](const std::string& value) { return value != "true"; }))
    return fail(ErrorKind::invalid_argument, "takes no value");
  *option.flag = !values.empty();
  return {};
}

Result<bool> Syntax::parse(const std::string& verb, std::vector<std::string> arguments) {
  if (const auto dashes = std::ranges::find(arguments, "--"); command_ && dashes != arguments.end()) {
    command_->assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  CLI::App app;
  app.set_help_flag();
  std::vector<CLI::Option*> parsed;
  const CLI::Option* help = app.add_flag("-h,--help");
  for (const Option& option : options_) {
    CLI::Option* added = option.flag ? app.add_flag(option.text.names) : app.add_option(option.text.names);
    parsed.push_back(added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
  }
  CLI::Option* operands = nullptr;
  if (operands_) {
    const auto most = static_cast<int>(std::min<size_t>(arguments.size() + 1, std::numeric_limits<int>::max()));
    operands = app.add_option("operands")->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->expected(most);
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ExtrasError&) {
    return std::unexpected(unexpected(verb, app.remaining().front()));
  } catch (const CLI::ParseError& error) {
    return std::unexpected(usage_error(verb, error));
  }
  if (help->count() > 0) return true;
  for (size_t i = 0; i < options_.size(); ++i) {
    auto done = apply(options_[i], parsed[i]->results());
    if (done) continue;
    Error error = std::move(done).error();
    error.what = fmt::format("{}: {}", parsed[i]->get_name(), error.what);
    if (error.hint.empty()) error.hint = fmt::format("see 'forebay {} --help'", verb);
    return std::unexpected(std::move(error));
  }
  if (operands) *operands_ = operands->results();
  return false;
}

// Appends `text`, broken at blanks, beside a left column that ends at `indent`.
static void append_entry(std::string& to, const std::string& left, const std::string& right) {
  constexpr size_t kIndent = 26;
  to += "  " + left;
  if (left.size() + 4 > kIndent)
    to += '\n' + std::string(kIndent, ' ');
  else
    to += std::string(kIndent - left.size() - 2, ' ');
  to += wrapped(right, kIndent) + '\n';
}

static constexpr std::string_view kHelpOfHelp = "Print this text and exit.";

std::vector<OptionText> Syntax::option_texts() const {
  std::vector<OptionText> texts;
  for (const Option& option : options_) texts.push_back(option.text);
  texts.push_back({"-h,--help", "", std::string(kHelpOfHelp)});
  return texts;
}

std::string Syntax::help() const {
  std::string text = "Options:\n";
  for (const Option& option : options_) {
    std::string left = option.text.names.starts_with("--") ? "    " + option.text.names : option.text.names;
    for (size_t comma = 0; (comma = left.find(',', comma)) != left.npos; comma += 2) left.insert(comma + 1, " ");
    if (!option.text.value.empty()) left += " " + option.text.value;
    append_entry(text, left, option.text.help);
  }
  append_entry(text, "-h, --help", std::string(kHelpOfHelp));
  for (const WordTable& section : sections_) {
    text += "\n" + section.title + ":\n";
    for (const auto& [word, meaning] : section.rows) append_entry(text, word, meaning);
  }
  return text;
}

}  // namespace forebay::cli
