#include "cli/verb.h"

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

std::string verb_help(Verb& verb) {
  bool json = false;
  Syntax syntax;
  verb.declare(syntax);
  syntax.flag("--json", json, "Print one JSON document on standard output.");
  const VerbText& text = verb.text();
  return fmt::format("Usage: forebay {} {}\n\n{}\n{}\nExamples:\n{}", text.name, text.usage, text.description,
                     syntax.help(), text.examples);
}

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
