#include "engine/inspect/diff.h"

#include <fmt/format.h>

#include "cli/arrays/verbs.h"
#include "cli/common.h"
#include "cli/extension.h"
#include "cli/json_stream.h"
#include "cli/series.h"
#include "cli/text.h"
#include "cli/units.h"

namespace forebay::cli {
namespace {

constexpr VerbText kDiffText = {
    .name = "diff",
    .summary = find_extension("diff")->summary,
    .usage = "A B [--store STORE] [OPTIONS]",
    .description =
        "Compares two sets file by file, and files whose bytes differ variable by variable.\n"
        "A and B are names of sets of the store, or STORE/NAME where they are in different\n"
        "stores. The exit code is 0 if the sets are equal and 10 if they differ. Files whose\n"
        "names contain that of the dump are compared as well, where rank and the rest of the\n"
        "name are equal: 'DD0002.cpu0007 -> DD0005.cpu0007'. Per file: '+' only in B, '-' only\n"
        "in A, '*' other bytes, '~' other name, mode, time or kind only.\n",
    .examples =
        "  forebay diff DD0008 DD0014 --store /scratch/store\n"
        "  forebay diff /scratch/store/DD0008 /archive/store/DD0008\n"
        "  forebay diff DD0008 latest --store /scratch/store --json\n",
};

// A set as diff's operands name it: NAME, STORE/NAME or STORE/sets/NAME.
struct SetName {
  std::string store, name;
};

Result<SetName> split_name(std::string text, const std::string& store) {
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  const size_t slash = text.rfind('/');
  if (slash == text.npos) {
    if (!store.empty()) return SetName{store, text};
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' does not name a store", text), {}, {},
                "use --store STORE, or write STORE/NAME");
  }
  std::string path = slash == 0 ? "/" : text.substr(0, slash);
  if (path.ends_with("/sets")) path.erase(path.size() - std::string_view("/sets").size());
  return SetName{path, text.substr(slash + 1)};
}

char sign_of(engine::Change change) {
  switch (change) {
    case engine::Change::added:
      return '+';
    case engine::Change::removed:
      return '-';
    case engine::Change::bytes:
      return '*';
    case engine::Change::metadata:
      return '~';
  }
  return '?';
}

// Whether it could be measured, or NaN and infinities were found, which only numbers are.
bool are_numbers(const engine::ElementDifference& difference) {
  return difference.measured + difference.nans + difference.infinities > 0;
}

std::string difference_text(const engine::ElementDifference& difference) {
  if (difference.elements == UINT64_MAX) return "another shape or type";
  std::string text = plural(difference.elements, "differing element");
  if (!are_numbers(difference)) return text + ", not comparable as numbers";
  if (difference.measured > 0) text += fmt::format(", by up to {}", format_number(difference.max_absolute));
  if (difference.nans > 0) text += fmt::format(", {} with NaN", difference.nans);
  if (difference.infinities > 0) text += fmt::format(", {} with an infinity", difference.infinities);
  return text;
}

Json json_variable(const engine::VariableDifference& variable) {
  const engine::ElementDifference& difference = variable.difference;
  const bool counted = difference.elements != UINT64_MAX, numbers = counted && are_numbers(difference);
  return {{"name", json_text(variable.path)},
          {"comparable", numbers},
          {"differing_element_count", counted ? Json(difference.elements) : Json()},
          {"nan_count", numbers ? Json(difference.nans) : Json()},
          {"infinity_count", numbers ? Json(difference.infinities) : Json()},
          {"max_absolute", numbers && difference.measured > 0 ? Json(difference.max_absolute) : Json()}};
}

void stream_difference(const engine::FileDifference& file, JsonStream& stream) {
  stream.begin_object();
  stream.member("name", json_text(file.name));
  stream.member("other_name", file.other_name.empty() ? Json() : json_text(file.other_name));
  stream.member("change", to_string(file.change));
  stream.begin_list("variables");
  for (const auto& variable : file.variables) stream.element(json_variable(variable));
  stream.end();
  stream.end();
}

void print_difference(const engine::FileDifference& file) {
  fmt::print("{} {}{}\n", sign_of(file.change), printable(file.name),
             file.other_name.empty() ? "" : " -> " + printable(file.other_name));
  for (const auto& variable : file.variables)
    fmt::print("    {}: {}\n", printable(variable.path), difference_text(variable.difference));
}

class Diff final : public Verb {
 public:
  const VerbText& text() const override { return kDiffText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    declare_series(syntax, series_);
    declare_memory(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    if (operands_.size() == 3 && store_.empty()) {
      store_ = operands_[0];
      operands_.erase(operands_.begin());
    }
    if (operands_.size() != 2) return fail(ErrorKind::invalid_argument, "two sets are to be named");
    if (store_.empty()) store_ = store_of_environment();
    FOREBAY_TRY(const auto a, find(operands_[0]));
    FOREBAY_TRY(const auto b, find(operands_[1]));
    engine::Resources resources = resources_.resolved();
    FOREBAY_TRY(resources.memory_bytes, engine::buffer_bytes(resources.memory_bytes));
    FOREBAY_TRY(const auto differences, engine::diff(a, b, resources));
    if (console.json) {
      stream(a.name, b.name, differences);
    } else {
      for (const auto& file : differences.files) print_difference(file);
    }
    return differences.files.empty() ? ExitCode::ok : ExitCode::different;
  }

 private:
  Result<store::SetInfo> find(const std::string& text) const {
    FOREBAY_TRY(const SetName which, split_name(text, store_));
    FOREBAY_TRY(const auto store, store::Store::open(which.store));
    return find_set(store, which.name, series_);
  }

  static void stream(const std::string& a, const std::string& b, const engine::Differences& differences) {
    JsonStream stream;
    stream.member("a", json_text(a));
    stream.member("b", json_text(b));
    stream.member("equal", differences.files.empty());
    stream.begin_list("files");
    for (const auto& file : differences.files) stream_difference(file, stream);
    stream.end();
    stream.finish();
  }

  std::vector<std::string> operands_;
  std::string store_, series_;
  engine::Resources resources_;
};

}  // namespace

std::unique_ptr<Verb> make_diff() { return std::make_unique<Diff>(); }

}  // namespace forebay::cli
