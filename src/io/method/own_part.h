// What one rank wrote into a file, for programs that read it back by as many ranks as wrote it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file/file_reader.h"
#include "io/group/failure.h"
#include "io/method/method.h"

namespace forebay::io {

// The process groups of a rank in the last step that it wrote.
class OwnPart {
 public:
  // file_open if the file cannot be read; invalid_data if the rank wrote nothing into it.
  static Outcome<OwnPart> open(const std::string& path, uint32_t rank);

  const Standing& standing() const { return standing_; }

  // The last block that was written under the name. invalid_name; read_size_mismatch if `into` is too small.
  Outcome<void> read(std::string_view variable, std::span<std::byte> into) const;

 private:
  OwnPart() = default;
  std::string path_;
  std::unique_ptr<FileReader> reader_;
  std::vector<StoredPart> parts_;
  Standing standing_;
};

}  // namespace forebay::io
