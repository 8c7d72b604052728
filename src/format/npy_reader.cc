#include "format/npy_reader.h"

#include "format/npy.h"
#include "format/zip.h"

namespace forebay::format {

Result<bool> NpyReader::matches(std::span<const std::byte> head, const ByteSource&) const { return is_npy(head); }

Result<Layout> NpyReader::read(const ByteSource& source) const {
  FOREBAY_TRY(Variable variable, read_npy(source, 0, source.size()));
  Layout layout{.format = "npy", .variables = {}};
  if (!variable.extents.empty()) layout.variables.push_back(std::move(variable));
  return layout;
}

Result<bool> NpzReader::matches(std::span<const std::byte> head, const ByteSource&) const {
  return first_zip_member(head).ends_with(".npy");
}

// Compressed members, and members that are no arrays, stay skeleton.
Result<Layout> NpzReader::read(const ByteSource& source) const {
  constexpr std::string_view kSuffix = ".npy";
  FOREBAY_TRY(const std::vector<ZipMember> members, list_zip(source));
  Layout layout{.format = "npz", .variables = {}};
  for (const ZipMember& member : members) {
    if (!member.stored || !member.name.ends_with(kSuffix)) continue;
    Result<uint64_t> data = find_zip_data(source, member);
    if (!data && data.error().kind != ErrorKind::corrupt) return std::unexpected(data.error());
    if (!data) continue;
    Result<Variable> variable = read_npy(source, *data, member.size);
    if (!variable && variable.error().kind != ErrorKind::corrupt) return std::unexpected(variable.error());
    if (!variable || variable->extents.empty()) continue;
    variable->path.assign("/").append(member.name, 0, member.name.size() - kSuffix.size());
    layout.variables.push_back(std::move(*variable));
  }
  return layout;
}

}  // namespace forebay::format
