#include "convert/bp/bp_names.h"

#include <fmt/format.h>

#include "bp/encoder.h"

namespace forebay::convert {

Result<size_t> BpNames::variable(const std::string& group, const std::string& name, uint8_t type) {
  if (group.size() > bp::kMostText)
    return fail(ErrorKind::limit, fmt::format("the group '{}...' has a name of {} bytes, and BP files allow {}",
                                              group.substr(0, 64), group.size(), bp::kMostText));
  if (name.size() > bp::kMostText)
    return fail(ErrorKind::limit, fmt::format("'{}...' has a name of {} bytes, and BP files allow {}",
                                              name.substr(0, 64), name.size(), bp::kMostText));
  const auto [place, is_new] = places_.try_emplace({group, name}, heads_.size());
  if (is_new) {
    const auto [path, last] = bp::split_name(name);
    const auto other = splits_.try_emplace({group, std::string(path), std::string(last)}, name).first;
    if (other->second != name)
      return fail(ErrorKind::unsupported, fmt::format("'{}' and '{}' are one name in a BP file", other->second, name),
                  {}, {}, "leave out one of them with --except");
    heads_.push_back({.id = ++numbers_[group], .group = group, .name = name, .type = type});
  }
  if (heads_[place->second].type == type) return place->second;
  return fail(ErrorKind::unsupported,
              fmt::format("'{}' has another type in some steps, and in a BP file only one", name), {}, {},
              "convert the steps of each type to a file of their own, with --steps");
}

bp::VariableHead BpNames::attribute(const std::string& group, const std::string& name, uint8_t type) {
  const auto [place, is_new] = attributes_.try_emplace({group, name}, 0);
  if (is_new) place->second = ++numbers_[group];
  return {.id = place->second, .group = group, .name = name, .type = type};
}

std::optional<uint32_t> BpNames::find(const std::string& group, const std::string& name) const {
  for (const std::string& each : {name, "/" + name, name.substr(name.starts_with('/') ? 1 : 0)})
    if (const auto found = places_.find({group, each}); found != places_.end()) return heads_[found->second].id;
  return {};
}

}  // namespace forebay::convert
