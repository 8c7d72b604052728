// forebay config: what an XML file of adaptable I/O says, and source text made from it.
#include "io/config/config.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/byte_source.h"
#include "cli/adaptable/verbs.h"
#include "cli/arrays/new_file.h"
#include "cli/common.h"
#include "cli/extension.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "io/config/includes.h"
#include "io/group/dimensions.h"
#include "io/method/registry.h"
#include "io/session/check_transforms.h"
#include "store/files.h"

namespace forebay::cli {
namespace {

constexpr VerbText kConfigText = {
    .name = "config",
    .summary = find_extension("config")->summary,
    .usage = "check FILE | generate FILE [-o DIR] [--old-reads] | methods",
    .description =
        "'check' reads an XML file as programs with adios.h or forebay do, and prints what\n"
        "it understood: groups, variables, attributes and methods, or else what is wrong,\n"
        "with line and column. An ignored part is a warning on standard error. Methods\n"
        "and their parameters are those of this installation.\n"
        "'generate' writes two files for each group that programs include, in the group's\n"
        "language: gwrite_GROUP.ch or .fh writes all variables, gread_GROUP.ch or .fh\n"
        "reads them. A file that would not change is left alone, and one that 'generate' did\n"
        "not make is never replaced.\n"
        "'methods' lists the methods that this installation has, and plug-ins in the\n"
        "directories of $FOREBAY_METHOD_PATH.\n",
    .examples =
        "  forebay config check run.xml\n"
        "  forebay config generate run.xml -o src/generated\n",
};

std::string in_braces(const io::GroupDefinition& group, const std::vector<io::Extension>& list) {
  return "{" + printable(io::to_string(group, list)) + "}";
}

std::string shape_text(const io::GroupDefinition& group, const io::VariableDefinition& variable) {
  if (variable.dimensions.empty()) return "scalar";
  std::string text = in_braces(group, variable.dimensions);
  if (variable.global_dimensions.empty()) return text;
  text += " of " + in_braces(group, variable.global_dimensions);
  return variable.offsets.empty() ? text : text + " at " + in_braces(group, variable.offsets);
}

std::string_view language(const io::GroupDefinition& group) { return group.fortran_order ? "Fortran" : "C"; }

std::string_view statistics_text(io::Statistics statistics) {
  constexpr std::string_view kNames[] = {"none", "minmax", "full"};
  return kNames[static_cast<size_t>(statistics)];
}

Error as_error(io::Failure failure) { return std::move(failure.error); }

class Config final : public Verb {
 public:
  const VerbText& text() const override { return kConfigText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    syntax.option("-o,--output", "DIR", "generate: where the files go; it is made if need be. Default: here.",
                  set_text(directory_));
    syntax.flag("--old-reads", old_reads_,
                "generate: read with adios_read() between open and close, as "
                "programs before ADIOS 1.6 do, not with selections.");
  }

  Result<ExitCode> run(const Console& console) override {
    if (operands_.size() == 1 && operands_[0] == "methods") return methods(console);
    if (operands_.size() != 2 || (operands_[0] != "check" && operands_[0] != "generate"))
      return fail(ErrorKind::invalid_argument, "expected 'check FILE', 'generate FILE' or 'methods'", {}, {},
                  "see 'forebay help config'");
    std::vector<std::string> of_refused;
    auto config = io::read_config(operands_[1], &of_refused);
    for (const std::string& warning : of_refused) warn(printable(warning));
    if (!config) return std::unexpected(as_error(std::move(config.error())));
    return operands_[0] == "check" ? check(console, *config) : generate(console, *config);
  }

 private:
  static Result<ExitCode> methods(const Console& console) {
    const io::MethodRegistry::Available available = io::MethodRegistry::instance().available();
    std::vector<std::string> warnings;
    for (const io::Failure& failure : available.unusable) warnings.push_back(failure.error.message());
    if (console.json) {
      print_json({{"methods", json_texts(available.names)}, {"warnings", json_texts(warnings)}});
      return ExitCode::ok;
    }
    for (const std::string& warning : warnings) warn(printable(warning));
    for (const std::string& name : available.names) fmt::print("{}\n", printable(name));
    return ExitCode::ok;
  }

  static Result<ExitCode> check(const Console& console, io::Config& config) {
    std::vector<std::string> warnings = config.warnings;
    if (auto chosen = check_choices(config, warnings); !chosen) {
      for (const std::string& warning : warnings) warn(printable(warning));
      return std::unexpected(as_error(std::move(chosen.error())));
    }
    if (console.json) {
      print_as_json(config, warnings);
      return ExitCode::ok;
    }
    for (const std::string& warning : warnings) warn(printable(warning));
    print(config);
    return ExitCode::ok;
  }

  // Transforms and methods; adds to the warnings.
  static io::Outcome<void> check_choices(io::Config& config, std::vector<std::string>& warnings) {
    for (io::GroupDefinition& group : config.groups) {
      io::CheckedTransforms transforms = io::check_transforms(group);
      std::ranges::move(transforms.warnings, std::back_inserter(warnings));
      if (!transforms.refused.empty()) return std::unexpected(std::move(transforms.refused.front()));
      for (const io::MethodChoice& choice : group.methods) {
        FOREBAY_TRY(io::MadeMethod made, io::MethodRegistry::instance().make(choice));
        std::ranges::move(made.warnings, std::back_inserter(warnings));
      }
    }
    return {};
  }

