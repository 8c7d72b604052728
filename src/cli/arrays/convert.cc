// forebay convert: arrays of a run as files that other programs read.
#include "convert/drive/convert.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arrays/read_options.h"
#include "cli/arrays/reason.h"
#include "cli/arrays/verbs.h"
#include "cli/common.h"
#include "cli/extension.h"
#include "cli/json.h"
#include "cli/series.h"
#include "cli/text.h"
#include "cli/units.h"
#include "convert/plan/fill.h"

namespace forebay::cli {
namespace {

constexpr size_t kMostArrays = size_t{1} << 20;

constexpr VerbText kConvertText = {
    .name = "convert",
    .summary = find_extension("convert")->summary,
    .usage = "STORE [NAME...] --to TARGET [--steps RANGE] [--box 0:10,:]",
    .description =
        "Writes the arrays that 'forebay read' lists, or those whose names or shell patterns\n"
        "are given, as TARGET. The parts of a global array are put together. Where the\n"
        "steps of an array agree, they are its first dimension, 'time'; others lie in a group\n"
        "for each step. The parts of a local array lie in one with a dimension 'rank' if\n"
        "all have the same shape, else in one for each rank. Attributes are taken along. Types\n"
        "that the format does not have are named before anything is written.\n"
        "\n"
        "TARGET gets its name when all of it is written and durable. The format follows from the\n"
        "ending of TARGET, or is given with --format: hdf5 (.h5), netcdf (netCDF-4, .nc), netcdf3\n"
        "(netCDF's classic format, .cdf), xdmf (.xmf for ParaView, with an .h5 beside it), zarr\n"
        "(version 3, a directory .zarr) or npy (a file .npy of one array, or with --format a\n"
        "directory of files).\n"
        "\n"
        "Two formats keep what each rank wrote, instead of putting it together: bp (.bp, version 3,\n"
        "which ADIOS 1.x and ADIOS2 read), and store (.store): each step becomes a set NAME-000001\n"
        "of a store, which is made if it is not there, as if the program had written it with the\n"
        "method FOREBAY. So a BP file of ADIOS 1.x comes into a store.\n",
    .examples =
        "  forebay convert st --to run.zarr\n"
        "  forebay convert st Density Temperature --steps -10: --to gas.nc\n"
        "  forebay convert st Density --steps latest --to density.npy\n"
        "  forebay convert st 'Dens*' --steps 10:20 --box :,:,32 --to slices.zarr\n"
        "  forebay convert run.bp --format npy --to arrays\n"
        "  forebay convert run.bp --format store --to st --profile max\n"
        "  forebay convert st --steps -1 --to last.bp\n",
    .is_interruptible = true,
};

// "." and what ends in '/' have no last name, which temporary names beside the target are made of.
std::string without_slashes(const std::string& target) {
  std::filesystem::path path = std::filesystem::path(target).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path == "." || path.filename() == "..") path = std::filesystem::absolute(target).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.string();
}

class ConvertVerb final : public Verb {
 public:
  const VerbText& text() const override { return kConvertText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    declare_series(syntax, options_.series);
    declare_set(syntax, options_);
    syntax.option("-t,--to", "TARGET", "Write this file or directory.", set_text(sink_.target));
    syntax.option("--format", "FORMAT",
                  "hdf5, netcdf, netcdf3, xdmf, zarr, npy, bp or store. Default: by the ending of TARGET.",
                  set_text(format_));
    syntax.option("--steps", "N|FIRST:END",
                  "Which steps, counted from 0, or from the last one with -1, -2, ...; END is not included. Default: "
                  "all.",
                  set_steps(steps_));
    syntax.flag("--step-groups", wish_.step_groups, "Every step in a group of its own, where steps agree, too.");
    syntax.option("-b,--box", "RANGES",
                  "Only these indices of global arrays, which must have as many dimensions: FIRST:END or "
                  "FIRST:END:STEP for each, separated by commas, as NumPy has it; ':' takes a dimension whole.",
                  set_box(part_.box));
    syntax.option("--stride", "N,N,...", "Of these, every N-th in each dimension.", set_numbers(part_.stride));
    syntax.option("--chunk", "N,N,...",
                  "Cut arrays of as many dimensions into chunks of this shape, in formats that have chunks. Default: "
                  "about 1 MiB each.",
                  set_numbers(wish_.chunk));
    syntax.option("--fill", "VALUE",
                  "Write this number, or nan, where no rank wrote anything, and say so in _FillValue. Default: the "
                  "array's own _FillValue, or 0. Not for bp and store.",
                  [this](const std::string& text) { return set_fill(text); });
    syntax.option("--except", "PATTERN", "Leave out arrays that match this shell pattern. May be given several times.",
                  add_text(wish_.except));
    syntax.flag("--overwrite", sink_.overwrite,
                "Replace a TARGET that Forebay made and nobody has changed since. Sets of a store are not replaced.");
    syntax.option("--statistics", "KIND",
                  "bp: what the file says of each block. none; minmax, the least and the largest value; or full, also "
                  "count, average and deviation. Default: minmax.",
                  [this](const std::string& text) { return set_statistics(text); });
    syntax.option("--to-series", "NAME", "store: the series of the new sets. Default: default.",
                  set_text(sink_.series));
    syntax.option("--profile", "PROFILE", "store: fast, balanced, max, or a chain of codecs. Default: balanced.",
                  set_text(profile_));
    declare_raw(syntax, options_.raw);
    declare_skip_damaged(syntax, skip_damaged_);
    declare_layout(syntax, layout_);
    declare_memory(syntax, options_.resources);
    declare_threads(syntax, options_.resources);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(Operands operands, split_operands(operands_, store_, {0, kMostArrays}));
    if (sink_.target.empty())
      return fail(ErrorKind::invalid_argument, "it is not said what to write", {}, {}, "give --to TARGET");
    sink_.target = without_slashes(sink_.target);
    FOREBAY_TRY(const convert::Format* const format, convert::find_format(format_, sink_.target));
    if (!wish_.fill.empty() && format->convert_blocks != nullptr)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("--fill is of no use with {}: what each rank wrote is kept as it is", format->name));
    if (!profile_.empty()) {
      FOREBAY_TRY(sink_.profile, codec::Profile::parse(profile_));
    }
    wish_.names = std::move(operands.own);
    FOREBAY_TRY(options_.series, series_or(options_.series, std::string()));
    FOREBAY_TRY(options_.layout, layout_text(layout_));
    options_.reads_once = true;
    wish_.keeps_stored = options_.raw;
    options_.raw = options_.raw || format->has_attributes;
    wish_.is_meant = !options_.raw;
    const auto opened = view::open_run(operands.store, options_);
    if (!opened) return std::unexpected(unless_set(opened.error(), operands.store, wish_.names));
    const auto& run = *opened;
    FOREBAY_TRY(const ReadableSteps steps, readable_steps(*run, steps_, skip_damaged_));
    wish_.steps = steps.numbers;
    if (part_.box || !part_.stride.empty())
      wish_.part = [this](const view::Array& array) { return part_of_array(array); };
    const engine::Resources resources = options_.resources.resolved();
    FOREBAY_TRY(const uint64_t memory, engine::buffer_bytes(resources.memory_bytes));
    sink_.threads = resources.threads;
    sink_.memory_bytes = resources.memory_bytes;
    auto converted = convert::convert(*run, wish_, *format, sink_, memory / 4);
    if (converted && converted->plan.meanings_differ && options_.raw && !wish_.keeps_stored) {
      options_.raw = false;
      wish_.is_meant = true;
      FOREBAY_TRY(const auto meant, view::open_run(operands.store, options_));
      converted = convert::convert(*meant, wish_, *format, sink_, memory / 4);
      if (converted)
        converted->plan.remarks.push_back(
            "values are written as what they mean, with NaN for holes: steps or files have other fill values or "
            "scales than others");
    }
    if (!converted)
      return std::unexpected(with_reason(converted.error(), *run, wish_.steps.back(), wish_.names, options_.resources));
    tell(*run, *format, *converted, steps.damaged, console);
    return ExitCode::ok;
  }

