// Files of fields of AMReX and BoxLib (Cell_D_00000 of a plotfile or checkpoint): "/fab_0/component_1" is the second
// component of the first box, the axis that varies fastest last. The names of the components stand in another file.
#pragma once

#include "format/reader.h"

namespace forebay::format {

class FabReader final : public FormatReader {
 public:
  std::string_view name() const override { return "fab"; }
  Result<bool> matches(std::span<const std::byte> head, const ByteSource& source) const override;
  // What comes behind the last whole box is no variable.
  Result<Layout> read(const ByteSource& source) const override;
};

}  // namespace forebay::format
