#include "cli/verb.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codec/codec.h"
#include "container/format.h"
#include "forebay/version.h"
#include "format/reader.h"

namespace forebay::cli {

static constexpr VerbFactory kVerbs[] = {
    make_pack,   make_restore, make_ls,      make_info,   make_verify,     make_extract, make_read,
    make_query,  make_convert, make_report,  make_mount,  make_advise,     make_repair,  make_reject,
    make_prune,  make_remove,  make_diff,    make_lockd,  make_locks,      make_run,     make_watch,
    make_status, make_settle,  make_stop,    make_agent,  make_aggregator, make_gather,  make_fetch,
    make_plan,   make_doctor,  make_recipes, make_config, make_scr};

std::span<const VerbFactory> all_verbs() { return kVerbs; }

std::unique_ptr<Verb> find_verb(std::string_view name) {
  for (const VerbFactory make : kVerbs)
    if (auto verb = make(); verb->text().name == name) return verb;
  return nullptr;
}

std::string command_help() {
  std::string text =
      "Usage: forebay VERB [ARGUMENTS]\n"
      "\n"
      "Keeps checkpoints of parallel simulations: a directory of per-rank files becomes\n"
      "a few small verified containers in a store, and comes back byte for byte.\n"
      "\n"
      "Verbs:\n";
  for (const VerbFactory make : kVerbs) {
    const auto verb = make();
    text += fmt::format("  {:<10} {}\n", verb->text().name, verb->text().summary);
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

// With --json, which all verbs have, but without a place for its value: for help alone.
static Syntax syntax_of(Verb& verb) {
  static bool ignored = false;
  Syntax syntax;
  verb.declare(syntax);
  syntax.flag("--json", ignored, "Print one JSON document on standard output.");
  return syntax;
}

std::string verb_help(Verb& verb) {
  const Syntax syntax = syntax_of(verb);
  const VerbText& text = verb.text();
  return fmt::format("Usage: forebay {} {}\n\n{}\n{}\nExamples:\n{}", text.name, text.usage, text.description,
                     syntax.help(), text.examples);
}

static Json json_option(const OptionText& option) {
  Json names = Json::array();
  for (size_t begin = 0; begin < option.names.size();) {
    const size_t end = std::min(option.names.find(',', begin), option.names.size());
    names.push_back(option.names.substr(begin, end - begin));
    begin = end + 1;
  }
  return {{"names", std::move(names)}, {"value", json_text_or_null(option.value)}, {"help", option.help}};
}

static Json json_verb(Verb& verb) {
  const Syntax syntax = syntax_of(verb);
  const VerbText& text = verb.text();
  Json options = Json::array(), tables = Json::array();
  for (const OptionText& option : syntax.option_texts()) options.push_back(json_option(option));
  for (const WordTable& table : syntax.word_tables()) {
    Json words = Json::object();
    for (const auto& [word, meaning] : table.rows) words[word] = meaning;
    tables.push_back({{"title", table.title}, {"words", std::move(words)}});
  }
  return {{"name", text.name},
          {"summary", text.summary},
          {"usage", fmt::format("forebay {} {}", text.name, text.usage)},
          {"description", text.description},
          {"options", std::move(options)},
          {"word_tables", std::move(tables)},
          {"examples", text.examples}};
}

Json help_json() {
  Json verbs = Json::array();
  for (const VerbFactory make : kVerbs) verbs.push_back(json_verb(*make()));
  return {{"version", FOREBAY_VERSION}, {"verbs", std::move(verbs)}};
}

Json help_json(Verb& verb) { return {{"version", FOREBAY_VERSION}, {"verbs", Json::array({json_verb(verb)})}}; }

static std::vector<std::string> formats() {
  std::vector<std::string> names;
  for (const format::FormatReader* reader : format::all_readers()) names.emplace_back(reader->name());
  return names;
}

static std::vector<std::string> codecs() {
  std::vector<std::string> names;
  for (const codec::Codec* codec : codec::all_codecs()) names.emplace_back(codec->name());
  return names;
}

std::string version_text() {
  return fmt::format("forebay {}\nformats: {}\ncodecs: {}\ncontainer format: {}\nMPI: {}\ncompiler: {}\n",
                     FOREBAY_VERSION, fmt::join(formats(), " "), fmt::join(codecs(), " "), container::kFormatVersion,
                     FOREBAY_WITH_MPI ? "yes" : "no", FOREBAY_COMPILER);
}

Json version_json() {
  return {{"version", FOREBAY_VERSION},   {"formats", formats()},
          {"codecs", codecs()},           {"container_format", container::kFormatVersion},
          {"mpi", FOREBAY_WITH_MPI != 0}, {"compiler", FOREBAY_COMPILER}};
}

}  // namespace forebay::cli
