// What a group has, by full name. Names count exactly: neither case nor a leading '/' is forgiven.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/group/definition.h"
#include "io/group/failure.h"

namespace forebay::io {

class NameIndex {
 public:
  NameIndex() = default;
  explicit NameIndex(const GroupDefinition& group);

  // Takes in what was defined since; what was removed needs a new index.
  void update(const GroupDefinition& group);

  // Where it lies in the group: the first that has the name. invalid_name with the nearest names.
  Outcome<size_t> variable(std::string_view name) const;

  // The same, or nothing.
  const size_t* find_variable(std::string_view name) const;
  const size_t* find_attribute(std::string_view name) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Places = std::unordered_map<std::string, size_t, Hash, std::equal_to<>>;

  std::string group_;
  Places variables_, attributes_;
  size_t variable_count_ = 0, attribute_count_ = 0;
};

}  // namespace forebay::io
