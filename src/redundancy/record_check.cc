// Whether a record, well-formed as it is, can be true.
#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "base/catalogue.h"
#include "redundancy/record.h"

namespace forebay::redundancy {
namespace {

constexpr uint64_t kMostPart = std::numeric_limits<int64_t>::max();
constexpr uint32_t kMostMode = 07777, kNanoseconds = 1'000'000'000;

std::unexpected<Error> untrue(std::string what, const std::string& path) {
  return fail(ErrorKind::corrupt, std::move(what), path);
}

Result<void> check_file(const RecordedFile& file, const std::string& path) {
  const auto kind = static_cast<FileKind>(file.kind);
  if (!is_safe_name(file.name)) return untrue("a file's name is not allowed", path);
  if (kind > FileKind::symlink || file.mode > kMostMode || file.mtime_ns >= kNanoseconds)
    return untrue(fmt::format("the kind, mode or time of '{}' is impossible", file.name), path);
  if (kind != FileKind::regular && file.size != 0)
    return untrue(fmt::format("'{}' is no file and has bytes", file.name), path);
  const bool has_target = !file.link_target.empty();
  if (has_target != (kind == FileKind::symlink) || file.link_target.find('\0') != std::string::npos)
    return untrue(fmt::format("'{}' has an impossible target", file.name), path);
  return {};
}

// No name twice, and nothing below what is not a directory.
Result<void> check_places(const std::vector<RecordedFile>& files, const std::string& path) {
  std::unordered_map<std::string_view, FileKind> kinds;
  for (const RecordedFile& file : files)
    if (!kinds.emplace(file.name, static_cast<FileKind>(file.kind)).second)
      return untrue(fmt::format("'{}' is there twice", file.name), path);
  for (const RecordedFile& file : files)
    for (size_t slash = file.name.find('/'); slash != std::string::npos; slash = file.name.find('/', slash + 1)) {
      const auto above = kinds.find(std::string_view(file.name).substr(0, slash));
      if (above != kinds.end() && above->second != FileKind::directory)
        return untrue(fmt::format("'{}' would lie in a file", file.name), path);
    }
  return {};
}

template <class List, class Projection = std::identity>
bool is_ascending(const List& list, Projection projection = {}) {
  return std::ranges::adjacent_find(list, std::ranges::greater_equal{}, projection) == list.end();
}

// Each rank at one member only, and below the job's number of ranks, if that is told.
Result<void> check_ranks(const Record& record, const std::string& path) {
  std::vector<uint32_t> all;
  for (const MemberRecord& member : record.members) all.insert(all.end(), member.ranks.begin(), member.ranks.end());
  std::ranges::sort(all);
  if (!is_ascending(all)) return untrue("a rank is at two members", path);
  if (record.ranks != 0 && !all.empty() && all.back() >= record.ranks)
    return untrue(fmt::format("rank {} is there, of {}", all.back(), record.ranks), path);
  return {};
}

}  // namespace

std::optional<uint64_t> part_bytes(const MemberRecord& member) {
  uint64_t bytes = 0;
  for (const RecordedFile& file : member.files) {
    if (static_cast<FileKind>(file.kind) != FileKind::regular) continue;
    if (file.size > kMostPart - bytes) return std::nullopt;
    bytes += file.size;
  }
  return bytes;
}

Result<void> check_names(const MemberRecord& member, const std::string& path) {
  for (const RecordedFile& file : member.files) FOREBAY_CHECK(check_file(file, path));
  FOREBAY_CHECK(check_places(member.files, path));
  if (!is_ascending(member.ranks)) return untrue("the ranks are not in order", path);
  if (!is_ascending(member.markers, [](const auto& marker) { return marker.first; }))
    return untrue("the markers are not in order", path);
  if (!part_bytes(member)) return untrue("the files are larger than any part", path);
  return {};
}

Result<void> check_member(const Geometry& geometry, unsigned position, const MemberRecord& member, bool parity,
                          const std::string& path) {
  FOREBAY_CHECK(check_names(member, path));
  if (*part_bytes(member) != geometry.size(position))
    return untrue(fmt::format("the files of member {} have {} bytes, and its part {}", position, *part_bytes(member),
                              geometry.size(position)),
                  path);
  const uint64_t parities = parity ? geometry.parity_pieces() : 0;
  if (member.data_sums.size() != geometry.data_pieces(position) || member.parity_sums.size() != parities)
    return untrue(fmt::format("the sums of member {} are not those of its bytes", position), path);
  return {};
}

Result<Geometry> geometry_of(const Record& record) {
  std::vector<uint64_t> sizes;
  for (const MemberRecord& member : record.members) sizes.push_back(part_bytes(member).value_or(UINT64_MAX));
  return Geometry::check(std::move(sizes), record.losses, record.chunk);
}

Result<void> check_record(const Record& record, const std::string& path) {
  if (record.id == 0) return untrue("has no number", path);
  if (record.scheme == Scheme::none) return untrue("is of no scheme", path);
  if (!is_safe_name(record.set) || record.set.find('/') != std::string::npos)
    return untrue("the name of the set is not allowed", path);
  if (record.group >= record.groups || record.position >= record.members.size())
    return untrue("is of a group or position that there is not", path);
  auto geometry = geometry_of(record);
  if (!geometry) return untrue(geometry.error().what, path);
  for (unsigned i = 0; i < record.members.size(); ++i)
    FOREBAY_CHECK(check_member(*geometry, i, record.members[i], true, path));
  return check_ranks(record, path);
}

std::optional<size_t> sum_index(const Geometry& geometry, unsigned row, unsigned member, uint64_t piece) {
  if (geometry.range(row, member, piece).length == 0) return std::nullopt;
  return geometry.place(row, member).index * geometry.pieces() + piece;
}

}  // namespace forebay::redundancy
