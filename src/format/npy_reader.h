// NumPy: .npy (one array, "/data") and .npz (a zip archive; each stored member NAME.npy is "/NAME").
#pragma once

#include "format/reader.h"

namespace forebay::format {

class NpyReader final : public FormatReader {
 public:
  std::string_view name() const override { return "npy"; }
  Result<bool> matches(std::span<const std::byte> head, const ByteSource& source) const override;
  Result<Layout> read(const ByteSource& source) const override;
};

class NpzReader final : public FormatReader {
 public:
  std::string_view name() const override { return "npz"; }
  Result<bool> matches(std::span<const std::byte> head, const ByteSource& source) const override;
  Result<Layout> read(const ByteSource& source) const override;
};

}  // namespace forebay::format
