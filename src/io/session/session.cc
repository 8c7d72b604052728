#include "io/session/session.h"

#include <algorithm>
#include <utility>

#include "base/nearest.h"
#include "io/method/registry.h"
#include "io/session/check_transforms.h"

namespace forebay::io {

Session::Declared Session::declare(GroupDefinition definition) {
  const std::vector<MethodChoice> choices = std::exchange(definition.methods, {});
  CheckedTransforms transforms = check_transforms(definition);
  Declared declared{std::make_shared<Group>(std::move(definition)), std::move(transforms.refused),
                    std::move(transforms.warnings)};
  for (const MethodChoice& choice : choices) {
    auto warnings = add_method(*declared.group, choice);
    if (!warnings)
      declared.problems.push_back(std::move(warnings).error());
    else
      declared.warnings.insert(declared.warnings.end(), warnings->begin(), warnings->end());
  }
  const std::lock_guard lock(mutex_);
  groups_.push_back(declared.group);
  return declared;
}

Outcome<std::shared_ptr<Group>> Session::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& group : groups_) {
    if (group->definition.name == name) return group;
    names.push_back(group->definition.name);
  }
  return refuse(Code::invalid_group, "there is no group \"" + name + "\"",
                nearest_hint(name, names, names.empty() ? "no group is declared" : "check the name"));
}

Outcome<std::vector<std::string>> Session::add_method(Group& group, MethodChoice choice) {
  if (!choice.base_path.empty() && !choice.base_path.ends_with('/'))
    return refuse(Code::invalid_method_choice,
                  "the base path \"" + choice.base_path + "\" of method " + choice.name + " does not end in '/'",
                  "add the '/'");
  FOREBAY_TRY(MadeMethod made, MethodRegistry::instance().make(choice));
  const Traits traits = made.method->traits();
  group.methods.push_back({choice.name, choice.base_path, std::move(made.method), traits});
  group.definition.methods.push_back(std::move(choice));
  return std::move(made.warnings);
}

Outcome<void> Session::remove(const std::shared_ptr<Group>& group) {
  Outcome<void> written = write_aggregation(*group);
  const std::lock_guard lock(mutex_);
  std::erase(groups_, group);
  return written;
}

Outcome<std::unique_ptr<OpenGroup>> Session::open(const std::string& group, const std::string& name, OpenMode mode,
                                                  std::shared_ptr<Communicator> communicator, bool is_alone) {
  FOREBAY_TRY(std::shared_ptr<Group> found, find(group));
  return OpenGroup::open(std::move(found), {.name = name,
                                            .mode = mode,
                                            .communicator = std::move(communicator),
                                            .is_alone = is_alone,
                                            .buffer_limit = buffer_limit_});
}

Outcome<void> Session::close(std::unique_ptr<OpenGroup> file) {
  const std::string name = file->group().definition.name;
  Outcome<void> result = file->close();
  for (const auto& group : all_groups()) {
    if (group->definition.aggregate_with != name || !group->aggregation) continue;
    Outcome<void> written = write_aggregation(*group);
    if (result && !written) result = std::move(written);
  }
  return result;
}

std::vector<std::shared_ptr<Group>> Session::all_groups() const {
  const std::lock_guard lock(mutex_);
  return groups_;
}

template <class Call>
void Session::on_methods(const Call& call) {
  for (const auto& group : all_groups())
    for (const ChosenMethod& chosen : group->methods) call(*chosen.method);
}

void Session::begin_calculation() {
  on_methods([](Method& method) { method.begin_calculation(); });
}

void Session::end_calculation() {
  on_methods([](Method& method) { method.end_calculation(); });
}

void Session::end_iteration() {
  on_methods([](Method& method) { method.end_iteration(); });
}

Outcome<void> Session::finalize() {
  Outcome<void> result;
  for (const auto& group : all_groups()) {
    Outcome<void> written = write_aggregation(*group);
    if (result && !written) result = std::move(written);
  }
  on_methods([&](Method& method) {
    Outcome<void> finalized = method.finalize(*everybody_);
    if (result && !finalized) result = std::move(finalized);
  });
  const std::lock_guard lock(mutex_);
  groups_.clear();
  return result;
}

}  // namespace forebay::io
