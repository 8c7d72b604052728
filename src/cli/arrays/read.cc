#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arrays/read_options.h"
#include "cli/arrays/read_sink.h"
#include "cli/arrays/reason.h"
#include "cli/arrays/verbs.h"
#include "cli/common.h"
#include "cli/extension.h"
#include "cli/json.h"
#include "cli/series.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/unread.h"
#include "store/files.h"
#include "view/read/filled.h"
#include "view/read/selection.h"
#include "view/source/run.h"

namespace forebay::cli {
namespace {

constexpr uint64_t kMostPointsBytes = uint64_t{1} << 28;

constexpr VerbText kReadText = {
    .name = "read",
    .summary = find_extension("read")->summary,
    .usage = "STORE [NAME] [--step N] [--box 0:10,:] [--to FILE.npy|FILE.csv|-]",
    .description =
        "A run has steps, which are the sets of a series, and a step has arrays. Where files\n"
        "say which part of an array each rank wrote, NAME is all of it. Without NAME, lists the\n"
        "arrays of a step with their type, shape, blocks, minimum and maximum, from indices\n"
        "alone. With NAME, reads it, or with --box a part of it: only the frames that hold some\n"
        "of it are read and decoded, and every byte is checked. Where nothing was written, the\n"
        "result has zeros, and their number is printed.\n",
    .examples =
        "  forebay read st\n"
        "  forebay read st Density --box :,:,32 --to plane.npy\n"
        "  forebay read st Density --step : --box 10,20,30 --to series.csv\n"
        "  forebay read st Density --points probes.txt --to probes.csv\n"
        "  forebay read st particle_mass --block 5 --to five.npy\n",
    .is_interruptible = true,
};

std::string_view form_text(view::Form form) {
  switch (form) {
    case view::Form::scalar:
      return "scalar";
    case view::Form::global:
      return "global";
    case view::Form::local:
      return "local";
  }
  return {};
}

class Read final : public Verb {
 public:
  const VerbText& text() const override { return kReadText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    declare_series(syntax, options_.series);
    declare_set(syntax, options_);
    syntax.option(
        "--step", "N|FIRST:END",
        "Which step, counted from 0, or from the last one with -1, -2, ..., or those from FIRST up to, but not "
        "including, END: what is read then has a dimension of steps in front. Default: latest.",
        set_steps(steps_));
    syntax.option(
        "-b,--box", "RANGES",
        "Only these indices: FIRST:END or FIRST:END:STEP for each dimension, separated by commas, as in NumPy; "
        "':' takes a dimension whole. Default: all of the array.",
        set_box(wish_.box));
    syntax.option("--stride", "N,N,...", "Of these, every N-th in each dimension.", set_numbers(wish_.stride));
    syntax.option("--block", "N",
                  "Only the block that was written as the N-th, counted from 0; of local arrays this is the only way.",
                  [this](const std::string& text) -> Result<void> {
                    uint64_t block = 0;
                    FOREBAY_CHECK(set_zero_count(block)(text));
                    wish_.block = block;
                    return {};
                  });
    syntax.option("--points", "FILE",
                  "Only these elements of a global array: a text with the indices of one in each line, separated by "
                  "commas or blanks.",
                  set_text(points_));
    syntax.flag("--blocks", blocks_, "List the blocks of the array, instead of reading it.");
    syntax.option("-t,--to", "PATH",
                  "FILE.npy, FILE.csv (a line for each element, with its indices), or - for standard output as .npy. "
                  "Default: NAME.npy.",
                  set_text(to_));
    syntax.flag("--overwrite", overwrite_, "Replace a file that Forebay made and nobody has changed since.");
    declare_raw(syntax, options_.raw);
    declare_skip_damaged(syntax, skip_damaged_);
    declare_layout(syntax, layout_);
    declare_memory(syntax, options_.resources);
    declare_threads(syntax, options_.resources);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {0, 1}));
    const std::string name = operands.own.empty() ? "" : operands.own[0];
    FOREBAY_CHECK(check_options(name, console));
    FOREBAY_TRY(options_.series, series_or(options_.series, std::string()));
    FOREBAY_TRY(options_.layout, layout_text(layout_));
    if (!points_.empty()) {
      FOREBAY_TRY(const std::string text, store::read_text(points_, kMostPointsBytes));
      auto points = parse_points(text);
      if (!points) points.error().path = points_;
      FOREBAY_TRY(wish_.points, std::move(points));
    }
    const auto run = view::open_run(operands.store, options_);
    if (!run) return std::unexpected(unless_set(run.error(), operands.store, operands.own));
    FOREBAY_TRY(const auto steps, readable_steps(**run, steps_, skip_damaged_));
    if (!name.empty() && !blocks_) return read(**run, steps, name, console);
    FOREBAY_TRY(const auto step, (*run)->step(steps.numbers.back()));
    if (name.empty()) return list(**run, *step, console);
    FOREBAY_TRY(const size_t array, find(**run, *step, name));
    return list_blocks(**run, *step, array, console);
  }

