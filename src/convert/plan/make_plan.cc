#include "convert/plan/make_plan.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "convert/plan/attributes.h"
#include "convert/plan/chunks.h"
#include "convert/plan/coordinates.h"
#include "convert/plan/dimensions.h"
#include "convert/plan/fill.h"
#include "convert/plan/paths.h"
#include "convert/plan/seen.h"
#include "convert/plan/wanted.h"

namespace forebay::convert {
namespace {

constexpr size_t kMostDatasets = size_t{1} << 20;

class Planner {
 public:
  Planner(const Wish& wish, const Abilities& abilities) : wish_(wish), abilities_(abilities), wanted_(wish) {}

  Result<Plan> plan(const view::Run& run) {
    for (const uint64_t number : wish_.steps) {
      FOREBAY_TRY(const auto step, run.step(number));
      FOREBAY_CHECK(look_at(*step));
    }
    FOREBAY_CHECK(wanted_.check(run));
    FOREBAY_CHECK(wanted_.check_parts());
    FOREBAY_CHECK(check_types());
    for (const auto& [name, seen] : seen_) FOREBAY_CHECK(add(run, name, seen));
    if (plan_.datasets.empty())
      return fail(ErrorKind::not_found, "there is no array to convert", run.path(), {}, "'forebay read' lists them");
    leave_out_empty();
    name_dimensions();
    if (abilities_.is_chunked)
      for (Dataset& dataset : plan_.datasets)  // what has values already is one piece
        dataset.chunk = dataset.values.empty() ? chunk_of(dataset, wish_.chunk) : dataset.shape;
    std::ranges::stable_sort(plan_.datasets, {}, &Dataset::path);
    attributes_.add_to(plan_, wish_.is_meant);
    add_fill(plan_, wish_.fill);
    return std::move(plan_);
  }

 private:
  Result<void> look_at(const view::Step& step) {
    const uint64_t number = plan_.steps.size();
    plan_.steps.push_back(step.info());
    for (size_t i = 0; i < step.arrays().size(); ++i) {
      const view::Array& array = step.arrays()[i];
      if (!wanted_.matches(array.name)) continue;
      auto seen = see(step, {number, i}, wish_);
      if (!seen) {
        FOREBAY_CHECK(wanted_.without_part(std::move(seen).error()));
        continue;
      }
      plan_.meanings_differ = plan_.meanings_differ || array.meanings_differ;
      if (is_coordinate(array.name, *seen)) seen->counts_from = reference_of(step, array.name);
      seen_[array.name].push_back(*std::move(seen));
    }
    attributes_.look_at(step);
    return {};
  }

  Result<void> check_types() const {
    std::vector<std::string> lacking;
    for (const auto& [name, all] : seen_)
      for (const Seen& seen : all)
        if (!abilities_.holds(seen.type)) {
          lacking.push_back(lacking_text(name, plan_.steps[seen.source.step], seen.type));
          break;
        }
    return convert::check_types(abilities_.target, std::move(lacking));
  }

  std::string group_of(const Seen& seen) const {
    const bool is_single = plan_.steps.size() == 1;
    return is_single ? std::string() : fmt::format("step_{}/", plan_.steps[seen.source.step].number);
  }

  Result<void> add(const view::Run& run, const std::string& name, const std::vector<Seen>& all) {
    const bool stacks = plan_.steps.size() > 1 && !wish_.step_groups && all.size() == plan_.steps.size() &&
                        std::ranges::all_of(all, [&](const Seen& seen) { return seen.stacks_with(all[0]); });
    const std::string joined = stacks ? joined_dimension(all[0]) : std::string();
    bool is_fixed = false;  // the same in all steps, and not to be stacked
    if (stacks && joined.empty() && is_coordinate(name, all[0])) {
      FOREBAY_TRY(is_fixed, is_the_same(run, plan_.steps, all));
    }
    if (is_fixed) return push_whole(blank(name, paths_.take(path_of(name)), all[0]), all[0]);
    if (stacks) {
      Dataset dataset = blank(name, paths_.take(path_of(name)), all[0]);
      dataset.has_steps = true;
      dataset.joins_steps = !joined.empty() && (joined_.empty() || joined_ == joined);
      if (dataset.joins_steps) {
        joined_ = joined;
        dataset.own_dimensions.erase(dataset.own_dimensions.begin());
      }
      dataset.sources.clear();
      for (const Seen& seen : all) dataset.sources.push_back(seen.source);
      return push_whole(std::move(dataset), all[0]);
    }
    if (plan_.steps.size() > 1) ++in_groups_;
    for (const Seen& seen : all) {
      const std::string path = group_of(seen) + path_of(name);
      if (seen.is_equal)
        FOREBAY_CHECK(push_whole(blank(name, paths_.take(path), seen), seen));
      else
        FOREBAY_CHECK(push_each(name, path, seen));
    }
    return {};
  }

