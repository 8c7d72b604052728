#include "cli/verb.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codec/codec.h"
#include "container/format.h"
#include "forebay/version.h"
#include "format/reader.h"

namespace forebay::cli {

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