 private:
  Result<void> set_fill(const std::string& text) {
    if (!convert::element_of(view::element_type(DataType{Kind::floating, ByteOrder::little, 8}), text))
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no number", text), {}, {},
                  "a number as 0, -9999 or 1e20, or nan");
    wish_.fill = text;
    return {};
  }

  Result<void> set_statistics(const std::string& text) {
    const std::map<std::string, bp::Depth> kinds{
        {"none", bp::Depth::none}, {"minmax", bp::Depth::minmax}, {"full", bp::Depth::full}};
    const auto found = kinds.find(text);
    if (found == kinds.end())
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no kind of statistics", text), {}, {},
                  "one of none, minmax and full");
    sink_.statistics = found->second;
    return {};
  }

  Result<view::Strided> part_of_array(const view::Array& array) const {
    if (array.form == view::Form::global) return strided_part(array, part_);
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' is no global array, of which a part could be taken", array.name), {}, {},
                "name the arrays to convert, or leave this one out with --except");
  }

  std::string holes_text(const convert::Plan& plan) const {
    if (!wish_.fill.empty()) return wish_.fill;
    const bool has_own = std::ranges::any_of(plan.datasets, [](const auto& dataset) { return !dataset.fill.empty(); });
    return has_own ? "what _FillValue of the array says, or 0" : "0";
  }

  void tell(const view::Run& run, const convert::Format& format, const convert::Converted& converted,
            const std::vector<view::StepInfo>& left_out, const Console& console) const {
    const convert::Plan& plan = converted.plan;
    if (console.json) {
      Json datasets = Json::array();
      for (const convert::Dataset& dataset : plan.datasets)
        datasets.push_back(
            {{"name", json_text(dataset.path)}, {"type", view::to_string(dataset.type)}, {"shape", dataset.shape}});
      Json remarks = Json::array();
      for (const std::string& remark : plan.remarks) remarks.push_back(json_text(remark));
      print_json({{"store", json_text(run.path())},
                  {"to", json_text(sink_.target)},
                  {"format", format.name},
                  {"step_count", plan.steps.size()},
                  {"raw_bytes", plan.bytes},
                  {"hole_count", converted.holes},
                  {"read_bytes", converted.cost.read_bytes},
                  {"decoded_bytes", converted.cost.decoded_bytes},
                  {"datasets", std::move(datasets)},
                  {"remarks", std::move(remarks)},
                  {"left_out", json_left_out(left_out)}});
      return;
    }
    fmt::print("{}: {} of {}, {}; read {}, decoded {}\n", printable(sink_.target),
               plural(plan.datasets.size(), "array"), plural(plan.steps.size(), "step"), format_bytes(plan.bytes),
               format_bytes(converted.cost.read_bytes), format_bytes(converted.cost.decoded_bytes));
    if (converted.holes > 0)
      fmt::print("{} elements were written by no rank, and are {}\n", converted.holes, holes_text(plan));
    for (const std::string& remark : plan.remarks) fmt::print("{}\n", printable(remark));
  }

  std::vector<std::string> operands_;
  std::string store_, format_, layout_, profile_;
  StepRange steps_{0, {}, true};
  ReadWish part_;
  convert::Wish wish_;
  convert::SinkOptions sink_;
  view::RunOptions options_;
  bool skip_damaged_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_convert() { return std::make_unique<ConvertVerb>(); }

}  // namespace forebay::cli
