#include "io/method/registry.h"

#include <algorithm>
#include <cctype>
#include <mutex>

#include "base/nearest.h"
#include "io/group/text.h"
#include "io/method/methods.h"
#include "io/method/plugin.h"

namespace forebay::io {
namespace {

bool is_called(const MethodEntry& entry, std::string_view name) {
  return equal_in_any_case(entry.name, name) ||
         std::ranges::any_of(entry.aliases, [&](const std::string& alias) { return equal_in_any_case(alias, name); });
}

std::string upper_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

// What ADIOS 1.13 has and this does not, with what serves in its place.
struct Absent {
  std::string_view name, kind, instead;
};
constexpr std::string_view kInsteadOfStaging =
    "FOREBAY takes steps from memory into a store while the program goes on; MPI and POSIX write files";
constexpr Absent kAbsent[] = {{"DATASPACES", "a staging method", kInsteadOfStaging},
                              {"DART", "a staging method", kInsteadOfStaging},
                              {"DIMES", "a staging method", kInsteadOfStaging},
                              {"FLEXPATH", "a staging method", kInsteadOfStaging},
                              {"ICEE", "a staging method", kInsteadOfStaging},
                              {"MPI_BGQ", "the method for Blue Gene/Q", "use MPI_AGGREGATE"}};

// Nothing, or what is wrong with a parameter that every method has.
std::string fault_of_general(const std::string& name, const Parameters& parameters) {
  Outcome<void> fault;
  if (name == "verbose") {
    if (const auto level = parameters.number(name, 0); !level) fault = std::unexpected(level.error());
  } else if (name != "logfile") {
    if (const auto flag = parameters.flag(name, false); !flag) fault = std::unexpected(flag.error());
  }
  return fault ? std::string() : fault.error().error.message();
}

std::string unknown_parameter(const MethodEntry& entry, const std::string& name) {
  std::vector<std::string> known = entry.parameters;
  known.insert(known.end(), kGeneralParameters.begin(), kGeneralParameters.end());
  return "method " + entry.name + " does not know the parameter \"" + name + "\" (" +
         nearest_hint(name, known, "it is ignored") + ")";
}

// What is said about a choice of a method, with what is known of where it stands.
std::string about(const MethodChoice& choice, std::string_view what) {
  return choice.group.empty() ? std::string(what) : "group '" + choice.group + "': " + std::string(what);
}

std::string about(const MethodChoice& choice, const TextPlace& place, std::string_view what) {
  const std::string where = to_string(place);
  return (where.empty() ? "" : where + ": ") + about(choice, what);
}

std::unexpected<Failure> about(const MethodChoice& choice, const TextPlace& place, Failure failure) {
  Error& error = failure.error;
  if (error.path.empty()) {
    error.what = about(choice, error.what);
    error.path = to_string(place);
  } else if (!place.file.empty()) {  // it names a file of its own
    error.what = about(choice, error.path + ": " + error.what);
    error.path = to_string(place);
  }
  return std::unexpected(std::move(failure));
}

}  // namespace

struct MethodRegistry::State {
  mutable std::mutex mutex;
  std::vector<MethodEntry> entries;
  Finder finder;
};

MethodRegistry::MethodRegistry() : state_(std::make_shared<State>()) {
  for (MethodEntry& entry : own_methods()) state_->entries.push_back(std::move(entry));
  state_->finder = find_plugin;
}

MethodRegistry& MethodRegistry::instance() {
  static MethodRegistry registry;
  return registry;
}

void MethodRegistry::add(MethodEntry entry) {
  const std::lock_guard lock(state_->mutex);
  const auto it = std::ranges::find_if(
      state_->entries, [&](const MethodEntry& known) { return equal_in_any_case(known.name, entry.name); });
  if (it == state_->entries.end()) {
    state_->entries.push_back(std::move(entry));
  } else {
    *it = std::move(entry);
  }
}

void MethodRegistry::set_finder(Finder finder) {
  const std::lock_guard lock(state_->mutex);
  state_->finder = std::move(finder);
}

Outcome<MethodEntry> MethodRegistry::find(const std::string& name) {
  Finder finder;
  std::vector<std::string> candidates;
  {
    const std::lock_guard lock(state_->mutex);
    for (const MethodEntry& entry : state_->entries) {
      if (is_called(entry, name)) return entry;
      candidates.push_back(entry.name);
      candidates.insert(candidates.end(), entry.aliases.begin(), entry.aliases.end());
    }
    finder = state_->finder;
  }
  if (finder) {
    Outcome<MethodEntry> found = finder(name);
    if (found || !found.error().error.path.empty()) return found;  // what is there and cannot be used says why
  }
  for (const Absent& absent : kAbsent)
    if (equal_in_any_case(absent.name, name))
      return refuse(Code::unknown_method,
                    "the method " + upper_case(name) + ", " + std::string(absent.kind) + " of ADIOS, is not in Forebay",
                    std::string(absent.instead));
  return refuse(Code::unknown_method, "there is no method \"" + name + "\"",
                nearest_hint(upper_case(name), candidates, "MPI and POSIX write files"));
}

Outcome<MadeMethod> MethodRegistry::make(const MethodChoice& choice) {
  auto found = find(choice.name);
  if (!found) return about(choice, choice.place, std::move(found.error()));
  const MethodEntry& entry = *found;
  const Parameters parameters(choice.parameters);
  MadeMethod made;
  for (const auto& [name, value] : parameters.all()) {
    if (std::ranges::find(entry.parameters, name) != entry.parameters.end()) continue;
    const bool is_general = std::ranges::find(kGeneralParameters, name) != kGeneralParameters.end();
    const std::string fault = is_general ? fault_of_general(name, parameters) : unknown_parameter(entry, name);
    const TextPlace place = behind(choice.parameters_place, parameters.text_before(name));
    if (!fault.empty()) made.warnings.push_back(about(choice, place, fault));
  }
  auto method = entry.make(parameters);
  if (!method) return about(choice, choice.parameters_place, std::move(method.error()));
  made.method = *std::move(method);
  for (const std::string& warning : made.method->warnings())
    made.warnings.push_back(about(choice, choice.parameters_place, warning));
  return made;
}

std::vector<std::string> MethodRegistry::names() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> names;
  for (const MethodEntry& entry : state_->entries) names.push_back(entry.name);
  return names;
}

MethodRegistry::Available MethodRegistry::available() {
  Available available{names(), {}};
  const auto is_there = [this](const std::string& name) {
    const std::lock_guard lock(state_->mutex);
    return std::ranges::any_of(state_->entries, [&](const MethodEntry& entry) { return is_called(entry, name); });
  };
  for (const std::string& name : plugin_names()) {
    if (is_there(name)) continue;
    if (auto found = find(name))
      available.names.push_back(std::move(found->name));
    else
      available.unusable.push_back(std::move(found.error()));
  }
  return available;
}

}  // namespace forebay::io
