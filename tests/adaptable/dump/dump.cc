// adaptable_dump FILE [--values | --bytes OUT]: everything that a file of process groups says, as JSON, for tests that
// compare it with what others read; --bytes: the bytes of all values go to OUT, one block after another in the order of
// the JSON. Exits with 1 and a message if anything cannot be read.
#include <cerrno>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "io/file/file_reader.h"

using namespace forebay;
using Json = nlohmann::ordered_json;

namespace {

template <class T>
T loaded(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json text(std::span<const std::byte> bytes) {
  std::string hex;
  for (const std::byte b : bytes) {
    if (std::to_integer<unsigned>(b) >= 128) hex = "hex:";
  }
  if (hex.empty()) return std::string(as_text(bytes));
  for (const std::byte b : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(b));
    hex += digits;
  }
  return hex;
}

struct Shown {
  bool values = false;       // of arrays, too
  std::FILE* out = nullptr;  // gets the bytes of all blocks, if there is one
};

// A float prints with as many digits as tell it from all others, not as the double nearest to it.
Json element(io::ValueType type, const std::byte* at) {
  switch (type) {
    case io::ValueType::int8:
      return loaded<int8_t>(at);
    case io::ValueType::int16:
      return loaded<int16_t>(at);
    case io::ValueType::int32:
      return loaded<int32_t>(at);
    case io::ValueType::int64:
      return loaded<int64_t>(at);
    case io::ValueType::uint8:
      return loaded<uint8_t>(at);
    case io::ValueType::uint16:
      return loaded<uint16_t>(at);
    case io::ValueType::uint32:
      return loaded<uint32_t>(at);
    case io::ValueType::uint64:
      return loaded<uint64_t>(at);
    case io::ValueType::float32:
      return number(loaded<float>(at));
    case io::ValueType::float64:
      return number(loaded<double>(at));
    case io::ValueType::long_double:
      return number(static_cast<double>(loaded<long double>(at)));
    case io::ValueType::complex64:
      return {number(loaded<float>(at)), number(loaded<float>(at + 4))};
    case io::ValueType::complex128:
      return {number(loaded<double>(at)), number(loaded<double>(at + 8))};
    default:
      return nullptr;
  }
}

// A string, a list of strings, or a list of elements.
Json values(io::ValueType type, std::span<const std::byte> bytes) {
  if (type == io::ValueType::string) return text(bytes);
  Json list = Json::array();
  if (type == io::ValueType::string_array) {
    while (!bytes.empty()) {
      const size_t length = std::min(as_text(bytes).find('\0'), bytes.size());
      list.push_back(text(bytes.first(length)));
      bytes = bytes.subspan(std::min(length + 1, bytes.size()));
    }
    return list;
  }
  const size_t size = io::element_bytes(type);
  for (size_t at = 0; at + size <= bytes.size(); at += size) list.push_back(element(type, bytes.data() + at));
  return list;
}

Json characteristics(const container::Characteristics& c) {
  return {{"count", c.count},
          {"min", number(c.min)},
          {"max", number(c.max)},
          {"sum", number(c.sum)},
          {"sum_of_squares", number(c.sum_of_squares)},
          {"nans", c.nans},
          {"infinities", c.infinities}};
}

Json attribute(const io::AttributeValue& value) {
  Json json = {{"name", value.name}, {"type", io::to_string(value.type)}, {"count", value.count}};
  if (value.variable.empty()) {
    json["value"] = values(value.type, value.value);
  } else {
    json["variable"] = value.variable;
  }
  return json;
}

Result<Json> block_of(const io::StoredPart& part, size_t i, const Shown& shown) {
  const io::Block& block = part.group().blocks[i];
  Json json = {{"name", block.name},
               {"type", io::to_string(block.type)},
               {"array", block.is_array},
               {"shape", block.shape},
               {"global_shape", block.global_shape},
               {"offsets", block.offsets},
               {"transform", block.transform},
               {"bytes", part.bytes(i)},
               {"stored_bytes", part.stored_bytes(i)},
               {"characteristics", characteristics(block.characteristics)}};
  if (!block.histogram.empty()) {
    json["histogram"] = block.histogram;
    json["breaks"] = block.breaks;
  }
  Bytes bytes(part.bytes(i));
  FOREBAY_CHECK(part.read(i, bytes));
  if (shown.out && std::fwrite(bytes.data(), 1, bytes.size(), shown.out) != bytes.size())
    return fail_errno(errno, "fwrite", "the file for the bytes");
  if (shown.values || !block.is_array) json["values"] = values(block.type, bytes);
  return json;
}

Result<Json> part_of(const io::FileReader& reader, size_t number, const Shown& shown) {
  const io::ListedPart& listed = reader.listing().parts[number];
  FOREBAY_TRY(const io::StoredPart part, reader.open_part(number));
  const io::ProcessGroup& group = part.group();
  Json json = {{"group", group.group},
               {"step", group.step},
               {"time_index", group.time_index},
               {"rank", group.rank},
               {"fortran_order", group.fortran_order},
               {"file", reader.listing().files[listed.file].name},
               {"offset", listed.offset},
               {"bytes", listed.bytes}};
  for (size_t i = 0; i < group.blocks.size(); ++i) {
    FOREBAY_TRY(Json block, block_of(part, i, shown));
    json["blocks"].push_back(std::move(block));
  }
  for (const io::AttributeValue& value : group.attributes) json["attributes"].push_back(attribute(value));
  return json;
}

Result<Json> dump(const std::string& path, const Shown& shown) {
  FOREBAY_TRY(const auto reader, io::FileReader::open(path, uint64_t{1} << 30));
  const io::Listing& listing = reader->listing();
  Json json = {{"steps", reader->steps()},   {"torn", reader->is_torn()},   {"groups", Json::array()},
               {"variables", Json::array()}, {"attributes", Json::array()}, {"parts", Json::array()}};
  for (const io::ListedGroup& group : listing.groups)
    json["groups"].push_back(
        {{"name", group.name}, {"time_index", group.time_index_name}, {"fortran_order", group.fortran_order}});
  for (const io::ListedVariable& variable : listing.variables)
    json["variables"].push_back({{"group", listing.groups[variable.group].name},
                                 {"name", variable.name},
                                 {"type", io::to_string(variable.type)},
                                 {"array", variable.is_array},
                                 {"transform", variable.transform},
                                 {"steps", Json::array()}});
  for (const io::StepCharacteristics& row : listing.characteristics) {
    Json step = {{"step", row.step}, {"blocks", row.blocks}};
    step.update(characteristics(row.values));
    json["variables"][row.variable]["steps"].push_back(std::move(step));
  }
  for (const io::ListedAttribute& listed : listing.attributes) {
    Json one = {{"group", listing.groups[listed.group].name}, {"step", listed.step}};
    one.update(attribute(listed.value));
    json["attributes"].push_back(std::move(one));
  }
  for (size_t i = 0; i < listing.parts.size(); ++i) {
    FOREBAY_TRY(Json part, part_of(*reader, i, shown));
    json["parts"].push_back(std::move(part));
  }
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string option = argc > 2 ? argv[2] : "";
  const bool takes_out = option == "--bytes";
  if (argc < 2 || argc > (takes_out ? 4 : 3) || (argc > 2 && option != "--values" && !(takes_out && argc == 4))) {
    std::fputs("usage: adaptable_dump FILE [--values | --bytes OUT]\n", stderr);
    return 2;
  }
  Shown shown{.values = option == "--values"};
  if (takes_out && !(shown.out = std::fopen(argv[3], "wb"))) return std::perror(argv[3]), 1;
  const auto json = dump(argv[1], shown);
  if (shown.out && std::fclose(shown.out) != 0) return std::perror(argv[3]), 1;
  if (!json) {
    std::fprintf(stderr, "adaptable_dump: %s\n", json.error().message().c_str());
    return 1;
  }
  std::puts(json->dump(1, ' ', false, Json::error_handler_t::replace).c_str());
  return 0;
}
