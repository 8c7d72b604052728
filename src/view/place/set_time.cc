#include "view/place/set_time.h"

#include <array>
#include <cmath>

#include "view/place/set_values.h"

namespace forebay::view {
namespace {

constexpr std::array<std::string_view, 4> kTimes = {"/time", "/Time", "/TIME", "/t"};

// Without reading it: of one value, smallest and largest are the value.
std::optional<double> of_variables(const engine::OpenSet& set, const SetFile& file) {
  const container::Index& index = set.containers[file.container].index();
  if (index.characteristics.empty()) return {};
  for (uint32_t i = 0; i < file.row->variable_count; ++i) {
    const uint32_t number = file.row->first_variable + i;
    const VariableRow& variable = index.catalogue.variables[number];
    if (element_count(index.catalogue.shapes[variable.shape]) != 1 || variable.filtered) continue;
    const std::string& path = index.catalogue.paths[variable.path];
    const container::Characteristics& values = index.characteristics[number];
    for (const std::string_view name : kTimes)
      if (path == name && values.count == 1) return values.min;
  }
  return {};
}

std::optional<double> of_attributes(const SetLook& look, const SetFile& file) {
  const auto attributes = look.attributes(file.container, file.file);
  if (!attributes) return {};
  for (const std::string_view name : kTimes)
    if (const auto numbers = reals_of(attributes->find("/", name.substr(1))); numbers && numbers->size() == 1)
      if (std::isfinite(numbers->front())) return numbers->front();
  return {};
}

}  // namespace

std::optional<double> time_of_set(const SetLook& look, std::span<const SetFile> files) {
  for (const SetFile& file : files)
    if (const auto time = of_variables(look.set(), file)) return time;
  for (const SetFile& file : files)
    if (file.row->format == "hdf5" || file.row->format == "netcdf") return of_attributes(look, file);
  return {};
}

}  // namespace forebay::view
