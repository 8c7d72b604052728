#include "cli/program.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
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
#include "forebay/version.h"
#include "launch/run/processes.h"

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

std::unique_ptr<Verb> find_verb(const Program& program, std::string_view name) {
  for (const VerbFactory make : program.verbs)
    if (auto verb = make(); verb->text().name == name) return verb;
  return nullptr;
}

const Extension* extension_of(const Program& program, std::string_view name) {
  return program.extensions.empty() ? nullptr : find_extension(name);
}

Error unknown_verb(const Program& program, const std::string& name) {
  std::vector<std::string> names = {"help", "--help", "--version"};
  for (const VerbFactory make : program.verbs) names.emplace_back(make()->text().name);
  for (const Extension& extension : program.extensions) names.emplace_back(extension.verb);
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

Result<ExitCode> help(const Program& program, Words words) {
  const bool json = std::erase(words, "--json") > 0;
  if (words.empty()) {
    if (!json) {
      print(command_help(program));
      return ExitCode::ok;
    }
    FOREBAY_TRY(const Json document, help_json(program));
    print_json(document);
    return ExitCode::ok;
  }
  if (const Extension* const extension = extension_of(program, words[0]))
    return become(extension->program, Words{words[0], "--help", json ? "--json" : "--help"});
  const auto verb = find_verb(program, words[0]);
  if (!verb) return std::unexpected(unknown_verb(program, words[0]));
  print_help(*verb, json);
  return ExitCode::ok;
}

Result<ExitCode> run_verb(Verb& verb, const Words& words) {
  Console console{.words = {std::string(verb.text().name)}};
  console.words.insert(console.words.end(), words.begin(), words.end());
  Syntax syntax;
  verb.declare(syntax);
  syntax.flag("--json", console.json, "");
  const auto is_help = syntax.parse(std::string(verb.text().name), words);
  if (!is_help) {
    verb.refuse(words, is_help.error());
    return std::unexpected(is_help.error());
  }
  if (*is_help) {
    print_help(verb, wants_json(words));
    return ExitCode::ok;
  }
  const bool starts_programs = verb.text().name == "run" || verb.text().name == "scr";
  if (!starts_programs) raise_descriptor_limit();
  std::optional<Interruptible> interruptible;
  if (verb.text().is_interruptible) interruptible.emplace(std::string(verb.text().name));
  return verb.run(console);
}

Result<ExitCode> dispatch(const Program& program, const Words& words) {
  if (words.empty()) {
    fmt::print(stderr, "{}", command_help(program));
    return ExitCode::usage;
  }
  const Words rest(words.begin() + 1, words.end());
  const std::string& first = words[0];
  if (first == "--help" || first == "-h" || first == "help") return help(program, rest);
  if (first == "--version" || first == "-V") {
    if (wants_json(rest))
      print_json(version_json());
    else
      print(version_text());
    return ExitCode::ok;
  }
  if (const Extension* const extension = extension_of(program, first)) return become(extension->program, words);
  const auto verb = find_verb(program, first);
  if (!verb) return std::unexpected(unknown_verb(program, first));
  return run_verb(*verb, rest);
}

// What was printed must have arrived: a full disk behind a redirection is an error.
ExitCode flush(ExitCode code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  const auto error = fail_errno(errno, "write", "standard output").error();
  fmt::print(stderr, "forebay: {}\n", error.message());
  return code == ExitCode::ok ? exit_code_of(error.kind) : code;
}

ExitCode run(const Program& program, const Words& words) {
  const bool json = wants_json(words);
  try {
    const auto result = dispatch(program, words);
    return flush(result ? *result : report(result.error(), json));
  } catch (const std::bad_alloc&) {
    return flush(report({ErrorKind::internal, "no memory left", {}, {}, "try a smaller --memory"}, json));
  } catch (const std::exception& error) {
    return flush(report({ErrorKind::internal, fmt::format("a defect of Forebay: {}", error.what())}, json));
  }
}

}  // namespace

std::string command_help(const Program& program) {
  std::string text =
      "Usage: forebay VERB [ARGUMENTS]\n"
      "\n"
      "Keeps checkpoints of parallel simulations: a directory of per-rank files becomes\n"
      "a few small verified containers in a store, and comes back byte for byte.\n"
      "\n"
      "Verbs:\n";
  for (const VerbFactory make : program.verbs) {
    const auto verb = make();
    text += fmt::format("  {:<10} {}\n", verb->text().name, verb->text().summary);
  }
  for (const Extension& extension : program.extensions) {
    text += fmt::format("  {:<10} {}\n", extension.verb, extension.summary);
    if (const auto found = find_program(extension.verb, extension.program);
        !found && found.error().kind == ErrorKind::unsupported)
      text += fmt::format("  {:<10} (not installed: the package {} has it)\n", "", extension.program);
  }
  text +=
      "\n"
      "'forebay help VERB' or 'forebay VERB --help' explains a verb, with examples.\n"
      "'forebay help --json' lists all verbs and their options for programs.\n"
      "'forebay --version' shows what this build contains, also with --json.\n"
      "\n"
      "FOREBAY_STORE in the environment names the store where --store is not given.\n"
      "Every verb takes --json: one document on standard output, errors included.\n"
      "Sizes are in bytes or with K, M, G, T for powers of 1024.\n"
      "\n"
      "Exit codes:\n";
  text += kExitCodeHelp;
  text +=
      "\n"
      "Examples:\n"
      "  forebay pack run/DD0008 --store /scratch/store\n"
      "  forebay ls /scratch/store\n"
      "  forebay restore latest --store /scratch/store --to run/restart\n";
  return text;
}

// The verbs that an extension's program has for this command, one document each.
static Result<Json> verbs_of(const std::string& program) {
  using namespace std::chrono_literals;
  FOREBAY_TRY(const std::string text, launch::output_of({program, "help", "--json"}, 30s));
  Json document = Json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("verbs"))
    return fail(ErrorKind::internal, "it does not say what it does", program);
  return document["verbs"];
}

// The verbs of extensions that are installed, in the order of kExtensions.
static Result<void> add_extensions(std::span<const Extension> extensions, Json& verbs) {
  std::map<std::string_view, Json> known;  // by program
  for (const Extension& extension : extensions) {
    const auto path = find_program(extension.verb, extension.program);
    if (!path) continue;
    if (!known.contains(extension.program)) {
      FOREBAY_TRY(known[extension.program], verbs_of(*path));
    }
    for (const Json& verb : known[extension.program])
      if (verb["name"] == extension.verb) verbs.push_back(verb);
  }
  return {};
}

Result<Json> help_json(const Program& program) {
  Json verbs = Json::array();
  for (const VerbFactory make : program.verbs) verbs.push_back(help_json(*make())["verbs"][0]);
  FOREBAY_CHECK(add_extensions(program.extensions, verbs));
  return Json{{"version", FOREBAY_VERSION}, {"verbs", std::move(verbs)}};
}

int run_program(const Program& program, int argc, char** argv) {
  // A file size limit is then an error of write(), which names the file, not a silent death.
  std::signal(SIGXFSZ, SIG_IGN);
  set_up_allocator();
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (argc > 0) words = words_of_link(argv[0], std::move(words));
  return static_cast<int>(run(program, words));
}

}  // namespace forebay::cli
