#include "format/attributes.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "format/attribute_list.h"
#include "format/hdf5_attribute.h"
#include "format/netcdf_reader.h"

namespace forebay::format {

void AttributeList::add(FileAttribute attribute) {
  const uint64_t bytes = attribute.object.size() + attribute.name.size() + attribute.value.size();
  if (!has_room(attribute.value.size()) || bytes > limits_.most_bytes - used_) return leave_out();
  used_ += bytes;
  found_.attributes.push_back(std::move(attribute));
}

void AttributeList::set_dimensions(const std::string& variable, std::vector<std::string> names) {
  uint64_t bytes = variable.size();
  for (const std::string& name : names) bytes += name.size();
  if (bytes > limits_.most_bytes - used_) return leave_out();
  used_ += bytes;
  found_.dimensions.insert_or_assign(variable, std::move(names));
}

FileAttributes AttributeList::take() {
  std::ranges::sort(found_.attributes, {}, [](const FileAttribute& each) { return std::tie(each.object, each.name); });
  return std::move(found_);
}

DataType make_native(const DataType& type, std::span<std::byte> values) {
  constexpr ByteOrder kNative = std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;
  DataType native = type;
  if (!type.is_number()) return native;
  native.order = type.size > 1 ? kNative : type.order;
  if (native.order == type.order) return native;
  for (size_t at = 0; at + type.size <= values.size(); at += type.size)
    std::ranges::reverse(values.subspan(at, type.size));
  return native;
}

void append_text(std::string_view text, Bytes& value) {
  const auto bytes = as_bytes(text.substr(0, text.find('\0')));
  value.insert(value.end(), bytes.begin(), bytes.end());
  value.push_back(std::byte{0});
}

const FileAttribute* FileAttributes::find(std::string_view object, std::string_view name) const {
  const auto key = [](const FileAttribute& each) {
    return std::pair(std::string_view(each.object), std::string_view(each.name));
  };
  const auto found = std::ranges::lower_bound(attributes, std::pair(object, name), {}, key);
  return found != attributes.end() && key(*found) == std::pair(object, name) ? &*found : nullptr;
}

Result<FileAttributes> read_attributes(const ByteSource& source, std::string_view format,
                                       const AttributeLimits& limits) {
  if (format == "hdf5") return read_hdf5_attributes(source, limits);
  if (format == "netcdf") return read_netcdf_attributes(source, limits);
  return FileAttributes{};
}

}  // namespace forebay::format