 private:
  Result<void> check_options(const std::string& name, const Console& console) const {
    if (name.empty() &&
        (wish_.box || wish_.block || !wish_.stride.empty() || !points_.empty() || blocks_ || !to_.empty()))
      return fail(ErrorKind::invalid_argument,
                  "--box, --stride, --block, --points, --blocks and --to need the NAME of an array", {}, {},
                  "'forebay read STORE' lists the arrays");
    if (to_ == "-" && console.json) return fail(ErrorKind::invalid_argument, "--json and '--to -' exclude each other");
    if (wish_.block && !wish_.stride.empty())
      return fail(ErrorKind::invalid_argument, "--block and --stride exclude each other");
    if (!points_.empty() && (wish_.box || wish_.block || !wish_.stride.empty()))
      return fail(ErrorKind::invalid_argument, "--points excludes --box, --block and --stride");
    return {};
  }

  Result<size_t> find(const view::Run& run, const view::Step& step, const std::string& name) const {
    auto found = view::find_array(step, name);
    if (found) return found;
    return std::unexpected(with_reason(found.error(), run, step.info().number, {name}, options_.resources));
  }

  static Json json_step(const view::StepInfo& info) {
    Json json = {{"number", info.number}};
    json["set"] = info.set.empty() ? Json() : json_text(info.set);
    json["step"] = info.step ? Json(*info.step) : Json();
    json["time"] = info.time ? Json(*info.time) : Json();
    return json;
  }

  static std::string step_text(const view::StepInfo& info) {
    std::string text = fmt::format("step {}", info.number);
    if (!info.set.empty()) text += fmt::format(", set {}", printable(info.set));
    if (info.time) text += fmt::format(", time {}", *info.time);
    return text;
  }

  Result<ExitCode> list(const view::Run& run, const view::Step& step, const Console& console) const {
    std::optional<store::SetInfo> bare;  // the set, if it has no arrays
    if (step.arrays().empty() && !step.info().set.empty()) {
      FOREBAY_TRY(bare, set_of_step(run, step.info()));
    }
    if (console.json) {
      Json arrays = Json::array();
      for (const view::Array& array : step.arrays()) arrays.push_back(json_array(array));
      Json unread = Json::array();
      if (bare) {
        FOREBAY_TRY(unread, json_no_arrays(*bare, options_.resources));
      }
      print_json({{"store", json_text(run.path())},
                  {"step_count", run.steps().size()},
                  {"steps", Json::array({json_step(step.info())})},
                  {"arrays", std::move(arrays)},
                  {"files_without_arrays", std::move(unread)}});
      return ExitCode::ok;
    }
    fmt::print("{}: {}; {}\n", printable(run.path()), plural(run.steps().size(), "step"), step_text(step.info()));
    if (bare) {
      FOREBAY_CHECK(print_no_arrays(*bare, options_.resources));
      return ExitCode::ok;
    }
    if (step.arrays().empty()) {
      fmt::print("this step has no arrays\n");
      return ExitCode::ok;
    }
    const bool has_holes = std::ranges::any_of(step.arrays(), [](const view::Array& array) {
      return array.characteristics && array.characteristics->holes > 0;
    });
    std::vector<Table::Column> columns = {{"NAME", Align::left},  {"TYPE", Align::left},    {"FORM", Align::left},
                                          {"SHAPE", Align::left}, {"BLOCKS", Align::right}, {"MIN", Align::right},
                                          {"MAX", Align::right},  {"NAN", Align::right}};
    if (has_holes) columns.push_back({"HOLES", Align::right});
    Table table(std::move(columns));
    for (const view::Array& array : step.arrays()) {
      const auto& values = array.characteristics;
      const bool has_values = values && values->count > 0;
      std::vector<std::string> cells = {
          printable(array.name),
          view::to_string(array.type),
          std::string(form_text(array.form)),
          array.form == view::Form::local && array.blocks != 1 ? "-" : format_shape(array.shape),
          std::to_string(array.blocks),
          has_values ? fmt::format("{:.6g}", values->min) : "-",
          has_values ? fmt::format("{:.6g}", values->max) : "-",
          values ? std::to_string(values->nans) : "-"};
      if (has_holes) cells.push_back(values ? std::to_string(values->holes) : "-");
      table.add(std::move(cells));
    }
    table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
    return ExitCode::ok;
  }

