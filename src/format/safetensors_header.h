// The JSON header of a safetensors file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"

namespace forebay::format {

struct Tensor {
  std::string name;
  std::string dtype;
  Shape shape;
  std::vector<uint64_t> range;  // data_offsets: begin and end behind the header
};

// The tensors of the header `json`, in its order; nothing if it is malformed: {"name": {"dtype": "F32", "shape": [...],
// "data_offsets": [b, e]}, ...}, and "__metadata__". Memory is in proportion to `json`.
std::optional<std::vector<Tensor>> parse_safetensors(std::string_view json);

}  // namespace forebay::format
