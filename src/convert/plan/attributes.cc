#include "convert/plan/attributes.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <set>

#include <fmt/format.h>

#include "convert/plan/paths.h"
#include "format/meaning.h"

namespace forebay::convert {
namespace {

constexpr size_t kMostElsewhere = 256;  // attributes of what the target does not have

// What HDF5's dimension scales and netCDF-4 keep in attributes of a file: true of that file alone, whose dimensions and
// references they tell of. In a target they would contradict its own.
constexpr std::array<std::string_view, 7> kOfTheFormat = {"DIMENSION_LIST", "REFERENCE_LIST",      "DIMENSION_LABELS",
                                                          "_Netcdf4Dimid",  "_Netcdf4Coordinates", "_NCProperties",
                                                          "_nc3_strict"};
constexpr std::string_view kScaleClass = "CLASS", kScaleName = "NAME", kScale = "DIMENSION_SCALE";

bool is_same_value(const view::Attribute& a, const view::Attribute& b) {
  return a.type == b.type && a.count == b.count && a.value == b.value && a.variable == b.variable;
}

// Where two have one name, the earlier one gets '_' behind it.
void make_names_differ(std::vector<view::Attribute>& attributes) {
  std::set<std::string> names;
  for (view::Attribute& attribute : attributes | std::views::reverse)
    while (!names.insert(attribute.name).second) attribute.name += '_';
}

// The objects of a plan that can have attributes.
class Objects {
 public:
  explicit Objects(Plan& plan) : plan_(plan) {
    for (size_t i = 0; i < plan.datasets.size(); ++i) {
      const Dataset& dataset = plan.datasets[i];
      if (!dataset.sources.empty()) datasets_.emplace(path_of(dataset.name), i);
      for (size_t slash = 0; (slash = dataset.path.find('/', slash)) != std::string::npos; ++slash)
        groups_.try_emplace(dataset.path.substr(0, slash));
    }
  }
  ~Objects() {
    for (Dataset& dataset : plan_.datasets) make_names_differ(dataset.attributes);
    for (auto& [path, attributes] : groups_) {
      make_names_differ(attributes);
      if (!attributes.empty()) plan_.groups.push_back({path, std::move(attributes)});
    }
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  auto datasets_of(const std::string& owner) {
    const auto [first, last] = datasets_.equal_range(owner);
    return std::ranges::subrange(first, last);
  }
  bool has_group(const std::string& path) const { return path.empty() || groups_.contains(path); }
  void add_to_group(const std::string& path, view::Attribute attribute) {
    groups_[path].push_back(std::move(attribute));
  }

 private:
  Plan& plan_;
  std::multimap<std::string, size_t> datasets_;  // by what attributes call the array
  std::map<std::string, std::vector<view::Attribute>> groups_;
};

view::Attribute named(const view::Attribute& attribute, std::string name) {
  view::Attribute result = attribute;
  result.name = std::move(name);
  return result;
}

}  // namespace

void AttributeGathering::look_at(const view::Step& step) {
  for (const view::Attribute& attribute : step.attributes()) {
    Known& known = known_[attribute.name.substr(attribute.name.starts_with('/') ? 1 : 0)];
    ++known.steps;
    if (known.values.empty() || !is_same_value(known.values.back().second, attribute))
      known.values.emplace_back(steps_, attribute);
  }
  ++steps_;
}

const view::Attribute* AttributeGathering::of_step(const Known& known, uint64_t step) const {
  const auto after = std::ranges::upper_bound(known.values, step, {}, [](const auto& value) { return value.first; });
  return after == known.values.begin() ? nullptr : &std::prev(after)->second;
}

const view::Attribute* AttributeGathering::of_all(const Known& known) const {
  return known.values.size() == 1 && known.steps == steps_ ? &known.values[0].second : nullptr;
}

bool AttributeGathering::is_of_the_format(std::string_view owner, std::string_view name) const {
  if (std::ranges::find(kOfTheFormat, name) != kOfTheFormat.end()) return true;
  if (name != kScaleClass && name != kScaleName) return false;
  const auto known = known_.find(fmt::format("{}{}{}", owner, owner.empty() ? "" : "/", kScaleClass));
  if (known == known_.end()) return false;
  const std::string_view text = as_text(known->second.values[0].second.value);
  return text.substr(0, text.find('\0')) == kScale;
}

void AttributeGathering::add_to(Plan& plan, bool is_meant) const {
  uint64_t of_variables = 0, of_the_format = 0, disagreeing = 0, elsewhere = 0;
  Objects objects(plan);
  for (const auto& [full, known] : known_) {
    if (!known.values[0].second.variable.empty()) {
      ++of_variables;
      continue;
    }
    const size_t slash = full.rfind('/');
    const std::string described = slash == std::string::npos ? "" : full.substr(0, slash);
    std::string owner = described.empty() ? "" : path_of(described);
    std::string name = full.substr(slash == std::string::npos ? 0 : slash + 1);
    if (is_of_the_format(described, name)) {
      ++of_the_format;
      continue;
    }
    name = path_of(name);
    const view::Attribute* all = of_all(known);
    const auto datasets = objects.datasets_of(owner);
    const bool is_of_meaning = !datasets.empty() && format::says_what_values_mean(name);
    if (is_of_meaning && is_meant) continue;
    for (const auto& [_, i] : datasets) {
      Dataset& dataset = plan.datasets[i];
      const auto* value = dataset.has_steps ? all : of_step(known, dataset.sources[0].step);
      if (value != nullptr)
        dataset.attributes.push_back(named(*value, name));
      else
        ++disagreeing;
      plan.meanings_differ = plan.meanings_differ || (is_of_meaning && value == nullptr);
    }
    if (!datasets.empty()) continue;
    bool has_place = false;
    for (uint64_t step = 0; all == nullptr && step < steps_; ++step) {
      std::string group = fmt::format("step_{}", plan.steps[step].number);
      if (!owner.empty()) group += "/" + owner;
      const auto* value = of_step(known, step);
      if (value == nullptr || !objects.has_group(group)) continue;
      objects.add_to_group(group, named(*value, name));
      has_place = true;
    }
    if (all == nullptr) {
      disagreeing += has_place ? 0 : 1;
      continue;
    }
    if (!objects.has_group(owner)) {
      if (elsewhere++ >= kMostElsewhere) continue;
      name = owner + "/" + name;
      std::ranges::replace(name, '/', '.');
      owner.clear();
    }
    objects.add_to_group(owner, named(*all, name));
  }
  const auto remark = [&](uint64_t count, std::string_view why) {
    if (count > 0) plan.remarks.push_back(fmt::format("{} attributes are left out: {}", count, why));
  };
  remark(of_variables, "they have the value of a variable");
  remark(of_the_format, "HDF5 and netCDF keep dimensions in them, and the target has its own");
  remark(disagreeing, "steps disagree about them");
  remark(elsewhere - std::min(elsewhere, kMostElsewhere), "what they describe is not in the target");
}

}  // namespace forebay::convert
