// Trajectories of GROMACS in full precision (.trr): "/x", "/v" and "/f" are (frames, atoms, 3), "/box", "/virial" and
// "/pressure" (frames, 3, 3). A frame that lacks one of them is left out of it; so is one of another number of atoms
// or another precision than the first that has it. What comes behind the last whole frame is no variable.
#pragma once

#include "format/reader.h"

namespace forebay::format {

class TrrReader final : public FormatReader {
 public:
  std::string_view name() const override { return "trr"; }
  Result<bool> matches(std::span<const std::byte> head, const ByteSource& source) const override;
  Result<Layout> read(const ByteSource& source) const override;
};

}  // namespace forebay::format
