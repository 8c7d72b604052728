// Files of ADIOS 1.9 to 1.13 (BP version 3): what their indices say. The bytes are hostile; time and memory are bounded
// by the size of the indices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/error.h"

namespace forebay::bp {

// The last bytes of a file.
struct Footer {
  uint64_t groups = 0, variables = 0, attributes = 0;  // where the indices begin; process groups end at `groups`
  bool big_endian = false;                             // the machine that wrote it
  bool has_subfiles = false;                           // the data lie in NAME.dir/NAME.N
};

constexpr uint32_t kThisFile = 0xFFFFFFFF;    // a block's file is not one of the subfiles
constexpr uint64_t kJoined = UINT64_MAX - 1;  // global size of a dimension along which blocks are joined

struct ProcessGroup {
  std::string group;
  bool fortran_order = false;
  uint32_t rank = 0;
  std::string time_name;  // may be empty
  uint32_t time = 0;      // from 1
  uint64_t offset = 0;    // in its file, which in a file with subfiles is not said which one it is
};

struct Dimension {
  uint64_t local = 0, global = 0, offset = 0;
  bool operator==(const Dimension&) const = default;
};

// Of the finite values of a block that is no complex one. All that ADIOS calls full statistics.
struct Statistics {
  double min = 0, max = 0, sum = 0, sum_of_squares = 0;
  uint64_t count = 0;
};

// What the indices say of one block of a variable, or of one copy of an attribute.
struct Entry {
  uint64_t offset = 0, payload = 0;  // where its record in a process group and its data begin, in its file
  uint32_t file = kThisFile;         // or the number of the subfile
  uint32_t time = 0;
  uint8_t type = 0;                   // of the values before any transform: ADIOS's number
  std::vector<Dimension> dimensions;  // as the program counts them, time included; empty: a scalar
  std::string transform;              // its name; empty: none
  Bytes transform_metadata;           // what it wrote down (bp/transform.h)
  uint64_t stored_bytes = 0;          // with a transform: of the block's data in the file
  std::optional<Bytes> value;  // of scalars and attributes, in the machine's byte order; strings of a list end in 0
  uint64_t count = 1;          // how many values an attribute has
  std::optional<uint32_t> reference;  // id of the variable whose value an attribute has
  std::optional<Statistics> statistics;
};

struct Variable {  // or attribute
  uint32_t id = 0;
  std::string group;
  std::string name;  // with the path: "/a/b"
  uint8_t type = 0;
  std::vector<Entry> entries;  // in the order of the file
};

struct Index {
  Footer footer;
  std::vector<ProcessGroup> groups;
  std::vector<Variable> variables, attributes;
};

constexpr uint64_t kMemoryFactor = 16;

// What the end of a file says; nothing if it is no BP file. unsupported: a later version of the format. Errors of
// read_at().
Result<std::optional<Footer>> read_footer(const ByteSource& source);

// The three indices, of up to `most_bytes` together; what comes of them takes up to kMemoryFactor times that memory.
// corrupt (with the place in the file), unsupported, limit; invalid_argument if it is no BP file; errors of read_at().
Result<Index> read_index(const ByteSource& source, uint64_t most_bytes);

// The bytes of an element, 1 of a string; 0 for a type that is not known and for lists of strings.
uint64_t element_bytes(uint8_t type);

// Turns elements of that type round from the other byte order.
void swap_elements(uint8_t type, std::span<std::byte> bytes);

// Where the file with that number lies: "DIR/NAME.dir/NAME.7".
std::string subfile_path(const std::string& path, uint32_t number);

}  // namespace forebay::bp
