// What the command's verbs do with whole sets.
#include <optional>
#include <string>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "engine/inspect/diff.h"
#include "engine/inspect/prune.h"
#include "engine/inspect/verify.h"
#include "engine/pack/pack.h"
#include "engine/restore/restore.h"
#include "python/errors.h"
#include "python/module.h"
#include "store/series.h"

namespace nb = nanobind;

namespace forebay::python {
namespace {

// Calls `progress(done, total)` with the interpreter's lock. An exception of it is raised when the work is done, since
// what is half packed is worth nothing.
class Progress {
 public:
  explicit Progress(nb::object call) : call_(std::move(call)) {}

  engine::ProgressFn function() {
    if (call_.is_none()) return {};
    return [this](const engine::Progress& now) {
      const nb::gil_scoped_acquire lock;
      if (error_) return;
      try {
        call_(now.done_bytes, now.total_bytes);
      } catch (nb::python_error& error) {
        error_.emplace(std::move(error));
      }
    };
  }
  void raise_again() {
    if (error_) throw nb::python_error(std::move(*error_));
  }

 private:
  nb::object call_;
  std::optional<nb::python_error> error_;
};

engine::Resources resources(uint64_t memory_bytes, unsigned threads, Progress& progress) {
  return {.memory_bytes = memory_bytes, .threads = threads, .progress = progress.function()};
}

nb::dict pack(const std::vector<std::string>& sources, const std::string& store, const std::string& name,
              const nb::object& step, const std::string& series, const std::string& profile, const std::string& parent,
              uint64_t group_size, uint64_t memory_bytes, unsigned threads, nb::object progress) {
  Progress reports(std::move(progress));
  engine::PackOptions options;
  options.sources = sources;
  options.store = store;
  options.name = name;
  if (!step.is_none()) options.step = nb::cast<int64_t>(step);
  options.parent = parent;
  options.group_size = group_size;
  options.profile = value_or_raise(codec::Profile::parse(profile));
  options.resources = resources(memory_bytes, threads, reports);
  options.origin.series = series.empty() ? std::string(store::kDefaultSeries) : series;
  value_or_raise(store::check_series_name(options.origin.series));
  engine::SoloTeam team;
  const auto report = unlocked([&] { return engine::pack(options, team); });
  reports.raise_again();
  if (!report) raise(report.error());
  nb::dict all;
  all["name"] = report->name;
  all["step"] = report->step;
  all["ranks"] = report->ranks;
  all["files"] = report->files;
  all["raw_bytes"] = report->raw_bytes;
  all["stored_bytes"] = report->stored_bytes;
  all["containers"] = report->containers;
  all["seconds"] = report->seconds;
  all["remarks"] = report->remarks;
  return all;
}

nb::dict restore(const std::string& store, const std::string& name, const std::string& target,
                 const std::vector<std::string>& only, bool overwrite, const std::string& series, uint64_t memory_bytes,
                 unsigned threads, nb::object progress) {
  Progress reports(std::move(progress));
  engine::RestoreOptions options{.store = store,
                                 .name = name,
                                 .target = target,
                                 .only = only,
                                 .overwrite = overwrite,
                                 .series = series,
                                 .resources = resources(memory_bytes, threads, reports)};
  const auto report = unlocked([&] { return engine::restore(options); });
  reports.raise_again();
  if (!report) raise(report.error());
  nb::dict all;
  all["name"] = report->name;
  all["files"] = report->files;
  all["bytes"] = report->bytes;
  all["seconds"] = report->seconds;
  all["skipped"] = report->skipped;
  return all;
}

nb::dict verify(const std::string& path, const std::string& name, uint64_t memory_bytes, unsigned threads,
                nb::object progress) {
  Progress reports(std::move(progress));
  const auto options = resources(memory_bytes, threads, reports);
  const auto report = unlocked([&]() -> Result<engine::VerifyReport> {
    FOREBAY_TRY(const auto store, store::Store::open(path));
    FOREBAY_TRY(const store::SetInfo set, store.find(name));
    return engine::verify(set, options);
  });
  reports.raise_again();
  if (!report) raise(report.error());
  nb::list damages;
  for (const engine::Damage& one : report->damages) damages.append(one.what);
  nb::dict all;
  all["name"] = report->name;
  all["intact"] = report->intact();
  all["files"] = report->files;
  all["raw_bytes"] = report->raw_bytes;
  all["stored_bytes"] = report->stored_bytes;
  all["damages"] = damages;
  all["seconds"] = report->seconds;
  return all;
}

// (path, elements that differ or None, largest difference or None, elements with NaN, with an infinity)
nb::object difference(const engine::VariableDifference& variable) {
  const engine::ElementDifference& one = variable.difference;
  nb::object elements = nb::none(), most = nb::none();
  if (one.elements != UINT64_MAX) elements = nb::int_(one.elements);
  if (one.measured > 0) most = nb::float_(one.max_absolute);
  return nb::make_tuple(std::string(variable.path), elements, most, one.nans, one.infinities);
}

// (name, its other name or None, what changed, its variables) of each file that differs.
nb::list diff(const std::string& path, const std::string& name, const std::string& other_path,
              const std::string& other_name, uint64_t memory_bytes, unsigned threads) {
  const auto all = value_or_raise(unlocked([&]() -> Result<engine::Differences> {
    FOREBAY_TRY(const auto store, store::Store::open(path));
    FOREBAY_TRY(const auto other, store::Store::open(other_path));
    FOREBAY_TRY(const store::SetInfo one, store.find(name));
    FOREBAY_TRY(const store::SetInfo two, other.find(other_name));
    return engine::diff(one, two,
                        engine::Resources{.memory_bytes = memory_bytes, .threads = threads, .progress = {}}.resolved());
  }));
  nb::list list;
  for (const engine::FileDifference& file : all.files) {
    nb::list variables;
    for (const engine::VariableDifference& variable : file.variables) variables.append(difference(variable));
    nb::object renamed = nb::none();
    if (!file.other_name.empty()) renamed = nb::str(file.other_name.c_str());
    list.append(nb::make_tuple(file.name, renamed, to_string(file.change), variables));
  }
  return list;
}

nb::dict prune(const std::string& path, const std::string& series, uint64_t keep_last, uint64_t keep_every,
               bool dry_run, uint64_t memory_bytes, unsigned threads) {
  const auto pruned = value_or_raise(unlocked([&]() -> Result<engine::Pruned> {
    FOREBAY_TRY(const auto store, store::Store::open(path));
    return engine::prune(store,
                         {.series = series, .retention = {keep_last, keep_every}, .dry_run = dry_run, .verifies = {}},
                         {.memory_bytes = memory_bytes, .threads = threads, .progress = {}});
  }));
  nb::list problems;
  for (const auto* const list : {&pruned.problems, &pruned.refused, &pruned.left})
    for (const engine::SetProblem& one : *list) problems.append(one.name + ": " + one.error.message());
  nb::dict all;
  all["removed"] = pruned.removed;
  all["problems"] = problems;
  return all;
}

// (name, series, step, created in ns, raw bytes, stored bytes, what is wrong or None) of each set, oldest first.
nb::list sets(const std::string& path) {
  const auto all = value_or_raise(unlocked([&]() -> Result<std::vector<store::SetInfo>> {
    FOREBAY_TRY(const auto store, store::Store::open(path));
    return store.list();
  }));
  nb::list list;
  for (const store::SetInfo& set : all) {
    if (!set.manifest) {
      list.append(nb::make_tuple(set.name, nb::none(), nb::none(), nb::none(), nb::none(), nb::none(),
                                 set.manifest.error().message()));
      continue;
    }
    list.append(nb::make_tuple(set.name, set.manifest->origin.series, set.manifest->step, set.manifest->created_ns,
                               set.manifest->raw_bytes(), set.manifest->bytes(), nb::none()));
  }
  return list;
}

}  // namespace

void declare_verbs(nb::module_& module) {
  using namespace nb::literals;
  module.def("pack", &pack, "sources"_a, "store"_a, "name"_a, "step"_a.none(), "series"_a, "profile"_a, "parent"_a,
             "group_size"_a, "memory_bytes"_a, "threads"_a, "progress"_a.none());
  module.def("restore", &restore, "store"_a, "name"_a, "target"_a, "only"_a, "overwrite"_a, "series"_a,
             "memory_bytes"_a, "threads"_a, "progress"_a.none());
  module.def("verify", &verify, "store"_a, "name"_a, "memory_bytes"_a, "threads"_a, "progress"_a.none());
  module.def("diff", &diff);
  module.def("prune", &prune);
  module.def("sets", &sets);
}

}  // namespace forebay::python
