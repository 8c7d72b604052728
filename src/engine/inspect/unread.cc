#include "engine/inspect/unread.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/set/name_pattern.h"
#include "engine/set/set_reader.h"
#include "format/looks.h"

namespace forebay::engine {
namespace {

constexpr size_t kMostLooks = 32;
constexpr const char* kOpaque = "opaque";

// Files of one pattern of names, and the largest of them, which says most.
struct Alike {
  uint64_t files = 0, bytes = 0;
  size_t container = 0;
  uint32_t largest = 0;
};

using AllAlike = std::map<std::pair<std::string, std::string>, Alike>;  // by format and pattern

AllAlike alike_files(const OpenSet& set) {
  AllAlike all;
  for (size_t c = 0; c < set.containers.size(); ++c) {
    const auto& files = set.containers[c].catalogue().files;
    for (uint32_t f = 0; f < files.size(); ++f) {
      if (files[f].kind != FileKind::regular || files[f].variable_count > 0) continue;
      Alike& alike = all[{files[f].format, take_apart(files[f].name).pattern}];
      if (alike.files == 0 || files[f].size > set.containers[alike.container].catalogue().files[alike.largest].size)
        std::tie(alike.container, alike.largest) = std::tuple(c, f);
      ++alike.files;
      alike.bytes += files[f].size;
    }
  }
  return all;
}

std::string looks_of(SetReader& reader, size_t container, uint32_t file) {
  const FileRow& row = reader->set().containers[container].catalogue().files[file];
  if (row.format != kOpaque) return row.format + " without variables";
  Bytes head(std::min<uint64_t>(row.size, format::kLooksBytes));
  if (!head.empty() && !reader->read_file(container, file, 0, head)) head.clear();
  return std::string(format::looks_like(head, row.size));
}

}  // namespace

Result<std::vector<UnreadFiles>> unread_files(const store::SetInfo& set, const Resources& resources) {
  FOREBAY_TRY(const OpenSet open, open_set(set, resources.memory_bytes / 2));
  const AllAlike all = alike_files(open);
  std::vector<const AllAlike::value_type*> largest_first;
  for (const auto& alike : all) largest_first.push_back(&alike);
  std::ranges::stable_sort(largest_first, std::ranges::greater(), [](const auto* one) { return one->second.bytes; });
  SetReader reader(open, resources.memory_bytes / 2);
  std::vector<UnreadFiles> found;
  for (size_t i = 0; i < largest_first.size(); ++i) {
    const auto& [names, alike] = *largest_first[i];
    const std::string looks = i < kMostLooks ? looks_of(reader, alike.container, alike.largest) : "others";
    auto at = std::ranges::find_if(found, [&](const auto& f) { return f.format == names.first && f.looks == looks; });
    if (at == found.end()) {
      const auto& files = open.containers[alike.container].catalogue().files;
      at = found.insert(found.end(), {names.first, looks, 0, 0, files[alike.largest].name});
    }
    at->files += alike.files;
    at->bytes += alike.bytes;
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &UnreadFiles::bytes);
  return found;
}

}  // namespace forebay::engine
