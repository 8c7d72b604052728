// HDF5, versions 1.0 to 1.14 of the library; netCDF-4 is HDF5.
#pragma once

#include "format/reader.h"

namespace forebay::format {

class Hdf5Reader final : public FormatReader {
 public:
  std::string_view name() const override { return "hdf5"; }
  Result<bool> matches(std::span<const std::byte> head, const ByteSource& source) const override;
  Result<Layout> read(const ByteSource& source) const override;
};

}  // namespace forebay::format
