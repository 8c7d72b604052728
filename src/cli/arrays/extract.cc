#include "engine/inspect/extract.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>
#include <span>

#include <fmt/format.h>
#include <sys/stat.h>

#include "cli/arrays/new_file.h"
#include "cli/arrays/read_options.h"
#include "cli/arrays/reason.h"
#include "cli/arrays/verbs.h"
#include "cli/common.h"
#include "cli/extension.h"
#include "cli/json.h"
#include "cli/series.h"
#include "cli/text.h"
#include "cli/units.h"
#include "engine/inspect/find_in_set.h"
#include "engine/set/array_order.h"
#include "engine/set/each_container.h"
#include "engine/set/set_reader.h"
#include "format/npy.h"
#include "store/files.h"

namespace forebay::cli {
namespace {

constexpr VerbText kExtractText = {
    .name = "extract",
    .summary = find_extension("extract")->summary,
    .usage = "NAME|latest VARIABLE --store STORE [--rank R] [--box 0:10,:] [--to FILE.npy|DIR|-]",
    .description =
        "Reads only the frames that hold the variable, or with --box that part of it. It\n"
        "writes while it reads, so a variable may be larger than the memory. VARIABLE is its\n"
        "path, or a shell pattern on paths or keys of variable groups. One match goes to\n"
        "FILE.npy, or to standard output with '--to -'; any number of matches goes to files in\n"
        "DIR that are named after rank and variable. Files that exist are not replaced, unless\n"
        "with --overwrite.\n",
    .examples =
        "  forebay extract DD0008 /Grid00000001/Density --store st --to density.npy\n"
        "  forebay extract latest '*/Density' --store st --rank 3 --to out/\n"
        "  forebay extract latest /Density --store st --rank 3 --box :,:,32 --to plane.npy\n"
        "  forebay extract latest /Time --store st --rank 0 --to - | ./plot.py\n",
    .is_interruptible = true,
};

// One match and where it goes.
struct Target {
  engine::Found found;
  uint32_t rank = 0;
  std::string file_name, path, to;
};

// What was written of it.
struct Written {
  DataType type;
  Shape shape, begin;  // of the box
  uint64_t bytes = 0;
  uint64_t frames = 0;  // that were read
};

bool is_directory(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

class Extract final : public Verb {
 public:
  const VerbText& text() const override { return kExtractText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    declare_series(syntax, series_);
    syntax.option("-r,--rank", "R", "Only this rank's. Default: all ranks.",
                  [this](const std::string& text) -> Result<void> {
                    FOREBAY_TRY(const uint64_t rank, parse_count(text));
                    if (rank > UINT32_MAX) return fail(ErrorKind::invalid_argument, "no rank is so large");
                    rank_ = static_cast<uint32_t>(rank);
                    return {};
                  });
    syntax.option("-b,--box", "RANGES",
                  "Only these indices: FIRST:END for each dimension, separated by commas, as in NumPy; END is not "
                  "included, ':' takes a dimension whole. Default: all of the variable.",
                  set_box(box_));
    syntax.option("-t,--to", "PATH", "FILE.npy, a directory, or - for standard output. Default: the current directory.",
                  set_text(to_));
    syntax.flag("--overwrite", overwrite_, "Replace files that Forebay made and nobody has changed since.");
    declare_memory(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {2, 2, {"NAME", "VARIABLE"}}));
    if (to_ == "-" && console.json) return fail(ErrorKind::invalid_argument, "--json and '--to -' exclude each other");
    FOREBAY_CHECK(check_target());
    FOREBAY_TRY(const auto store, store::Store::open(operands.store));
    FOREBAY_TRY(const auto info, find_set(store, operands.own[0], series_));
    engine::Resources resources = resources_.resolved();
    FOREBAY_TRY(resources.memory_bytes, engine::buffer_bytes(resources.memory_bytes));
    FOREBAY_TRY(const auto found, engine::find_in_set(info, operands.own[1], rank_, resources));
    if (found.empty()) return none_found(info, operands.own[1], resources);
    if (to_one_file() && found.size() > 1)
      return fail(ErrorKind::invalid_argument, fmt::format("{} variables match, and one file is given", found.size()),
                  {}, {}, "choose one with --rank or its whole path, or give a directory with --to");
    return write_all(info, found, resources.memory_bytes, console);
  }

 private:
  Result<ExitCode> none_found(const store::SetInfo& info, const std::string& name,
                              const engine::Resources& resources) const {
    Error error{.kind = ErrorKind::not_found,
                .what = fmt::format("set {} has no variable '{}'{}", info.name, name,
                                    rank_ ? fmt::format(" of rank {}", *rank_) : ""),
                .path = {},
                .offset = {},
                .hint = "'forebay ls STORE NAME --variables' lists them"};
    FOREBAY_TRY(const auto all, engine::find_in_set(info, "*", std::nullopt, resources));
    return std::unexpected(all.empty() ? with_reason(std::move(error), info, resources_) : std::move(error));
  }

  // A new directory whose name looks like that of a file is one by mistake.
  Result<void> check_target() const {
    const std::string name = to_.substr(to_.rfind('/') + 1);
    if (to_one_file() || is_directory(to_) || name.find('.', 1) == name.npos) return {};
    return fail(ErrorKind::invalid_argument, "is no directory that is there, and does not end in .npy", to_, {},
                "files that are written end in .npy; put a '/' at the end to make a directory of that name");
  }

  bool to_one_file() const { return to_ == "-" || (to_.ends_with(".npy") && !is_directory(to_)); }

  // `found` lies in the only container of `one`. Variables come rank by rank, and names of other ranks' begin
  // otherwise.
  Target target_of(const engine::OpenSet& one, const engine::Found& found) {
    const Catalogue& catalogue = one.containers[found.container].catalogue();
    const FileRow& file = catalogue.files[found.file];
    Target target{found, file.rank, file.name, catalogue.paths[catalogue.variables[found.variable].path], to_};
    if (to_one_file()) return target;
    if (last_rank_ != target.rank) names_.clear();
    last_rank_ = target.rank;
    const std::string stem = fmt::format("rank{:04}_{}", target.rank, as_file_name(target.path));
    std::string name = stem;
    for (size_t i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}-{}", stem, i);
    target.to = (to_.empty() ? "." : to_) + "/" + name + ".npy";
    return target;
  }

  // Opens each container once, unless variables of several ranks lie by turns in several of them.
  Result<ExitCode> write_all(const store::SetInfo& info, std::span<const engine::Found> found, uint64_t memory_bytes,
                             const Console& console) {
    if (!to_one_file()) FOREBAY_CHECK(store::make_directory(to_.empty() ? "." : to_, "give another directory"));
    Json list = Json::array();
    const engine::ContainerOpener opener(info, memory_bytes);
    while (!found.empty()) {
      const size_t number = found.front().container;
      const auto end = std::ranges::find_if(found, [&](const auto& other) { return other.container != number; });
      const auto here = found.first(static_cast<size_t>(end - found.begin()));
      FOREBAY_TRY(auto container, opener.open(number, opener.memory_bytes()));
      memory_bytes_ = opener.memory_bytes() - std::min(opener.memory_bytes(), engine::standing_memory(container));
      engine::OpenSet one;
      one.containers.push_back(std::move(container));
      FOREBAY_CHECK(write_of(one, here, console, list));
      found = found.subspan(here.size());
    }
    if (console.json) print_json({{"set", json_text(info.name)}, {"variables", std::move(list)}});
    return ExitCode::ok;
  }

  Result<void> write_of(const engine::OpenSet& one, std::span<const engine::Found> found, const Console& console,
                        Json& list) {
    engine::SetReader reader(one, memory_bytes_);
    for (const engine::Found& there : found) {
      const Target target = target_of(one, {0, there.file, there.variable});
      FOREBAY_TRY(const Written written, write(reader, target));
      if (to_ == "-") continue;
      if (console.json)
        list.push_back(json_target(target, written));
      else
        fmt::print("{}: {} of {}, {} {}, {}\n", printable(target.to), printable(target.path),
                   printable(target.file_name), written.type.name(),
                   written.shape.empty() ? "scalar" : fmt::format("{}", fmt::join(written.shape, "x")),
                   written.frames > 0 ? plural(written.frames, "frame") + " read" : "of frames that were read before");
    }
    return {};
  }

  // Reads what is wanted of one match, and writes it while it is read.
  Result<Written> write(engine::SetReader& reader, const Target& target) {
    engine::ArrayFacts facts = engine::facts_of(reader->set(), target.found);
    const bool reversed = order_of(reader, target);
    if (reversed) std::ranges::reverse(facts.shape);
    FOREBAY_TRY(engine::Box box, wanted_of(target, facts.shape));
    Written written{.type = facts.type, .shape = box.count, .begin = box.begin};
    const std::string header = format::npy_header(format::npy_descr(facts.type), box.count, reversed);
    if (reversed) {  // from here on as it is stored
      std::ranges::reverse(box.begin);
      std::ranges::reverse(box.count);
    }
    if (to_ == "-") {
      bool begun = false;  // nothing is printed if the first bytes cannot be read
      const auto print = [&](std::span<const std::byte> bytes) -> Result<void> {
        if (!std::exchange(begun, true)) FOREBAY_CHECK(print_bytes(as_bytes(header)));
        return print_bytes(bytes);
      };
      FOREBAY_TRY(written.frames, engine::extract(reader, target.found, box, memory_bytes_, print));
      return written;
    }
    FOREBAY_TRY(NewFile file, NewFile::create(target.to, overwrite_));
    FOREBAY_CHECK(file.write(as_bytes(header)));
    const auto append = [&](std::span<const std::byte> bytes) -> Result<void> {
      written.bytes += bytes.size();
      return file.write(bytes);
    };
    FOREBAY_TRY(written.frames, engine::extract(reader, target.found, box, memory_bytes_, append));
    FOREBAY_CHECK(file.commit());
    return written;
  }

  // Whether it is in Fortran order. Where the header that says it is lost, it is as the catalogue has it.
  static bool order_of(const engine::SetReader& reader, const Target& target) {
    const auto known =
        engine::is_reversed(reader->set().containers[target.found.container].catalogue(), target.found.file,
                            target.found.variable, [&](uint64_t begin, std::span<std::byte> out) -> Result<void> {
                              FOREBAY_CHECK(reader->read_file(target.found.container, target.found.file, begin, out));
                              return {};
                            });
    if (!known)
      warn(fmt::format("{} of {}: its header cannot be read, and it is taken to be in C's order: {}", target.path,
                       target.file_name, known.error().message()));
    return known.value_or(false);
  }

  Result<engine::Box> wanted_of(const Target& target, const Shape& shape) const {
    if (!box_) return engine::whole_box(shape);
    auto box = dense_box_in(*box_, shape);
    if (!box) box.error().what = fmt::format("{} of {}: {}", target.path, target.file_name, box.error().what);
    return box;
  }

  static Result<void> print_bytes(std::span<const std::byte> bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return {};
    return fail_errno(errno, "write", "standard output");
  }

  Json json_target(const Target& target, const Written& written) const {
    return {{"name", json_text(target.path)},
            {"file", json_text(target.file_name)},
            {"rank", target.rank},
            {"type", written.type.name()},
            {"shape", written.shape},
            {"raw_bytes", written.bytes},
            {"frame_count", written.frames},
            {"to", json_text(target.to)},
            {"begin", box_ ? Json(written.begin) : Json()}};
  }

  std::vector<std::string> operands_;
  std::string store_, series_, to_;
  std::optional<uint32_t> rank_;
  std::optional<std::vector<IndexRange>> box_;
  bool overwrite_ = false;
  engine::Resources resources_;

  uint64_t memory_bytes_ = 0;    // that the open container leaves
  std::set<std::string> names_;  // of files that were written for last_rank_
  std::optional<uint32_t> last_rank_;
};

}  // namespace

std::unique_ptr<Verb> make_extract() { return std::make_unique<Extract>(); }

}  // namespace forebay::cli
