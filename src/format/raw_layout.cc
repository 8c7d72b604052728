#include <algorithm>

#include <fnmatch.h>

#include "format/raw_description.h"

namespace forebay::format {
namespace {

// Sums and products of offsets stick at the largest number, which no file reaches.
uint64_t add(uint64_t a, uint64_t b) { return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a; }
uint64_t multiply(uint64_t a, uint64_t b) { return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a; }

uint64_t bytes_of(const RawVariable& variable) { return multiply(element_count(variable.shape), variable.type.size); }

// How often the group's variables stand in the file, all of them each time.
uint64_t count_repetitions(const RawGroup& group, uint64_t file_size) {
  if (group.repeat->count) return *group.repeat->count;
  uint64_t end = group.offset;
  for (const RawVariable& variable : group.variables)
    end = std::max(end, add(group.offset, add(variable.offset, bytes_of(variable))));
  return end > file_size ? 0 : (file_size - end) / group.repeat->stride + 1;
}

// One extent per repetition, or a single one where the repetitions touch.
void repeat(Variable& variable, Extent first, uint64_t stride, uint64_t count, uint64_t file_size) {
  if (count > 0 && first.length != stride) {
    variable.block = variable.shape;
    variable.block.insert(variable.block.begin(), 1);
  }
  variable.shape.insert(variable.shape.begin(), count);
  const uint64_t last = count == 0 ? 0 : multiply(count - 1, stride);
  const Extent all{.offset = first.offset, .length = add(last, first.length)};
  if (count == 0) return;
  if (first.length == stride || all.offset > file_size || all.length > file_size - all.offset) {
    variable.extents = {all};
    return;
  }
  variable.extents.reserve(count);
  for (uint64_t i = 0; i < count; ++i)
    variable.extents.push_back({.offset = first.offset + i * stride, .length = first.length});
}

}  // namespace

const RawFile* find_raw_file(const std::vector<RawFile>& files, const std::string& name) {
  const std::string last = name.substr(name.rfind('/') + 1);
  for (const RawFile& file : files) {
    const bool whole = file.match.find('/') != std::string::npos;
    if (fnmatch(file.match.c_str(), (whole ? name : last).c_str(), FNM_PATHNAME) == 0) return &file;
  }
  return nullptr;
}

Result<Layout> lay_out_raw(const RawFile& description, uint64_t file_size) {
  Layout layout{.format = "raw", .variables = {}};
  uint64_t extents = 0;
  for (const RawGroup& group : description.groups) {
    const uint64_t count = group.repeat ? count_repetitions(group, file_size) : 1;
    for (const RawVariable& found : group.variables) {
      Variable variable{.path = "/", .type = found.type, .shape = found.shape, .block = {}, .extents = {}};
      if (!group.name.empty()) variable.path.append(group.name).append("/");
      variable.path += found.name;
      const Extent first{.offset = add(group.offset, found.offset), .length = bytes_of(found)};
      if (!group.repeat) {
        variable.extents = {first};
      } else {
        const uint64_t possible = std::min(count, file_size / group.repeat->stride + 1);
        if (first.length != group.repeat->stride && (extents += possible) > kMaxExtentsPerFile)
          return fail(ErrorKind::limit, "the raw-binary description has too many repetitions");
        repeat(variable, first, group.repeat->stride, count, file_size);
      }
      layout.variables.push_back(std::move(variable));
    }
  }
  return layout;
}

}  // namespace forebay::format
