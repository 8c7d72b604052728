// Files of Fortran's unformatted sequential records, each between two copies of its length in 4 bytes, little- or
// big-endian, as gfortran and ifx write them. number_probe.h guesses their types; records of zeros
// have the type of most bytes of the others. "/record_3" is the
// fourth record; where the lengths of the records at the end of a file repeat, records that correspond are one variable
// of two dimensions, under the number of the first. Records of fewer than 256 bytes are no variables, unless they
// repeat. In trajectories of CHARMM, NAMD and LAMMPS (DCD) without fixed atoms "/cell", "/x", "/y" and "/z" are
// (frames, values).
#pragma once

#include "format/reader.h"

namespace forebay::format {

class FortranReader final : public FormatReader {
 public:
  std::string_view name() const override { return "fortran"; }
  Result<bool> matches(std::span<const std::byte> head, const ByteSource& source) const override;
  // corrupt if the records do not end with the file.
  Result<Layout> read(const ByteSource& source) const override;
};

}  // namespace forebay::format