  static void print(const io::Config& config) {
    for (const io::GroupDefinition& group : config.groups) {
      fmt::print("group {}: {}, {}, {}, statistics {}{}\n", printable(group.name), language(group),
                 plural(group.variables.size(), "variable"), plural(group.attributes.size(), "attribute"),
                 statistics_text(group.statistics),
                 group.time_index.empty() ? "" : ", time index " + printable(group.time_index));
      for (const io::MethodChoice& method : group.methods)
        fmt::print("  method {}{}{}\n", printable(method.name),
                   method.parameters.empty() ? "" : " with " + printable(method.parameters),
                   method.base_path.empty() ? "" : " in " + printable(method.base_path));
      if (group.aggregate_bytes)
        fmt::print("  steps are kept until they have {}{}\n", format_bytes(*group.aggregate_bytes),
                   group.aggregate_with.empty() ? "" : ", or group " + printable(group.aggregate_with) + " is written");
      print_contents(group);
    }
    if (config.max_buffer_bytes) fmt::print("buffers have {} at most\n", format_bytes(*config.max_buffer_bytes));
  }

  static void print_contents(const io::GroupDefinition& group) {
    Table table({{"  TYPE"}, {"NAME"}, {"SHAPE"}, {"TRANSFORM"}});
    for (const io::VariableDefinition& variable : group.variables)
      table.add({"  " + std::string(io::to_string(variable.type)), printable(variable.full_name()),
                 shape_text(group, variable), printable(variable.transform)});
    for (const io::AttributeDefinition& attribute : group.attributes)
      table.add({"  " + std::string(io::to_string(attribute.type)), printable(attribute.full_name()),
                 attribute.variable.empty() ? "attribute" : "attribute, as " + printable(attribute.variable), ""});
    table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
  }

  static void print_as_json(const io::Config& config, const std::vector<std::string>& warnings) {
    Json groups = Json::array();
    for (const io::GroupDefinition& group : config.groups) {
      Json variables = Json::array(), attributes = Json::array(), methods = Json::array();
      for (const io::VariableDefinition& variable : group.variables)
        variables.push_back({{"name", json_text(variable.full_name())},
                             {"type", io::to_string(variable.type)},
                             {"dimensions", json_text_or_null(io::to_string(group, variable.dimensions))},
                             {"global_dimensions", json_text_or_null(io::to_string(group, variable.global_dimensions))},
                             {"offsets", json_text_or_null(io::to_string(group, variable.offsets))},
                             {"transform", json_text_or_null(variable.transform)}});
      for (const io::AttributeDefinition& attribute : group.attributes)
        attributes.push_back({{"name", json_text(attribute.full_name())},
                              {"type", io::to_string(attribute.type)},
                              {"variable", json_text_or_null(attribute.variable)}});
      for (const io::MethodChoice& method : group.methods)
        methods.push_back({{"name", json_text(method.name)},
                           {"parameters", json_text_or_null(method.parameters)},
                           {"base_path", json_text_or_null(method.base_path)}});
      groups.push_back({{"name", json_text(group.name)},
                        {"language", language(group)},
                        {"time_index", json_text_or_null(group.time_index)},
                        {"statistics", statistics_text(group.statistics)},
                        {"variables", variables},
                        {"attributes", attributes},
                        {"methods", methods},
                        {"aggregate_bytes", group.aggregate_bytes ? Json(*group.aggregate_bytes) : Json()},
                        {"aggregate_with", json_text_or_null(group.aggregate_with)}});
    }
    print_json({{"groups", groups},
                {"max_buffer_bytes", config.max_buffer_bytes ? Json(*config.max_buffer_bytes) : Json()},
                {"warnings", json_texts(warnings)}});
  }

  Result<ExitCode> generate(const Console& console, const io::Config& config) {
    for (const std::string& warning : config.warnings)
      if (!console.json) warn(printable(warning));
    if (directory_ != ".") {
      FOREBAY_CHECK(store::make_directory(directory_));
    }
    const auto style = old_reads_ ? io::ReadStyle::calls : io::ReadStyle::selections;
    std::vector<std::string> paths;
    for (const io::GroupDefinition& group : config.groups) {
      FOREBAY_TRY(paths.emplace_back(),
                  put(io::include_name(group, true), io::writing_include(group), group.fortran_order));
      FOREBAY_TRY(paths.emplace_back(),
                  put(io::include_name(group, false), io::reading_include(group, style), group.fortran_order));
    }
    if (console.json) print_json({{"files", json_texts(paths)}, {"warnings", json_texts(config.warnings)}});
    if (!console.json)
      for (const std::string& path : paths) fmt::print("{}\n", printable(path));
    return ExitCode::ok;
  }

  // The path of the file, which has `text` now. By its first line it is known again as one that may be replaced.
  Result<std::string> put(const std::string& name, const std::string& text, bool is_fortran) const {
    const std::string_view first =
        is_fortran ? "! Made by 'forebay config generate'\n" : "/* Made by 'forebay config generate' */\n";
    const std::string path = directory_ + "/" + name, whole = std::string(first) + text;
    if (has(path, whole) || has(path, text)) return path;  // as earlier versions wrote it
    FOREBAY_TRY(NewFile file, NewFile::create(path, true, first));
    FOREBAY_CHECK(file.write(as_bytes(whole)));
    FOREBAY_CHECK(file.commit());
    return path;
  }

  static bool has(const std::string& path, const std::string& text) {
    const auto file = FileSource::open(path);
    if (!file || (*file)->size() != text.size()) return false;
    Bytes there(text.size());
    return (*file)->read_at(0, there) && as_text(there) == text;
  }

  std::vector<std::string> operands_;
  std::string directory_ = ".";
  bool old_reads_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_config() { return std::make_unique<Config>(); }

}  // namespace forebay::cli
