// Where the values go that `forebay read` has read: a NumPy file, or lines of comma-separated values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "base/shape.h"
#include "view/model/array.h"

namespace forebay::cli {

class ValueSink {
 public:
  virtual ~ValueSink() = default;

  // The next elements, in C order and the machine's byte order.
  virtual Result<void> write(std::span<const std::byte> values) = 0;

  // There are no more. Without this, nothing is left of a file.
  virtual Result<void> finish() = 0;
};

// To the file `to`, or to standard output if that is "-". Errors as of NewFile::create().
Result<std::unique_ptr<ValueSink>> npy_sink(const std::string& to, bool overwrite, const view::ElementType& type,
                                            const Shape& shape);

// Each element in a line: what `place` appends for the element of that number, with a comma behind each part, then the
// value. The first line is `titles`.
using AppendPlace = std::function<void(uint64_t element, std::string& line)>;
Result<std::unique_ptr<ValueSink>> csv_sink(const std::string& to, bool overwrite, const view::ElementType& type,
                                            std::string titles, AppendPlace place);

}  // namespace forebay::cli
