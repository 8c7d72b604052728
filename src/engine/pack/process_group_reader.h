// Process groups as a program wrote them (docs/format.md, "A file that grows"): their values lie as they are in the
// frames of a container, so that packing can merge them over ranks like the variables of any other format.
#pragma once

#include "format/reader.h"

namespace forebay::engine {

// Finds the variables of all parts whose frames are stored as they are: "/name" if no two parts have one of the same
// name, else "/part7/name", counted from 0. What does not lie in such frames is left out. A container without any is
// opaque.
class ProcessGroupReader final : public format::FormatReader {
 public:
  std::string_view name() const override { return "forebay"; }
  Result<bool> matches(std::span<const std::byte> head, const ByteSource& source) const override;
  Result<Layout> read(const ByteSource& source) const override;
};

}  // namespace forebay::engine
