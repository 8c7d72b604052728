// The numbers that variables and attributes have in a BP file, which stay the same through all of it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bp/write.h"

namespace forebay::convert {

class BpNames {
 public:
  // The place of a variable, for head(). unsupported if it had another type before, or another one
  // is called the same in BP files ('//b' and '/b'); limit for too long a name.
  Result<size_t> variable(const std::string& group, const std::string& name, uint8_t type);
  const bp::VariableHead& head(size_t variable) const { return heads_[variable]; }

  bp::VariableHead attribute(const std::string& group, const std::string& name, uint8_t type);

  // The number of a variable that has been named, with or without a '/' in front; nothing if there is none.
  std::optional<uint32_t> find(const std::string& group, const std::string& name) const;

 private:
  std::vector<bp::VariableHead> heads_;
  std::map<std::pair<std::string, std::string>, size_t> places_;
  std::map<std::tuple<std::string, std::string, std::string>, std::string> splits_;  // by group, path and last name
  std::map<std::pair<std::string, std::string>, uint32_t> attributes_;
  std::map<std::string, uint32_t> numbers_;  // of each group, that are taken
};

}  // namespace forebay::convert
