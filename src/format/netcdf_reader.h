// netCDF classic: CDF-1, CDF-2 (64-bit offsets) and CDF-5 (64-bit data).
#pragma once

#include "format/reader.h"

namespace forebay::format {

class NetcdfReader final : public FormatReader {
 public:
  std::string_view name() const override { return "netcdf"; }
  Result<bool> matches(std::span<const std::byte> head, const ByteSource& source) const override;
  Result<Layout> read(const ByteSource& source) const override;
};

}  // namespace forebay::format
