// Binary restart files of LAMMPS, also those of some processes of many (%): "/atoms/0" has the atoms of the first
// process, as 8-byte numbers of which some are integers, (atoms, numbers) where all atoms have as many, else one after
// another. What comes before is no variable; files without atoms are not of this format.
#pragma once

#include "format/reader.h"

namespace forebay::format {

class LammpsReader final : public FormatReader {
 public:
  std::string_view name() const override { return "lammps"; }
  Result<bool> matches(std::span<const std::byte> head, const ByteSource& source) const override;
  Result<Layout> read(const ByteSource& source) const override;
};

}  // namespace forebay::format