  static Dataset blank(const std::string& name, std::string path, const Seen& seen) {
    Dataset dataset{.path = std::move(path), .name = name, .type = seen.type, .form = seen.form};
    dataset.part = seen.part;
    dataset.own_dimensions = seen.dimensions;
    dataset.sources = {seen.source};
    return dataset;
  }

  Result<void> push_whole(Dataset dataset, const Seen& seen) {
    Shape shape = seen.shape;
    if (seen.form != view::Form::global) {
      dataset.has_blocks = seen.blocks > 1;
      if (dataset.has_blocks)
        shape.insert(shape.begin(), seen.blocks);
      else
        dataset.block = 0;
    }
    if (dataset.has_blocks && !is_counting(seen.ranks)) dataset.attributes.push_back(ranks_attribute(seen.ranks));
    if (dataset.joins_steps) shape.erase(shape.begin());
    if (dataset.has_steps) shape.insert(shape.begin(), dataset.sources.size());
    return push(std::move(dataset), std::move(shape));
  }

  // Blocks of different shapes: a dataset for each.
  Result<void> push_each(const std::string& name, const std::string& path, const Seen& seen) {
    std::map<uint32_t, uint64_t> before;
    for (uint64_t block = 0; block < seen.shapes.size(); ++block) {
      const uint32_t rank = seen.ranks[block];
      std::string own = fmt::format("{}/rank_{}", path, rank);
      if (const uint64_t more = before[rank]++; more > 0) own += fmt::format("_{}", more);
      Dataset dataset = blank(name, paths_.take(own), seen);
      dataset.block = block;
      FOREBAY_CHECK(push(std::move(dataset), seen.shapes[block]));
    }
    return {};
  }

  Result<void> push(Dataset dataset, Shape shape) {
    uint64_t bytes = 0;
    const uint64_t elements = element_count(shape);
    if (elements == UINT64_MAX || __builtin_mul_overflow(elements, dataset.type.bytes(), &bytes) ||
        __builtin_add_overflow(plan_.bytes, bytes, &plan_.bytes) || plan_.bytes > INT64_MAX)
      return fail(ErrorKind::limit, fmt::format("what is wanted has 2^63 bytes or more, with '{}'", dataset.name));
    if (plan_.datasets.size() >= kMostDatasets)
      return fail(ErrorKind::limit, fmt::format("there would be more than {} datasets", kMostDatasets), {}, {},
                  "convert fewer steps or arrays at a time");
    dataset.shape = std::move(shape);
    plan_.datasets.push_back(std::move(dataset));
    return {};
  }

  static bool is_counting(const std::vector<uint32_t>& ranks) {
    for (size_t i = 0; i < ranks.size(); ++i)
      if (ranks[i] != i) return false;
    return true;
  }

  static view::Attribute ranks_attribute(const std::vector<uint32_t>& ranks) {
    view::Attribute attribute{
        .name = "ranks", .type = view::element_type(io::ValueType::uint32), .count = ranks.size()};
    const auto bytes = std::as_bytes(std::span(ranks));
    attribute.value.assign(bytes.begin(), bytes.end());
    return attribute;
  }

  void leave_out_empty() {
    if (abilities_.holds_empty) return;
    const size_t left_out = std::erase_if(plan_.datasets, [](const Dataset& d) { return d.bytes() == 0; });
    if (left_out > 0)
      plan_.remarks.push_back(
          fmt::format("{} arrays without elements are left out, which {} cannot hold", left_out, abilities_.target));
  }

