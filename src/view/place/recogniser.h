// Recognisers: which files of a set say where the blocks of arrays lie. What they read is hostile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "format/attributes.h"
#include "view/place/arrays.h"
#include "view/place/groups.h"

namespace forebay::view {

// What a recogniser may look at, beside catalogues. Thread-safe.
class SetLook {
 public:
  virtual ~SetLook() = default;

  virtual const engine::OpenSet& set() const = 0;

  // All of a file, which has at most `most_bytes`: limit if it has more. corrupt.
  virtual Result<Bytes> file(size_t container, uint32_t file, uint64_t most_bytes) const = 0;

  // The attributes of a file, as format::read_attributes() has them.
  virtual Result<format::FileAttributes> attributes(size_t container, uint32_t file) const = 0;

  // What the process groups in it say, if it is a file of adaptable I/O; nothing of others. corrupt, limit.
  virtual Result<GroupContents> groups(size_t container, uint32_t file) const = 0;

  // All elements of a stored array, in the machine's byte order; likewise.
  virtual Result<Bytes> values(const StoredArray& stored, uint64_t most_bytes) const = 0;
};

// A file of a set with its variables; the set must outlive it.
struct SetFile {
  size_t container = 0;
  uint32_t file = 0;
  const FileRow* row = nullptr;
  std::map<std::string_view, uint64_t> variables;  // path: its place among the stored arrays

  std::optional<uint64_t> find(std::string_view path) const;
};

// All files that have variables, in the order of the stored arrays.
std::vector<SetFile> files_with_variables(const engine::OpenSet& set, std::span<const StoredArray> stored);

// What one set is found to be: arrays of those of `arrays.stored` that are taken, and when it was written.
struct Recognised {
  Arrays arrays;
  std::vector<SetFile> files;  // files_with_variables() of arrays.stored
  std::vector<bool> is_taken;  // for each of arrays.stored
  std::optional<double> time;
  uint32_t time_index = 0;  // as ADIOS counts; 0: not known
};

// A file of the set by its name; nothing if there is none.
struct FileAt {
  size_t container = 0;
  uint32_t file = 0;
};
std::optional<FileAt> find_file(const engine::OpenSet& set, std::string_view name);

// Takes what it knows. False, and nothing changed, if the set is none of its own, or makes no sense as one, for which a
// remark is left. Errors are those of reading.
using Recogniser = Result<bool> (*)(const SetLook& look, Recognised& found);

// All of them, in the order in which they are asked; the first that answers true is the last that is asked.
std::span<const Recogniser> recognisers();

Result<bool> recognise_groups(const SetLook& look, Recognised& found);
Result<bool> recognise_enzo(const SetLook& look, Recognised& found);
Result<bool> recognise_flash(const SetLook& look, Recognised& found);
Result<bool> recognise_athena(const SetLook& look, Recognised& found);
Result<bool> recognise_carpet(const SetLook& look, Recognised& found);
Result<bool> recognise_amrex(const SetLook& look, Recognised& found);
Result<bool> recognise_amrex_hdf5(const SetLook& look, Recognised& found);
Result<bool> recognise_openfoam(const SetLook& look, Recognised& found);
Result<bool> recognise_openpmd(const SetLook& look, Recognised& found);
Result<bool> recognise_wrf(const SetLook& look, Recognised& found);
Result<bool> recognise_nemo(const SetLook& look, Recognised& found);
Result<bool> recognise_subfiles(const SetLook& look, Recognised& found);

}  // namespace forebay::view
