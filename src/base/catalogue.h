// The catalogue of one rank group: its files and their variables, as values in compact rows. It is what a container's
// index stores, and from it alone the merge plan is computed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/datatype.h"
#include "base/error.h"
#include "base/layout.h"
#include "base/shape.h"

namespace forebay {

enum class FileKind : uint8_t { regular = 0, directory = 1, symlink = 2 };

struct FileRow {
  std::string name;  // relative to the set's root, '/' between components; any byte but NUL; see is_safe_name()
  FileKind kind = FileKind::regular;
  uint32_t mode = 0644;  // permission bits, 07777
  int64_t mtime_s = 0;
  uint32_t mtime_ns = 0;
  uint64_t size = 0;                                // bytes; 0 unless regular
  std::string link_target;                          // of a symlink, as read from it
  std::string format;                               // Layout::format
  uint32_t rank = 0;                                // the rank that wrote it
  uint32_t first_variable = 0, variable_count = 0;  // a range of Catalogue::variables
};

struct VariableRow {
  uint32_t path = 0;   // index into Catalogue::paths
  uint32_t key = 0;    // index into Catalogue::keys: the variable group
  uint32_t shape = 0;  // index into Catalogue::shapes
  uint32_t block = 0;  // index into Catalogue::shapes: the shape of each extent, equal to `shape` if contiguous
  uint32_t first_extent = 0, extent_count = 0;  // a range of Catalogue::extents
  DataType type;
  bool filtered = false;
  bool partial = false;
};

// A variable's place in a global array that several ranks write.
struct GlobalPlace {
  uint32_t variable = 0;  // index into Catalogue::variables
  uint32_t shape = 0;     // index into Catalogue::shapes: the global array's
  uint32_t offset = 0;    // likewise: where the variable's first element lies, dimension by dimension

  auto operator<=>(const GlobalPlace&) const = default;
};

// What a variable's values mean.
struct VariableMeaning {
  uint32_t variable = 0;  // index into Catalogue::variables
  uint32_t text = 0;      // index into Catalogue::meanings

  auto operator<=>(const VariableMeaning&) const = default;
};

// Values of type T, each stored once and named by its index.
template <class T, class Hash>
class Interned {
 public:
  uint32_t intern(const T& value) {
    const auto [it, is_new] = index_.try_emplace(value, static_cast<uint32_t>(values_.size()));
    if (is_new) values_.push_back(value);
    return it->second;
  }
  const T& operator[](size_t index) const { return values_[index]; }
  size_t size() const { return values_.size(); }
  const std::vector<T>& values() const { return values_; }

 private:
  std::vector<T> values_;
  std::unordered_map<T, uint32_t, Hash> index_;
};

struct ShapeHash {
  size_t operator()(const Shape& shape) const;
};

struct Catalogue {
  std::vector<FileRow> files;
  std::vector<VariableRow> variables;  // file after file
  std::vector<Extent> extents;         // variable after variable
  Interned<std::string, std::hash<std::string>> paths;
  Interned<std::string, std::hash<std::string>> keys;
  Interned<Shape, ShapeHash> shapes;
  std::vector<GlobalPlace> globals;            // of those variables that have one, by variable
  bool are_meanings_known = false;             // whether files were asked for what their values mean
  std::vector<VariableMeaning> with_meanings;  // variables whose values mean something else than they are, in order
  Interned<std::string, std::hash<std::string>> meanings;  // Variable::meaning of these

  std::span<const VariableRow> variables_of(const FileRow& file) const {
    return std::span(variables).subspan(file.first_variable, file.variable_count);
  }
  std::span<const Extent> extents_of(const VariableRow& variable) const {
    return std::span(extents).subspan(variable.first_extent, variable.extent_count);
  }

  // The stored bytes of a variable: the sum of its extents' lengths.
  uint64_t bytes_of(const VariableRow& variable) const;

  // The place of variable number `variable` in a global array; null if it has none.
  const GlobalPlace* global_of(uint32_t variable) const;

  // Variable::meaning of variable number `variable`.
  std::string_view meaning_of(uint32_t variable) const;

  // The byte ranges of a file that belong to no variable, in order.
  std::vector<Extent> skeleton_of(const FileRow& file) const;

  // Appends `file` with the variables of `layout` (already through normalise()); keys[i] is the similarity key of
  // layout.variables[i]. Sets the row's variable range and format.
  void add(FileRow file, const Layout& layout, std::span<const std::string> keys);

  // The bytes of memory that this catalogue holds, roughly.
  uint64_t memory_bytes() const;

  // Whether all indices, ranges, names and extents are as the contracts above say: corrupt if not. Everything read from
  // a container passes through here before it is used.
  Result<void> validate() const;
};

// Whether `name` may name a file of a set: not empty, no leading or trailing '/', no empty, "." or ".." component,
// no NUL, at most kMaxPathBytes bytes.
bool is_safe_name(std::string_view name);

}  // namespace forebay