  // Every dimension gets a name, and that of steps its values.
  void name_dimensions() {
    if (in_groups_ > 0 && !wish_.step_groups)
      plan_.remarks.push_back(fmt::format(
          "{} arrays differ from step to step in their shapes, or some steps lack them: they lie in a group "
          "for each step",
          in_groups_));
    DimensionNames names(paths_);
    const std::string kind = kind_of_steps();
    bool has_times = false;  // whether an array of the run has the values of that dimension
    for (const Dataset& dataset : plan_.datasets) {
      if (dataset.shape.size() != 1) continue;
      const bool is_of_steps = dataset.has_steps && dataset.path == kind;
      const bool is_own = !dataset.has_steps && dataset.own_dimensions == std::vector{dataset.path};
      has_times = has_times || is_of_steps;
      if (is_of_steps || is_own) names.adopt(dataset.path, dataset.shape[0]);
    }
    std::string time;
    for (Dataset& dataset : plan_.datasets) {
      const size_t leading = (dataset.has_steps ? 1 : 0) + (dataset.has_blocks ? 1 : 0);
      const bool is_text = dataset.type.value == io::ValueType::string;
      if (dataset.has_steps) dataset.dimensions.push_back(time = names.of(kind, plan_.steps.size()));
      if (dataset.has_blocks) dataset.dimensions.push_back(names.of("rank", dataset.shape[leading - 1]));
      for (size_t d = leading; d < dataset.shape.size(); ++d) {
        const bool is_named =
            d - leading < dataset.own_dimensions.size() && !dataset.own_dimensions[d - leading].empty();
        std::string own =
            is_named ? path_of(dataset.own_dimensions[d - leading]) : axis_name(dataset.shape.size() - 1 - d);
        std::ranges::replace(own, '/', '_');
        dataset.dimensions.push_back(names.of(is_text ? "characters" : own, dataset.shape[d]));
      }
    }
    if (!time.empty() && !has_times) add_times(time);
  }

  // What the dimension of steps is called: as the dimension of time that they are joined along, or else "time", if no
  // array has another dimension of that name.
  std::string kind_of_steps() const {
    if (!joined_.empty()) return joined_;
    const auto has_time = [](const Dataset& dataset) {
      return std::ranges::find(dataset.own_dimensions, "time") != dataset.own_dimensions.end();
    };
    return std::ranges::any_of(plan_.datasets, has_time) ? "step" : "time";
  }

  // The times of the simulation where all steps have one, else the numbers that the program gave, else our own.
  void add_times(const std::string& path) {
    const auto all_have = [&](auto member) {
      return std::ranges::all_of(plan_.steps, [&](const view::StepInfo& info) { return (info.*member).has_value(); });
    };
    Dataset dataset{.path = path, .name = path, .shape = {plan_.steps.size()}, .dimensions = {path}};
    const bool has_times = all_have(&view::StepInfo::time), has_steps = all_have(&view::StepInfo::step);
    dataset.type = view::element_type(has_times ? io::ValueType::float64 : io::ValueType::int64);
    for (const view::StepInfo& info : plan_.steps) {
      const double time = info.time.value_or(0);
      const int64_t step = has_steps ? *info.step : static_cast<int64_t>(info.number);
      const auto bytes = has_times ? std::as_bytes(std::span(&time, 1)) : std::as_bytes(std::span(&step, 1));
      dataset.values.insert(dataset.values.end(), bytes.begin(), bytes.end());
    }
    plan_.bytes += dataset.values.size();
    plan_.datasets.push_back(std::move(dataset));
  }

  const Wish& wish_;
  const Abilities& abilities_;
  Wanted wanted_;
  Plan plan_;
  Paths paths_;
  AttributeGathering attributes_;
  std::map<std::string, std::vector<Seen>> seen_;
  std::string joined_;    // joined_dimension() of the arrays that have one
  size_t in_groups_ = 0;  // arrays that could not be stacked
};

}  // namespace

Result<Plan> make_plan(const view::Run& run, const Wish& wish, const Abilities& abilities) {
  return Planner(wish, abilities).plan(run);
}

}  // namespace forebay::convert