  static Json json_array(const view::Array& array) {
    Json json = {{"name", json_text(array.name)},
                 {"type", view::to_string(array.type)},
                 {"form", form_text(array.form)},
                 {"shape", array.shape},
                 {"block_count", array.blocks}};
    json["level"] = array.level ? Json(*array.level) : Json();
    const auto& values = array.characteristics;
    json["min"] = values && values->count > 0 ? Json(values->min) : Json();
    json["max"] = values && values->count > 0 ? Json(values->max) : Json();
    json["nan_count"] = values ? Json(values->nans) : Json();
    json["hole_count"] = values ? Json(values->holes) : Json();
    return json;
  }

  static Result<ExitCode> list_blocks(const view::Run& run, const view::Step& step, size_t number,
                                      const Console& console) {
    const view::Array& array = step.arrays()[number];
    FOREBAY_TRY(const auto blocks, step.blocks(number));
    Json list = Json::array();
    Table table({{"BLOCK", Align::right},
                 {"RANK", Align::right},
                 {"BEGIN", Align::left},
                 {"SHAPE", Align::left},
                 {"MIN", Align::right},
                 {"MAX", Align::right}});
    for (size_t i = 0; i < blocks.size(); ++i) {
      const view::Block& block = blocks[i];
      const auto& values = block.characteristics;
      const bool has_values = values && values->count > 0;
      if (console.json) {
        Json json = {{"rank", block.rank}, {"begin", block.place.begin}, {"shape", block.place.count}};
        json["min"] = has_values ? Json(values->min) : Json();
        json["max"] = has_values ? Json(values->max) : Json();
        list.push_back(std::move(json));
      } else {
        table.add({std::to_string(i), std::to_string(block.rank),
                   block.indices ? "listed" : fmt::format("{}", fmt::join(block.place.begin, ",")),
                   format_shape(block.place.count), has_values ? fmt::format("{:.6g}", values->min) : "-",
                   has_values ? fmt::format("{:.6g}", values->max) : "-"});
      }
    }
    if (console.json)
      print_json({{"store", json_text(run.path())},
                  {"steps", Json::array({json_step(step.info())})},
                  {"arrays", Json::array({json_array(array)})},
                  {"blocks", std::move(list)}});
    else
      table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
    return ExitCode::ok;
  }

  // What was read of one array in all steps.
  struct Done {
    view::ElementType type;
    Shape shape;  // with that of the steps in front, if there is one
    Json steps = Json::array();
    std::vector<view::StepInfo> left_out;
    std::string name, last_step;
    uint64_t holes = 0;
    view::ReadCost cost;
    std::unique_ptr<ValueSink> sink;
    WishedPart part;  // of the last step: its shape is that of all
    std::string to;
  };

  Result<ExitCode> read(const view::Run& run, const ReadableSteps& steps, const std::string& name,
                        const Console& console) {
    const engine::Resources resources = options_.resources.resolved();
    FOREBAY_TRY(const uint64_t memory, engine::buffer_bytes(resources.memory_bytes));
    Done done;
    done.left_out = steps.damaged;
    for (const uint64_t number : steps.numbers) {
      FOREBAY_TRY(const auto step, run.step(number));
      FOREBAY_TRY(const size_t array, find(run, *step, name));
      FOREBAY_TRY(done.part, part_of(*step, array, wish_));
      FOREBAY_TRY([[maybe_unused]] const uint64_t bytes, checked_bytes(*step, array, done.part));
      if (const auto* strided = std::get_if<view::Strided>(&done.part.selection))
        FOREBAY_CHECK(view::check_filled(*step, array, *strided));
      if (done.sink == nullptr) FOREBAY_CHECK(begin(*step, array, steps.numbers, done));
      const Shape shape(done.shape.begin() + (steps_.is_range ? 1 : 0), done.shape.end());
      if (step->arrays()[array].type != done.type || done.part.shape != shape)
        return fail(
            ErrorKind::invalid_argument,
            fmt::format("'{}' has another type or shape in step {} than in step {}", name, number, steps.numbers[0]),
            run.path(), {}, "read these steps one by one, or with --box a part that all have");
      FOREBAY_CHECK(read_step(*step, array, memory / 8, done));
    }
    FOREBAY_CHECK(done.sink->finish());
    if (to_ != "-") tell(run, done, console);
    return ExitCode::ok;
  }

