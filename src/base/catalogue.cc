#include "base/catalogue.h"

#include <algorithm>

#include "base/checksum.h"

namespace forebay {

size_t ShapeHash::operator()(const Shape& shape) const { return hash64(std::as_bytes(std::span(shape))); }

uint64_t Catalogue::bytes_of(const VariableRow& variable) const {
  uint64_t bytes = 0;
  for (const Extent& extent : extents_of(variable)) bytes += extent.length;
  return bytes;
}

const GlobalPlace* Catalogue::global_of(uint32_t variable) const {
  const auto at = std::ranges::lower_bound(globals, variable, {}, &GlobalPlace::variable);
  return at != globals.end() && at->variable == variable ? &*at : nullptr;
}

std::string_view Catalogue::meaning_of(uint32_t variable) const {
  const auto at = std::ranges::lower_bound(with_meanings, variable, {}, &VariableMeaning::variable);
  return at != with_meanings.end() && at->variable == variable ? std::string_view(meanings[at->text])
                                                               : std::string_view();
}

static std::vector<Extent> sorted_extents(const Catalogue& catalogue, const FileRow& file) {
  std::vector<Extent> all;
  for (const VariableRow& variable : catalogue.variables_of(file)) {
    const auto extents = catalogue.extents_of(variable);
    all.insert(all.end(), extents.begin(), extents.end());
  }
  std::ranges::sort(all);
  return all;
}

std::vector<Extent> Catalogue::skeleton_of(const FileRow& file) const {
  std::vector<Extent> skeleton;
  uint64_t at = 0;
  for (const Extent& extent : sorted_extents(*this, file)) {
    if (extent.offset > at) skeleton.push_back({at, extent.offset - at});
    at = extent.end();
  }
  if (file.size > at) skeleton.push_back({at, file.size - at});
  return skeleton;
}

void Catalogue::add(FileRow file, const Layout& layout, std::span<const std::string> keys_of_variables) {
  file.format = layout.format;
  file.first_variable = static_cast<uint32_t>(variables.size());
  file.variable_count = static_cast<uint32_t>(layout.variables.size());
  for (size_t i = 0; i < layout.variables.size(); ++i) {
    const Variable& variable = layout.variables[i];
    const uint32_t shape = shapes.intern(variable.shape);
    variables.push_back({.path = paths.intern(variable.path),
                         .key = keys.intern(keys_of_variables[i]),
                         .shape = shape,
                         .block = variable.block.empty() ? shape : shapes.intern(variable.block),
                         .first_extent = static_cast<uint32_t>(extents.size()),
                         .extent_count = static_cast<uint32_t>(variable.extents.size()),
                         .type = variable.type,
                         .filtered = variable.filtered,
                         .partial = variable.partial});
    extents.insert(extents.end(), variable.extents.begin(), variable.extents.end());
    if (!variable.global_shape.empty())
      globals.push_back({.variable = static_cast<uint32_t>(variables.size() - 1),
                         .shape = shapes.intern(variable.global_shape),
                         .offset = shapes.intern(variable.global_offset)});
    if (!variable.meaning.empty())
      with_meanings.push_back(
          {.variable = static_cast<uint32_t>(variables.size() - 1), .text = meanings.intern(variable.meaning)});
  }
  files.push_back(std::move(file));
}

uint64_t Catalogue::memory_bytes() const {
  constexpr uint64_t kPerString = 120;  // the value, its hash node and the node's copy
  uint64_t bytes = files.capacity() * sizeof(FileRow) + variables.capacity() * sizeof(VariableRow) +
                   extents.capacity() * sizeof(Extent) + globals.capacity() * sizeof(GlobalPlace) +
                   with_meanings.capacity() * sizeof(VariableMeaning);
  for (const auto& path : paths.values()) bytes += kPerString + 2 * path.size();
  for (const auto& key : keys.values()) bytes += kPerString + 2 * key.size();
  for (const auto& meaning : meanings.values()) bytes += kPerString + 2 * meaning.size();
  return bytes + shapes.size() * 2 * kPerString;
}

static Result<void> validate_variable(const Catalogue& catalogue, const VariableRow& variable, uint64_t file_size) {
  const auto bad = [](const char* what) { return fail(ErrorKind::corrupt, std::string("index: ") + what); };
  if (variable.path >= catalogue.paths.size() || variable.key >= catalogue.keys.size() ||
      variable.shape >= catalogue.shapes.size() || variable.block >= catalogue.shapes.size())
    return bad("a variable names a path, key or shape that is not there");
  if (!variable.type.is_valid()) return bad("a variable has an impossible datatype");
  if (variable.extent_count == 0) return bad("a variable has no extents");
  if (variable.first_extent > catalogue.extents.size() ||
      variable.extent_count > catalogue.extents.size() - variable.first_extent)
    return bad("a variable's extents are not there");
  const Shape& block = catalogue.shapes[variable.block];
  if (block.size() != catalogue.shapes[variable.shape].size())
    return bad("a variable's block has another rank than its shape");
  uint64_t block_bytes = element_count(block);
  if (__builtin_mul_overflow(block_bytes, uint64_t{variable.type.size}, &block_bytes))
    return bad("a variable's shape is too large");
  for (const Extent& extent : catalogue.extents_of(variable)) {
    if (extent.length == 0 || extent.offset > file_size || extent.length > file_size - extent.offset)
      return bad("an extent lies outside its file");
    if (!variable.filtered && extent.length != block_bytes) return bad("an extent's length contradicts its shape");
  }
  return {};
}

static Result<void> validate_globals(const Catalogue& catalogue) {
  const auto bad = [](const char* what) { return fail(ErrorKind::corrupt, std::string("index: ") + what); };
  const auto& globals = catalogue.globals;
  for (size_t i = 0; i < globals.size(); ++i) {
    if (globals[i].variable >= catalogue.variables.size() || (i > 0 && globals[i - 1].variable >= globals[i].variable))
      return bad("places in global arrays are not in the order of the variables");
    if (globals[i].shape >= catalogue.shapes.size() || globals[i].offset >= catalogue.shapes.size())
      return bad("a place in a global array names a shape that is not there");
    const Shape& own = catalogue.shapes[catalogue.variables[globals[i].variable].shape];
    const Shape &shape = catalogue.shapes[globals[i].shape], &offset = catalogue.shapes[globals[i].offset];
    if (own.empty() || shape.size() != own.size() || offset.size() != own.size())
      return bad("a variable has another rank than its global array");
    for (size_t d = 0; d < own.size(); ++d)
      if (offset[d] > shape[d] || own[d] > shape[d] - offset[d])
        return bad("a variable reaches out of its global array");
  }
  return {};
}

static Result<void> validate_meanings(const Catalogue& catalogue) {
  const auto bad = [](const char* what) { return fail(ErrorKind::corrupt, std::string("index: ") + what); };
  const auto& rows = catalogue.with_meanings;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].variable >= catalogue.variables.size() || (i > 0 && rows[i - 1].variable >= rows[i].variable))
      return bad("meanings are not in the order of the variables");
    if (rows[i].text >= catalogue.meanings.size()) return bad("a variable has a meaning that is not there");
  }
  return {};
}

