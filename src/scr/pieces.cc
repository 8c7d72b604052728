#include "scr/pieces.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/checksum.h"

namespace forebay::scr {
namespace {

// Not less is worth another rank's effort, and file systems like round numbers.
constexpr uint64_t kLeastShare = uint64_t{1} << 20;

// The entries of each file, in their order.
std::map<std::string_view, std::vector<size_t>> by_name(const std::vector<PrefixFile>& files) {
  std::map<std::string_view, std::vector<size_t>> names;
  for (size_t i = 0; i < files.size(); ++i) names[files[i].name].push_back(i);
  return names;
}

// Where the share begins of the one at this place among `count`.
uint64_t begin_of_share(uint64_t size, uint64_t place, uint64_t count) {
  const uint64_t units = (size + kLeastShare - 1) / kLeastShare;
  const uint64_t each = units / count, more = units % count;  // the first ones take one more
  return std::min(size, (each * place + std::min(more, place)) * kLeastShare);
}

}  // namespace

std::vector<Piece> pieces_of(const std::vector<PrefixFile>& files, uint32_t rank, uint32_t ranks) {
  std::vector<Piece> pieces;
  for (const auto& [name, entries] : by_name(files))
    for (size_t place = 0; place < entries.size(); ++place) {
      const PrefixFile& file = files[entries[place]];
      if (file.rank % ranks != rank) continue;
      const uint64_t begin = begin_of_share(file.size, place, entries.size());
      const uint64_t end = begin_of_share(file.size, place + 1, entries.size());
      pieces.push_back({.file = file, .is_shared = entries.size() > 1, .offset = begin, .bytes = end - begin});
    }
  return pieces;
}

std::vector<PrefixFile> shared_of(std::vector<PrefixFile> files) {
  std::vector<PrefixFile> shared;
  for (const auto& [name, entries] : by_name(files)) {
    if (entries.size() < 2) continue;
    uint64_t size = 0;
    for (const size_t i : entries) size = std::max(size, files[i].size);
    for (const size_t i : entries) {
      shared.push_back(files[i]);
      shared.back().size = size;
    }
  }
  return shared;
}

std::vector<PrefixFile> joined(std::vector<PrefixFile> files) {
  std::vector<uint64_t> whole(files.size());
  for (const auto& [name, entries] : by_name(files)) {
    std::vector<uint64_t> values;
    for (const size_t i : entries) values.push_back(files[i].crc64);
    for (const size_t i : entries) whole[i] = entries.size() == 1 ? values.front() : joined_crc(files[i].size, values);
  }
  for (size_t i = 0; i < files.size(); ++i) files[i].crc64 = whole[i];
  return files;
}

}  // namespace forebay::scr
