// Files of OpenFOAM in its binary form. Of a field U "/U" are the values in cells, "/U/boundaryField/inlet/value" those
// of a patch; vectors and tensors have 3, 6 or 9 values on the last axis. Files that are one list or several, such as a
// mesh's points and faces, go by their object's name too: "/points", "/faces" and "/faces_1". Files in the ASCII form
// are not of this format.
#pragma once

#include "format/reader.h"

namespace forebay::format {

class OpenFoamReader final : public FormatReader {
 public:
  std::string_view name() const override { return "openfoam"; }
  Result<bool> matches(std::span<const std::byte> head, const ByteSource& source) const override;
  // Lists behind something that is not understood are left out.
  Result<Layout> read(const ByteSource& source) const override;
};

}  // namespace forebay::format