Result<void> Catalogue::validate() const {
  const auto bad = [](const char* what) { return fail(ErrorKind::corrupt, std::string("index: ") + what); };
  for (const auto& shape : shapes.values())
    if (shape.size() > kMaxDims) return bad("a shape has too many dimensions");
  uint64_t next_variable = 0;
  for (const FileRow& file : files) {
    if (!is_safe_name(file.name)) return bad("a file's name is not allowed");
    if (file.kind > FileKind::symlink || file.mode > 07777 || file.mtime_ns >= 1'000'000'000)
      return bad("a file's kind, mode or time is impossible");
    if (file.kind != FileKind::regular && (file.size != 0 || file.variable_count != 0))
      return bad("a directory or link has bytes");
    if (file.size > INT64_MAX) return bad("a file is larger than any file can be");
    if (file.first_variable != next_variable || file.variable_count > variables.size() - next_variable)
      return bad("a file's variables are not there");
    next_variable += file.variable_count;
    for (const VariableRow& variable : variables_of(file)) FOREBAY_CHECK(validate_variable(*this, variable, file.size));
    const std::vector<Extent> sorted = sorted_extents(*this, file);
    for (size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i].offset < sorted[i - 1].end()) return bad("two variables of a file overlap");
  }
  if (next_variable != variables.size()) return bad("a variable belongs to no file");
  FOREBAY_CHECK(validate_meanings(*this));
  return validate_globals(*this);
}

bool is_safe_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxPathBytes || name.find('\0') != std::string_view::npos) return false;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view component = name.substr(begin, end - begin);
    if (component.empty() || component == "." || component == "..") return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace forebay
