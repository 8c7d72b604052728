// Which arrays of a run are wanted, by names and patterns.
#pragma once

#include <string>
#include <vector>

#include "convert/plan/make_plan.h"

namespace forebay::convert {

class Wanted {
 public:
  explicit Wanted(const Wish& wish) : wish_(wish), used_(wish.names.size()) {}

  // Remembers which of Wish::names it is wanted by.
  bool matches(const std::string& name);

  // An array of which the wanted part cannot be taken, as Wish::part says: kept for check_parts(), which names all of
  // them, if it is invalid_argument; else the error.
  Result<void> without_part(Error error);
  Result<void> check_parts() const;

  // When all arrays were asked for: not_found, with the nearest names, for a name of the wish that none has;
  // invalid_argument for one that is excepted as well. Errors of opening the last step.
  Result<void> check(const view::Run& run) const;

 private:
  const Wish& wish_;
  std::vector<bool> used_;
  std::vector<Error> without_part_;
};

// unsupported, naming arrays, if there are any in `lacking` ("'NAME' of step N (TYPE)"), which the target has no type
// for.
Result<void> check_types(std::string_view target, std::vector<std::string> lacking);

// As `lacking` has it.
std::string lacking_text(const std::string& name, const view::StepInfo& step, const view::ElementType& type);

}  // namespace forebay::convert
