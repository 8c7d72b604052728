#include "report/collect.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <ranges>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/inspect/relation_text.h"
#include "engine/inspect/unread.h"
#include "engine/set/set.h"
#include "report/thin.h"
#include "store/series.h"
#include "store/store.h"

namespace forebay::report {
namespace {

SetLine line_of(const store::SetInfo& set) {
  SetLine line{.name = set.name};
  if (!set.manifest) {
    line.problem = set.manifest.error().message();
    line.is_readable = false;
    return line;
  }
  const store::Manifest& manifest = *set.manifest;
  line.step = manifest.step;
  line.created_ns = manifest.created_ns;
  line.raw_bytes = manifest.raw_bytes();
  line.stored_bytes = manifest.bytes();
  line.files = manifest.files();
  line.ranks = manifest.ranks;
  line.parents = manifest.parents.size();
  line.profile = manifest.profile;
  constexpr double kNanosecond = 1e-9;
  for (const store::StageTime& stage : manifest.stages)
    line.stages.push_back({stage.stage, static_cast<double>(stage.clock_ns) * kNanosecond,
                           static_cast<double>(stage.cpu_ns) * kNanosecond});
  std::vector<std::string> problems;
  if (set.refused) problems.push_back("set aside: " + *set.refused);
  if (!manifest.lost_containers.empty())
    problems.push_back(fmt::format("{} containers were lost before it was repaired", manifest.lost_containers.size()));
  if (manifest.damaged_files > 0) problems.push_back(fmt::format("{} files lack bytes", manifest.damaged_files));
  for (const store::ContainerEntry& container : manifest.containers) {
    const auto source = set.files.open(container.name);
    if (!source)
      problems.push_back(source.error().message());
    else if ((*source)->size() != container.bytes)
      problems.push_back(fmt::format("{} has another size than the manifest says", container.name));
  }
  line.problem = fmt::format("{}", fmt::join(problems, "; "));
  return line;
}

std::string shape_text(const view::Array& array) {
  if (array.form == view::Form::scalar) return "scalar";
  if (array.form == view::Form::local && array.blocks != 1) return fmt::format("{} blocks", array.blocks);
  return fmt::format("{}", fmt::join(array.shape, "x"));
}

// The variables of sets that are added in their order.
class VariableTable {
 public:
  explicit VariableTable(const Limits& limits) : limits_(limits) {}

  void add(const view::Step& step, size_t set) {
    for (const view::Array& array : step.arrays()) {
      const auto& known = array.characteristics;
      if (!known || !array.type.data.is_number()) continue;
      const auto count = static_cast<double>(known->count);
      const Values values{set,
                          known->count,
                          known->nans,
                          known->infinities,
                          known->min,
                          known->max,
                          known->count > 0 ? known->sum / count : 0};
      watch(array.name, values);
      const auto [at, is_new] = variables_.try_emplace(array.name);
      if (is_new && variables_.size() > limits_.variables && !make_room(array.name)) continue;
      Variable& variable = variables_[array.name];
      variable.name = array.name;
      variable.type = view::to_string(array.type);
      variable.shape = shape_text(array);
      variable.values.push_back(values);
    }
  }

  void finish(Report& report) {
    bool is_thinned = false;
    for (auto& [name, variable] : variables_) {
      is_thinned = is_thinned || variable.values.size() > limits_.steps;
      variable.values = thinned(std::move(variable.values), limits_.steps);
      report.variables.push_back(std::move(variable));
    }
    const auto is_calm = [&](const Variable& variable) { return !leapt_.contains(variable.name); };
    std::ranges::stable_sort(report.variables, {}, is_calm);
    report.leaps = std::move(leaps_);
    if (is_thinned)
      report.notes.push_back(
          fmt::format("Of variables with more than {} steps some are shown: the first and the last one, those with the "
                      "smallest and "
                      "the largest value of each stretch, and those where a NaN or an infinity appears.",
                      limits_.steps));
    if (left_out_)
      report.notes.push_back(
          fmt::format("Only {} variables are shown, those whose names come first. Leaps are looked for in all.",
                      limits_.variables));
  }

 private:
  static constexpr size_t kMostWatched = size_t{1} << 17, kMostLeaps = 200;

  // Notes it if the variable leaps in this set.
  void watch(const std::string& name, const Values& values) {
    auto at = watches_.find(name);
    if (at == watches_.end()) {
      if (watches_.size() >= kMostWatched) return;
      at = watches_.emplace(name, Watch()).first;
    }
    auto leap = at->second.add(values);
    if (!leap || leaps_.size() >= kMostLeaps) return;
    leap->variable = name;
    leaps_.push_back(*std::move(leap));
    leapt_.insert(name);
  }

