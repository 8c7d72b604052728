// Prints all that a file of process groups has, for the judges: one JSON document, values in hexadecimal.
//
// usage: dump FILE
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "io/file/file_reader.h"

namespace forebay::io {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30;

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += kDigits[static_cast<unsigned>(byte) >> 4];
    text += kDigits[static_cast<unsigned>(byte) & 15];
  }
  return text;
}

Result<nlohmann::json> block_json(const StoredPart& part, size_t number, const Place& place) {
  const Block& block = part.group().blocks[number];
  Bytes bytes(part.bytes(number));
  FOREBAY_CHECK(part.read(number, bytes));
  nlohmann::json json{{"name", block.name}, {"type", static_cast<int>(block.type)}, {"is_array", block.is_array},
                      {"shape", place.shape}, {"global", place.global_shape}, {"offsets", place.offsets},
                      {"transform", block.transform}, {"data", hexadecimal(bytes)}};
  const container::Characteristics& found = block.characteristics;
  if (found.count > 0) json["bounds"] = {found.min, found.max};
  json["infinities"] = found.infinities;
  return json;
}

Result<nlohmann::json> part_json(const FileReader& file, size_t number) {
  const ListedPart& listed = file.listing().parts[number];
  const Pattern& pattern = file.listing().patterns[listed.pattern];
  FOREBAY_TRY(const StoredPart part, file.open_part(number));
  nlohmann::json json{{"rank", listed.rank}, {"step", listed.step}, {"time_index", listed.time_index},
                      {"group", part.group().group}, {"blocks", nlohmann::json::array()}};
  for (size_t i = 0; i < part.group().blocks.size(); ++i) {
    FOREBAY_TRY(auto block, block_json(part, i, file.listing().place(listed, pattern.writes[i].slot)));
    json["blocks"].push_back(std::move(block));
  }
  return json;
}

Result<nlohmann::json> file_json(const std::string& path) {
  FOREBAY_TRY(const std::unique_ptr<FileReader> file, FileReader::open(path, kMostBytes));
  nlohmann::json json{{"steps", file->steps()}, {"is_torn", file->is_torn()}, {"parts", nlohmann::json::array()},
                      {"attributes", nlohmann::json::array()}};
  for (size_t i = 0; i < file->listing().parts.size(); ++i) {
    FOREBAY_TRY(auto part, part_json(*file, i));
    json["parts"].push_back(std::move(part));
  }
  for (const ListedAttribute& attribute : file->listing().attributes)
    json["attributes"].push_back({{"name", attribute.value.name}, {"type", static_cast<int>(attribute.value.type)},
                                  {"count", attribute.value.count}, {"value", hexadecimal(attribute.value.value)},
                                  {"variable", attribute.value.variable}, {"step", attribute.step}});
  return json;
}

int run(const char* path) {
  const Result<nlohmann::json> json = file_json(path);
  if (!json) return std::fprintf(stderr, "%s\n", json.error().message().c_str()), 1;
  std::puts(json->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  return 0;
}

}  // namespace
}  // namespace forebay::io

int main(int argc, char** argv) { return argc == 2 ? forebay::io::run(argv[1]) : 2; }
