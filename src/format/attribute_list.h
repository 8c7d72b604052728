// Attributes being gathered within limits.
#pragma once

#include "format/attributes.h"

namespace forebay::format {

class AttributeList {
 public:
  explicit AttributeList(const AttributeLimits& limits) : limits_(limits) {}

  // Whether a value of this size can be kept.
  bool has_room(uint64_t value_bytes) const {
    return found_.attributes.size() < limits_.most && value_bytes <= limits_.most_bytes_each &&
           value_bytes <= limits_.most_bytes - used_;
  }

  void add(FileAttribute attribute);
  void leave_out() { ++found_.left_out; }
  void set_dimensions(const std::string& variable, std::vector<std::string> names);

  FileAttributes take();

 private:
  AttributeLimits limits_;
  uint64_t used_ = 0;
  FileAttributes found_;
};

// From the byte order of `type`, in place, to the machine's; what `type` becomes.
DataType make_native(const DataType& type, std::span<std::byte> values);

// The text without what follows its first zero; as a value of FileAttribute.
void append_text(std::string_view text, Bytes& value);

}  // namespace forebay::format
