#include "cli/input_copy.h"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/text.h"
#include "store/files.h"
#include "store/may_replace.h"

namespace forebay::cli {
namespace {

constexpr std::string_view kMadeBy = " Written by 'forebay run', for a restart alone; it is replaced at the next one.";

std::string first_line(const launch::CodeInput& input) { return input.comment + std::string(kMadeBy); }

}  // namespace

std::string copy_of_input(const std::string& path) {
  const std::filesystem::path given(path);
  return given.parent_path() / (".forebay-resume." + given.filename().string());
}

InputLook look_at_input(const std::string& code, const std::optional<launch::CodeInput>& input,
                        const std::vector<std::string>& command) {
  if (!input) return {};
  const auto word = launch::input_word(*input, command);
  if (!word)
    return {.is = fmt::format("no word of the command names the input of {} ({} FILE)", code,
                              fmt::join(input->after, " FILE, ")),
            .change = "see to it that the input has: " + input->needs};
  const std::string& path = command[*word];
  const auto text = store::read_text(path, launch::kMostInputBytes);
  if (!text) return {.is = "the input cannot be read: " + text.error().message(), .change = "name another one"};
  if (launch::resumes_by_itself(*input, *text)) return {};
  const auto copy = input->replace.empty()
                        ? fail(ErrorKind::unsupported, "the recipe knows no way")
                        : launch::resumed_input(*input, *text, {{"path", "SET"}, {"set", "SET"}, {"step", "SET"}});
  if (copy)
    return {.is_copied = true,
            .is = fmt::format("{} does not resume by itself: a restart runs {}, a copy of it that does",
                              printable(path), printable(copy_of_input(path))),
            .change = {}};
  return {.is = fmt::format("{} begins again from scratch at a restart, and no copy of it can be made that resumes: {}",
                            printable(path), printable(copy.error().what)),
          .change = "give it the line: " + input->needs};
}

Result<std::vector<std::string>> command_with_copy(const launch::CodeInput& input, std::vector<std::string> command,
                                                   const launch::rules::Words& words) {
  namespace fs = std::filesystem;
  const auto word = launch::input_word(input, command);
  if (!word) return command;
  std::string& path = command[*word];
  FOREBAY_TRY(const std::string text, store::read_text(path, launch::kMostInputBytes));
  if (launch::resumes_by_itself(input, text)) return command;
  auto copy = launch::resumed_input(input, text, words);
  if (!copy) {
    Error error = std::move(copy).error();
    error.path = path;
    error.hint = "give it the line: " + input.needs;
    return std::unexpected(std::move(error));
  }
  const fs::path to = copy_of_input(path);
  const std::string directory = to.has_parent_path() ? to.parent_path().string() : ".";
  const std::string line = first_line(input);
  FOREBAY_CHECK(store::may_replace(to, {.becomes = store::Thing::file, .right = store::Right::marked, .begins = line}));
  FOREBAY_CHECK(store::write_text(directory, to.filename(), line + "\n" + *copy));
  path = to;
  return command;
}

}  // namespace forebay::cli
