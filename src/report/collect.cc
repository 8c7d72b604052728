#include "report/collect.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <ranges>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/inspect/relation_text.h"
#include "engine/set/set.h"
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

// Every n-th of `count` numbers, the last one among them, so that there are at most `most`.
std::vector<size_t> thinned(size_t count, size_t most) {
  std::vector<size_t> kept;
  const size_t every = most == 0 ? 1 : (count + most - 1) / most;
  for (size_t i = count; i > 0; i -= std::min(i, std::max<size_t>(every, 1))) kept.push_back(i - 1);
  std::ranges::reverse(kept);
  return kept;
}

std::string shape_text(const view::Array& array) {
  if (array.form == view::Form::scalar) return "scalar";
  if (array.form == view::Form::local && array.blocks != 1) return fmt::format("{} blocks", array.blocks);
  return fmt::format("{}", fmt::join(array.shape, "x"));
}

class VariableTable {
 public:
  explicit VariableTable(size_t most) : most_(most) {}

  void add(const view::Step& step, size_t set) {
    for (const view::Array& array : step.arrays()) {
      const auto& known = array.characteristics;
      if (!known || !array.type.data.is_number()) continue;
      const auto [at, is_new] = variables_.try_emplace(array.name);
      if (is_new && variables_.size() > most_) {
        variables_.erase(std::prev(variables_.end()));  // names that come first are kept
        ++left_out_;
        if (!variables_.contains(array.name)) continue;
      }
      Variable& variable = variables_[array.name];
      variable.name = array.name;
      variable.type = view::to_string(array.type);
      variable.shape = shape_text(array);
      const auto count = static_cast<double>(known->count);
      variable.values.push_back({set, known->count, known->nans, known->infinities, known->min, known->max,
                                 known->count > 0 ? known->sum / count : 0});
    }
  }

  // Whether values of a variable that were all finite in the set before became others in this one, of those that were
  // added.
  bool appeared(size_t before, size_t set) const {
    return std::ranges::any_of(variables_, [&](const auto& entry) {
      const auto others_in = [&](size_t wanted) {
        const auto at = std::ranges::find(entry.second.values, wanted, &Values::set);
        return at != entry.second.values.end() && at->nans + at->infinities > 0;
      };
      return others_in(set) && !others_in(before);
    });
  }

  void finish(Report& report) {
    for (auto& [name, variable] : variables_) {
      std::ranges::sort(variable.values, {}, &Values::set);
      report.variables.push_back(std::move(variable));
    }
    if (left_out_ > 0)
      report.notes.push_back(fmt::format("Only {} variables are shown, those whose names come first.", most_));
  }

 private:
  const size_t most_;
  std::map<std::string, Variable> variables_;
  size_t left_out_ = 0;
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
  VariableTable variables(limits.variables);
  const auto add = [&](size_t number) -> Result<void> {
    const auto place = places.find(steps[number].set);
    if (place == places.end()) return {};
    const auto step = run->step(number);
    // A layout that does not go with the set is no damage.
    if (!step && step.error().kind == ErrorKind::invalid_argument) return std::unexpected(step.error());
    if (step)
      variables.add(**step, place->second);
    else if (SetLine& line = report.sets[place->second]; line.problem.empty())
      line.problem = step.error().message();
    return {};
  };
  const std::vector<size_t> kept = thinned(steps.size(), limits.steps);
  if (kept.size() < steps.size())
    report.notes.push_back(fmt::format(
        "Values are shown of {} of {} steps, evenly chosen, the last one included, and of those before a NaN "
        "or an infinity that appears.",
        kept.size(), steps.size()));
  for (const size_t number : kept) FOREBAY_CHECK(add(number));
  for (size_t i = 1; i < kept.size(); ++i) {
    const auto before = places.find(steps[kept[i - 1]].set), after = places.find(steps[kept[i]].set);
    if (before == places.end() || after == places.end() || !variables.appeared(before->second, after->second)) continue;
    for (size_t between = kept[i - 1] + 1; between < kept[i]; ++between) FOREBAY_CHECK(add(between));
  }
  variables.finish(report);
  FOREBAY_TRY(const uint64_t memory, engine::buffer_bytes(options.resources.resolved().memory_bytes));
  constexpr uint64_t kIndexShare = 4;
  add_relations(sets, memory / kIndexShare, report);
  return report;
}

}  // namespace forebay::report
