// forebay VERB ...: finds the verb, parses its words, runs it and turns its result into output and an exit code.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"
#include "cli/allocator.h"
#include "cli/descriptors.h"
#include "cli/interruptible.h"
#include "cli/json.h"
#include "cli/scr_link.h"
#include "cli/text.h"
#include "cli/verb.h"

namespace forebay::cli {
namespace {

using Words = std::vector<std::string>;

// The verb's own parser has not run, or has failed, when this matters.
bool wants_json(const Words& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

ExitCode report(const Error& error, bool json) {
  if (json)
    print_json(json_error(error));
  else
    fmt::print(stderr, "forebay: {}\n", printable(error.message()));
  return exit_code_of(error.kind);
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

Error unknown_verb(const std::string& name) {
  std::vector<std::string> names = {"help", "--help", "--version"};
  for (const VerbFactory make : all_verbs()) names.emplace_back(make()->text().name);
  return {ErrorKind::invalid_argument,
          fmt::format("'{}' is not a verb", name),
          {},
          {},
          nearest_hint(name, names, "see 'forebay --help'")};
}

void print_help(Verb& verb, bool json) {
  if (json)
    print_json(help_json(verb));
  else
    print(verb_help(verb));
}

Result<ExitCode> help(Words words) {
  const bool json = std::erase(words, "--json") > 0;
  if (words.empty()) {
    if (json)
      print_json(help_json());
    else
      print(command_help());
    return ExitCode::ok;
  }
  const auto verb = find_verb(words[0]);
  if (!verb) return std::unexpected(unknown_verb(words[0]));
  print_help(*verb, json);
  return ExitCode::ok;
}

Result<ExitCode> run_verb(Verb& verb, const Words& words) {
  Console console;
  Syntax syntax;
  verb.declare(syntax);
  syntax.flag("--json", console.json, "");
  FOREBAY_TRY(const bool is_help, syntax.parse(std::string(verb.text().name), words));
  if (is_help) {
    print_help(verb, wants_json(words));
    return ExitCode::ok;
  }
  const bool starts_programs = verb.text().name == "run" || verb.text().name == "scr";
  if (!starts_programs) raise_descriptor_limit();
  std::optional<Interruptible> interruptible;
  if (verb.text().is_interruptible) interruptible.emplace(std::string(verb.text().name));
  return verb.run(console);
}

Result<ExitCode> dispatch(const Words& words) {
  if (words.empty()) {
    fmt::print(stderr, "{}", command_help());
    return ExitCode::usage;
  }
  const Words rest(words.begin() + 1, words.end());
  const std::string& first = words[0];
  if (first == "--help" || first == "-h" || first == "help") return help(rest);
  if (first == "--version" || first == "-V") {
    if (wants_json(rest))
      print_json(version_json());
    else
      print(version_text());
    return ExitCode::ok;
  }
  const auto verb = find_verb(first);
  if (!verb) return std::unexpected(unknown_verb(first));
  return run_verb(*verb, rest);
}

// What was printed must have arrived: a full disk behind a redirection is an error.
ExitCode flush(ExitCode code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  const auto error = fail_errno(errno, "write", "standard output").error();
  fmt::print(stderr, "forebay: {}\n", error.message());
  return code == ExitCode::ok ? exit_code_of(error.kind) : code;
}

ExitCode run(const Words& words) {
  const bool json = wants_json(words);
  try {
    const auto result = dispatch(words);
    return flush(result ? *result : report(result.error(), json));
  } catch (const std::bad_alloc&) {
    return flush(report({ErrorKind::internal, "no memory left", {}, {}, "try a smaller --memory"}, json));
  } catch (const std::exception& error) {
    return flush(report({ErrorKind::internal, fmt::format("a defect of Forebay: {}", error.what())}, json));
  }
}

}  // namespace
}  // namespace forebay::cli

int main(int argc, char** argv) {
  // A file size limit is then an error of write(), which names the file, not a silent death.
  std::signal(SIGXFSZ, SIG_IGN);
  forebay::cli::set_up_allocator();
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (argc > 0) words = forebay::cli::words_of_link(argv[0], std::move(words));
  return static_cast<int>(forebay::cli::run(words));
}
