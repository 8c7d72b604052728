// What a BP file (version 3) consists of, as bytes: process groups without their values, and the indices. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "bp/index.h"

namespace forebay::bp {

// "/a/b" as path and name: "/a", "b". The path of "/b" is "/", that of "b" empty.
std::pair<std::string_view, std::string_view> split_name(std::string_view full);

// Of a variable, as both a process group and the index have it.
struct VariableHead {
  uint32_t id = 0;    // within its group, from 1; attributes are counted with the variables
  std::string group;  // at most kMostText bytes, as the name
  std::string name;   // with its path
  uint8_t type = 0;
};

// Dimensions as characteristics (id 4) of an index or of a block.
void encode_dimensions(const std::vector<Dimension>& dimensions, class Encoder& to);

// A process group up to its first variable. `bytes` is the length of the whole group, `variables` and `variable_bytes`
// those of its blocks together. Always as long for the same names.
Bytes encode_group_head(const ProcessGroup& group, uint64_t bytes, uint32_t variables, uint64_t variable_bytes);

// The entry of a block, up to its values, which have `payload_bytes`. `characteristics` are those that blocks have in
// process groups: `count` of them, encoded.
Bytes encode_block_head(const VariableHead& head, const std::vector<Dimension>& dimensions, uint8_t count,
                        std::span<const std::byte> characteristics, uint64_t payload_bytes);

// An attribute as a process group has it; `value` as Entry::value, `reference` as Entry::reference. Where in the bytes
// its value begins is `value_at`.
struct AttributeBytes {
  Bytes bytes;
  uint64_t value_at = 0;
};
AttributeBytes encode_attribute(const VariableHead& head, uint64_t count, const Bytes& value,
                                std::optional<uint32_t> reference);

// Behind the last variable of a group: how many attributes there are, and their bytes.
Bytes encode_attributes_head(uint32_t attributes, uint64_t bytes);

// Where a block or an attribute lies in the file.
struct Written {
  uint64_t offset = 0, payload = 0;  // of its entry, and of its values
  uint32_t time = 0;                 // 0 of an attribute
};

// The three indices, which grow as blocks are written, in about the memory that they will have as bytes.
class IndexWriter {
 public:
  void add_group(const ProcessGroup& group);

  // Blocks of one variable come in the order of the file. An array has dimensions and the statistics that an Observer
  // has encoded (two characteristics), a scalar or a string its value.
  void add_array(const VariableHead& head, const Written& at, const std::vector<Dimension>& dimensions,
                 std::span<const std::byte> statistics);
  void add_value(const VariableHead& head, const Written& at, std::span<const std::byte> value);
  void add_attribute(const VariableHead& head, const Written& at, uint64_t count, const Bytes& value,
                     std::optional<uint32_t> reference);

  uint64_t bytes() const { return bytes_; }  // of all of them, about

  // The end of a file whose process groups end at `offset`.
  Bytes finish(uint64_t offset) const;

 private:
  struct Entries {
    VariableHead head;
    uint64_t sets = 0;
    Bytes bytes;
  };
  using Table = std::pair<std::vector<Entries>, std::map<std::pair<std::string, std::string>, size_t>>;

  void add(Table& table, const VariableHead& head, uint8_t count, Bytes characteristics);
  static void put(const Table& table, class Encoder& to);

  uint64_t groups_ = 0, bytes_ = 0;
  Bytes group_entries_;
  Table variables_, attributes_;
};

}  // namespace forebay::bp
