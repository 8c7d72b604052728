// What every fuzz target and the contract suite demand of a reader. Of the tests only.
#pragma once

#include <cstdlib>
#include <string>

#include "base/bytes.h"
#include "format/attributes.h"
#include "format/reader.h"

namespace forebay::format {

// Why `layout`, of a file of `file_size` bytes, is not as normalise() promises, or empty.
inline std::string find_fault(const Layout& layout, uint64_t file_size) {
  Layout copy = layout;
  if (normalise(copy, file_size) != 0) return "normalise() is not done";
  if (layout.format == "opaque" && !layout.variables.empty()) return "an opaque file has variables";
  for (const Variable& variable : layout.variables)
    if (!variable.path.starts_with('/')) return "a path does not start with '/'";
  return {};
}

// Reads `source`, and aborts if the result is not as promised.
inline void check_reader(const FormatReader& reader, const ByteSource& source) {
  (void)reader.matches({}, source);
  auto layout = reader.read(source);
  if (!layout) return;
  normalise(*layout, source.size());
  if (!find_fault(*layout, source.size()).empty()) std::abort();
}

// Reads the attributes of `source`, and aborts if they are not within the limits.
inline void check_attributes(std::string_view format, const ByteSource& source) {
  const AttributeLimits limits{.most = 100, .most_bytes_each = 1000, .most_bytes = 10000};
  const auto found = read_attributes(source, format, limits);
  if (!found) return;
  uint64_t bytes = 0;
  for (const FileAttribute& attribute : found->attributes) {
    bytes += attribute.value.size();
    if (attribute.value.size() > limits.most_bytes_each) std::abort();
    if (attribute.is_text ? attribute.value.empty() && element_count(attribute.shape) != 0
                          : attribute.value.size() != element_count(attribute.shape) * attribute.type.size)
      std::abort();
    if (found->find(attribute.object, attribute.name) == nullptr) std::abort();
  }
  if (bytes > limits.most_bytes || found->attributes.size() > limits.most) std::abort();
}

}  // namespace forebay::format
