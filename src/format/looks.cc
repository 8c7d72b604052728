#include "format/looks.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace forebay::format {
namespace {

using std::string_view_literals::operator""sv;

struct Sign {
  std::string_view bytes, words;
  size_t at = 0;
};

// Formats that readers know are among them: files are stored unread on request, or where a reader cannot follow them.
constexpr Sign kSigns[] = {
    {"\x89HDF\r\n\x1a\n"sv, "HDF5, stored unread"},
    {"CDF\x01"sv, "NetCDF, stored unread"},
    {"CDF\x02"sv, "NetCDF, stored unread"},
    {"CDF\x05"sv, "NetCDF, stored unread"},
    {"\x93NUMPY"sv, "an array of NumPy, stored unread"},
    {"LammpS RestartT"sv, "a restart file of LAMMPS"},
    {"\x00\x02\x9f\x29"sv, "a checkpoint of GROMACS"},
    {"\x00\x00\x07\xc9"sv, "a trajectory of GROMACS (trr)"},
    {"\x00\x00\x07\xcb"sv, "a trajectory of GROMACS (xtc)"},
    {"\xff\xff\x26\xfd"sv, "energies of GROMACS (edr)"},
    {"PK\x03\x04"sv, "a zip archive"},
    {"ustar"sv, "a tar archive", 257},
    {"\x1f\x8b"sv, "gzip"},
    {"\x28\xb5\x2f\xfd"sv, "zstd"},
    {"\xfd"
     "7zXZ\x00"sv,
     "xz"},
    {"BZh"sv, "bzip2"},
    {"<?xml"sv, "XML"},
    {"\x7f"
     "ELF"sv,
     "a program"},
};
constexpr std::string_view kFoam = "FoamFile";  // behind a comment

bool has_at(std::string_view head, size_t at, std::string_view bytes) {
  return head.size() >= at && head.substr(at).starts_with(bytes);
}

// Bytes of UTF-8 without control characters, but for the last ones, which may be cut.
bool is_text(std::string_view head) {
  return std::ranges::all_of(head, [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte >= 0x20 ? byte != 0x7f : byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f';
  });
}

// Unformatted records of Fortran: each has its length before and behind it, in 4 bytes.
bool has_records(std::string_view head, uint64_t size, bool swapped) {
  const auto length_at = [&](size_t at) {
    uint32_t value = 0;
    std::memcpy(&value, head.data() + at, sizeof value);
    return swapped ? __builtin_bswap32(value) : value;
  };
  if (head.size() < 8) return false;
  const uint32_t length = length_at(0);
  return length > 0 && uint64_t{length} + 8 <= std::min<uint64_t>(size, head.size()) &&
         length_at(size_t{length} + 4) == length;
}

}  // namespace

std::string_view looks_like(std::span<const std::byte> bytes, uint64_t size) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (size == 0) return "an empty file";
  if (head.empty()) return "what could not be read";
  for (const Sign& sign : kSigns)
    if (has_at(head, sign.at, sign.bytes)) return sign.words;
  if (head.find(kFoam) != head.npos) return "a file of OpenFOAM";
  if (is_text(head)) return "text";
  if (has_records(head, size, false)) return "unformatted records of Fortran";
  if (has_records(head, size, true)) return "unformatted records of Fortran (big-endian)";
  return "raw binary";
}

}  // namespace forebay::format
