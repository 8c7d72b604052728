// What a remover that died has taken out of sight, and another set needs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/store.h"

namespace forebay::store {

// A remover that dies after it has withdrawn a set, and before it has looked again who refers to it (removal.cc),
// leaves it to be cleaned away, even if a set that refers to it was committed in between. This finds the sets that must
// not go.
class Rescue {
 public:
  explicit Rescue(const Backend& backend) : backend_(backend) {}

  // The set that a manifest describes, which was found among what the dead left, if one that is visible refers to it,
  // or would if it came back itself; none otherwise. Reads all manifests when it is first asked. Errors of that.
  Result<std::optional<std::string>> needed(const std::string& manifest);

 private:
  Result<void> look();
  bool is_needed(const Manifest& manifest) const;

  const Backend& backend_;
  std::optional<std::vector<ParentEntry>> parents_;  // of the sets that stay
};

}  // namespace forebay::store
