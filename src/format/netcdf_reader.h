// netCDF classic: CDF-1, CDF-2 (64-bit offsets) and CDF-5 (64-bit data).
#pragma once

#include "format/attributes.h"
#include "format/reader.h"

namespace forebay::format {

class NetcdfReader final : public FormatReader {
 public:
  std::string_view name() const override { return "netcdf"; }
  Result<bool> matches(std::span<const std::byte> head, const ByteSource& source) const override;
  Result<Layout> read(const ByteSource& source) const override;
};

// As read_attributes(): texts of the type char are one text each, whatever their length. limit for headers that are
// very large.
Result<FileAttributes> read_netcdf_attributes(const ByteSource& source, const AttributeLimits& limits);

}  // namespace forebay::format
