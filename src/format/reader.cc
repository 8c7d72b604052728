#include "format/reader.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "format/fab_reader.h"
#include "format/fortran_reader.h"
#include "format/hdf5_reader.h"
#include "format/lammps_reader.h"
#include "format/netcdf_reader.h"
#include "format/npy_reader.h"
#include "format/openfoam_reader.h"
#include "format/raw_description.h"
#include "format/safetensors_reader.h"
#include "format/trr_reader.h"

namespace forebay::format {

std::span<const FormatReader* const> all_readers() {
  static const NpyReader npy;
  static const NpzReader npz;
  static const NetcdfReader netcdf;
  static const SafetensorsReader safetensors;
  static const OpenFoamReader openfoam;
  static const FabReader fab;
  static const LammpsReader lammps;
  static const TrrReader trr;
  static const FortranReader fortran;
  static const Hdf5Reader hdf5;
  // HDF5 last: its signature may stand far inside the file, where only it looks. Fortran's records have no signature.
  static const std::array<const FormatReader*, 10> readers = {&netcdf, &npy,    &npz, &safetensors, &openfoam,
                                                              &fab,    &lammps, &trr, &fortran,     &hdf5};
  return readers;
}

namespace {

// Whether the error speaks of what the file says, and not of the failure to read it.
bool is_about_content(const Error& error) {
  return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::unsupported || error.kind == ErrorKind::limit;
}

Result<ReadLayout> opaque(std::string remark = {}) {
  return ReadLayout{.layout = {.format = "opaque", .variables = {}}, .remark = std::move(remark)};
}

// Whoever shows a remark names the file that it is on.
std::string remark_of(Error error, const ByteSource& source) {
  if (error.path == source.name()) error.path.clear();
  return error.message();
}

Result<ReadLayout> finish(Result<Layout> layout, const ByteSource& source) {
  if (!layout && is_about_content(layout.error())) return opaque(remark_of(layout.error(), source));
  if (!layout) return std::unexpected(layout.error());
  ReadLayout read{.layout = std::move(*layout), .remark = {}};
  const size_t dropped = normalise(read.layout, source.size());
  if (dropped > 0) read.remark = fmt::format("{} variables do not fit the file and were left out", dropped);
  return read;
}

// The layout that `description` gives the file, or nothing if it does not speak of it.
Result<std::optional<Layout>> read_described(const ByteSource& source, std::string_view name,
                                             std::string_view description) {
  if (description.empty()) return std::optional<Layout>();
  FOREBAY_TRY(const std::vector<RawFile> files, parse_raw_description(description));
  const RawFile* file = find_raw_file(files, std::string(name));
  if (!file) return std::optional<Layout>();
  FOREBAY_TRY(Layout layout, lay_out_raw(*file, source.size()));
  return std::optional(std::move(layout));
}

}  // namespace

// What the user says about a file counts more than what the file looks like.
Result<ReadLayout> read_layout(const ByteSource& source, std::string_view name, const FormatOptions& options,
                               std::string_view own_description) {
  constexpr uint64_t kHeadBytes = 4096;
  if (options.opaque) return opaque();
  for (const std::string_view description : {own_description, std::string_view(options.raw_description)}) {
    Result<std::optional<Layout>> described = read_described(source, name, description);
    if (!described) return finish(std::unexpected(described.error()), source);
    if (*described) return finish(std::move(**described), source);
  }
  std::vector<std::byte> head(std::min(source.size(), kHeadBytes));
  FOREBAY_CHECK(source.read_at(0, head));
  for (const auto readers : {options.more, all_readers()})
    for (const FormatReader* reader : readers) {
      FOREBAY_TRY(const bool matches, reader->matches(head, source));
      if (matches) return finish(reader->read(source), source);
    }
  return opaque();
}

}  // namespace forebay::format
