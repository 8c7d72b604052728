// safetensors: tensor "a.b.c" is variable "/a.b.c".
#pragma once

#include "format/reader.h"

namespace forebay::format {

class SafetensorsReader final : public FormatReader {
 public:
  std::string_view name() const override { return "safetensors"; }
  Result<bool> matches(std::span<const std::byte> head, const ByteSource& source) const override;
  Result<Layout> read(const ByteSource& source) const override;
};

}  // namespace forebay::format