  // The bytes of all of what is selected, which is inside of the array.
  static Result<uint64_t> checked_bytes(const view::Step& step, size_t array, const WishedPart& part) {
    const auto* written = std::get_if<view::WrittenBlock>(&part.selection);
    if (written == nullptr) return view::selection_bytes(step.arrays()[array], part.selection);
    FOREBAY_TRY(const auto blocks, step.blocks(array));
    FOREBAY_CHECK(view::check_stored(step, array, {&blocks[written->block], 1}));
    return view::selection_bytes(step.arrays()[array], part.selection, &blocks[written->block]);
  }

  // `steps` outlives `done`.
  Result<void> begin(const view::Step& step, size_t number, const std::vector<uint64_t>& steps, Done& done) {
    const view::Array& array = step.arrays()[number];
    done.type = array.type;
    done.name = array.name;
    done.shape = done.part.shape;
    if (steps_.is_range) done.shape.insert(done.shape.begin(), steps.size());
    done.to = to_.empty() ? as_file_name(array.name) + ".npy" : to_;
    if (!done.to.ends_with(".csv")) {
      FOREBAY_TRY(done.sink, npy_sink(done.to, overwrite_, done.type, done.shape));
      return {};
    }
    std::string titles = steps_.is_range ? "step," : "";
    const auto* points = std::get_if<view::Points>(&done.part.selection);
    const uint64_t dimensions = points != nullptr ? points->dimensions : done.part.shape.size();
    for (uint64_t d = 0; d < dimensions; ++d) titles += fmt::format("index{},", d);
    const uint64_t each = std::max<uint64_t>(1, element_count(done.part.shape));
    const auto place = [&done, &steps, each, this](uint64_t element, std::string& line) {
      if (steps_.is_range) line += std::to_string(steps[element / each]) + ",";
      append_indices(done.part, element % each, line);
    };
    FOREBAY_TRY(done.sink, csv_sink(done.to, overwrite_, done.type, titles + "value", place));
    return {};
  }

  // Reads what is wanted of a step in parts of at most so many bytes, and writes each.
  static Result<void> read_step(const view::Step& step, size_t array, uint64_t most_bytes, Done& done) {
    done.steps.push_back(json_step(step.info()));
    done.last_step = step_text(step.info());
    if (element_count(done.part.shape) == 0) return {};
    engine::Slabs slabs(engine::whole_box(done.part.shape), done.part.shape, done.type.bytes(), most_bytes);
    while (const auto slab = slabs.next()) {
      Bytes values(element_count(slab->count) * done.type.bytes());
      const view::Request request{&step, array, slab_of(done.part, *slab), values};
      const view::ReadResult result = view::read({&request, 1});
      if (result.outcomes[0].error) return std::unexpected(*result.outcomes[0].error);
      done.holes += result.outcomes[0].holes;
      done.cost.add(result.cost);
      FOREBAY_CHECK(done.sink->write(values));
    }
    return {};
  }

  static void tell(const view::Run& run, const Done& done, const Console& console) {
    const uint64_t bytes = element_count(done.shape) * done.type.bytes();
    if (console.json) {
      print_json({{"store", json_text(run.path())},
                  {"steps", done.steps},
                  {"name", json_text(done.name)},
                  {"type", view::to_string(done.type)},
                  {"shape", done.shape},
                  {"raw_bytes", bytes},
                  {"hole_count", done.holes},
                  {"read_bytes", done.cost.read_bytes},
                  {"decoded_bytes", done.cost.decoded_bytes},
                  {"frame_count", done.cost.frames},
                  {"to", json_text(done.to)},
                  {"left_out", json_left_out(done.left_out)}});
      return;
    }
    const std::string steps = done.steps.size() == 1 ? done.last_step : plural(done.steps.size(), "step");
    fmt::print("{}: {} of {}, {} {}; read {}, decoded {}\n", printable(done.to), printable(done.name), steps,
               view::to_string(done.type), format_shape(done.shape), format_bytes(done.cost.read_bytes),
               format_bytes(done.cost.decoded_bytes));
    if (done.holes > 0) fmt::print("{} of its elements were written by no rank, and are 0\n", done.holes);
  }

  std::vector<std::string> operands_;
  std::string store_, to_, layout_, points_;
  StepRange steps_;
  ReadWish wish_;
  bool blocks_ = false, overwrite_ = false, skip_damaged_ = false;
  view::RunOptions options_;
};

}  // namespace

std::unique_ptr<Verb> make_read() { return std::make_unique<Read>(); }

}  // namespace forebay::cli