  // Leaves out one variable: the last name of those that have not leapt, or of all if all have. False if it is this
  // one.
  bool make_room(const std::string& name) {
    left_out_ = true;
    auto last = std::prev(variables_.end());
    while (last != variables_.begin() && leapt_.contains(last->first)) --last;
    if (leapt_.contains(last->first)) last = std::prev(variables_.end());
    const bool is_this_one = last->first == name;
    variables_.erase(last);
    return !is_this_one;
  }

  const Limits limits_;
  std::map<std::string, Variable> variables_;
  std::map<std::string, Watch, std::less<>> watches_;
  std::vector<Leap> leaps_;
  std::set<std::string> leapt_;
  bool left_out_ = false;
};

// Of the newest set that can be opened: one for each variable that has one, in its containers.
void add_relations(std::span<const store::SetInfo> sets, uint64_t index_bytes, Report& report) {
  for (const store::SetInfo& set : sets | std::views::reverse) {
    if (!set.manifest) continue;
    const auto open = engine::open_set(set, index_bytes);
    if (!open) continue;
    std::map<std::string, engine::NamedRelation> known;
    for (const engine::OpenContainer& container : open->containers)
      for (engine::NamedRelation& relation : engine::relations_of(container))
        known.try_emplace(relation.target, std::move(relation));
    std::vector<engine::NamedRelation> all;
    for (auto& [target, relation] : known) all.push_back(std::move(relation));
    const std::vector<std::string> texts = engine::relation_texts(all);
    for (size_t i = 0; i < all.size(); ++i)
      report.relations.push_back({texts[i], engine::kind_text(all[i].relation.kind), all[i].bits_per_element});
    report.related_set = set.name;
    return;
  }
}

// Of the newest set that can be opened: why no variable is shown.
void add_plain_files(std::span<const store::SetInfo> sets, const engine::Resources& resources, Report& report) {
  for (const store::SetInfo& set : sets | std::views::reverse) {
    if (!set.manifest) continue;
    const auto found = engine::unread_files(set, resources);
    if (!found) continue;
    report.plain_set = set.name;
    for (const engine::UnreadFiles& kind : *found)
      report.plain_files.push_back({kind.format, kind.looks, kind.example, kind.files, kind.bytes});
    return;
  }
}

}  // namespace

Result<Report> collect(const std::string& path, const view::RunOptions& options, const Limits& limits) {
  FOREBAY_TRY(const store::Store store, store::Store::open(path));
  FOREBAY_TRY(std::vector<store::SetInfo> sets, store.list());
  Report report{.store = path, .series = options.series};
  report.made_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  FOREBAY_TRY(const auto run, view::open_run(path, options));
  const std::vector<view::StepInfo> steps = run->steps();
  std::set<std::string_view> of_steps;
  for (const view::StepInfo& step : steps) of_steps.insert(step.set);
  std::erase_if(sets, [&](const store::SetInfo& set) {
    return !of_steps.contains(set.name) && set.manifest.has_value();  // of another series
  });
  if (sets.size() > limits.sets) {
    report.notes.push_back(fmt::format("Only the newest {} of {} sets are shown.", limits.sets, sets.size()));
    sets.erase(sets.begin(), sets.end() - static_cast<ptrdiff_t>(limits.sets));
  }
  std::map<std::string, size_t> places;
  for (const store::SetInfo& set : sets) {
    places[set.name] = report.sets.size();
    report.sets.push_back(line_of(set));
  }
  VariableTable variables(limits);
  for (const view::StepInfo& info : steps) {
    const auto place = places.find(info.set);
    if (place == places.end()) continue;
    const auto step = run->step(info.number);
    // A layout that does not go with the set is no damage.
    if (!step && step.error().kind == ErrorKind::invalid_argument) return std::unexpected(step.error());
    if (step)
      variables.add(**step, place->second);
    else if (SetLine& line = report.sets[place->second]; line.problem.empty())
      line.problem = step.error().message();
  }
  variables.finish(report);
  engine::Resources resources = options.resources.resolved();
  FOREBAY_TRY(const uint64_t memory, engine::buffer_bytes(resources.memory_bytes));
  resources.memory_bytes = memory;
  if (report.variables.empty()) add_plain_files(sets, resources, report);
  constexpr uint64_t kIndexShare = 4;
  add_relations(sets, memory / kIndexShare, report);
  return report;
}

}  // namespace forebay::report
