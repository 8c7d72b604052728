// The format reader interface: bytes in, Layout out.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/layout.h"

namespace forebay::format {

// Readers are stateless after construction and thread-safe. What a reader understands wrongly costs compression, never
// bytes: restore puts extents and skeleton back where they were.
class FormatReader {
 public:
  virtual ~FormatReader() = default;

  virtual std::string_view name() const = 0;

  // Whether the file looks like this format: `head` has its first min(size, 4096) bytes, `source` the rest.
  // Fails only with an error of the source.
  virtual Result<bool> matches(std::span<const std::byte> head, const ByteSource& source) const = 0;

  // Finds the variables. The bytes are hostile: time and memory are bounded by the limits in base/layout.h, whatever
  // the file says; corrupt or unsupported if the file as a whole cannot be understood. Objects that cannot be
  // understood alone are left out. Errors of the source (io, changed) are passed on. The result need not be normalised.
  virtual Result<Layout> read(const ByteSource& source) const = 0;
};

// What read_layout() knows about the files of one set beside the built-in formats.
struct FormatOptions {
  // The text of a raw-binary description (docs/raw-binary.md) that applies to all files of the set, or empty. A file
  // NAME may also have its own description beside it, NAME.forebay.toml; the caller passes its text to read_layout().
  std::string raw_description;
  bool opaque = false;  // do not look inside files at all
  std::span<const FormatReader* const> more =
      {};  // readers of rooms above this one, asked first; they outlive all calls
};

// The built-in readers, in the order in which they are asked.
std::span<const FormatReader* const> all_readers();

struct ReadLayout {
  Layout layout;       // normalised; format "opaque" if no reader knew the file
  std::string remark;  // why a file that a reader recognised is opaque, or how many variables were dropped; or empty
};

// Asks each reader in turn. `name` is the file's name inside the set; `own_description` is the text of its own
// raw-binary description, or empty. Fails only for errors of the source, or invalid_argument for a bad description.
Result<ReadLayout> read_layout(const ByteSource& source, std::string_view name, const FormatOptions& options,
                               std::string_view own_description = {});

}  // namespace forebay::format
