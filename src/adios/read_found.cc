// What a rank found in a file, as it tells others.
#include <nlohmann/json.hpp>
#include <span>

#include "adios/read_file.h"

namespace forebay::adios {
namespace {

using Json = nlohmann::json;

Json to_json(const ReadVariable& variable) {
  Json places = Json::array();
  for (const ReadPlace& place : variable.places) places.push_back({place.step, place.array, place.blocks});
  return {variable.name,  variable.group, static_cast<int>(variable.type), static_cast<int>(variable.form),
          variable.shape, places};
}

ReadVariable variable_of(const Json& json) {
  ReadVariable variable{.name = json.at(0), .group = json.at(1)};
  variable.type = io::value_type(json.at(2)).value();
  variable.form = static_cast<view::Form>(json.at(3).get<uint8_t>());
  variable.shape = Shape(json.at(4).begin(), json.at(4).end());
  for (const Json& place : json.at(5)) variable.places.push_back({place.at(0), place.at(1), place.at(2)});
  return variable;
}

Json to_json(const view::Attribute& attribute) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(attribute.value.data());
  return {attribute.name,
          attribute.group,
          static_cast<int>(*attribute.type.value),
          attribute.count,
          Json::binary({bytes, bytes + attribute.value.size()}),
          attribute.variable};
}

view::Attribute attribute_of(const Json& json) {
  view::Attribute attribute{.name = json.at(0), .group = json.at(1)};
  attribute.type = view::element_type(io::value_type(json.at(2)).value());
  attribute.count = json.at(3);
  const auto bytes = std::as_bytes(std::span(json.at(4).get_binary()));
  attribute.value.assign(bytes.begin(), bytes.end());
  attribute.variable = json.at(5);
  return attribute;
}

// Of each step, the set that it lies in: between two looks at a store, sets may have been removed.
Json sets_of(const view::Run& run, size_t steps) {
  Json sets = Json::array();
  for (const view::StepInfo& step : run.steps())
    if (sets.size() < steps) sets.push_back(step.set);
  return sets;
}

}  // namespace

Bytes ReadFile::found() const {
  Json all = {Json::array(), Json::array(), sets_of(run(), SIZE_MAX)};
  for (const ReadVariable& variable : variables) all[0].push_back(to_json(variable));
  for (const view::Attribute& attribute : attributes) all[1].push_back(to_json(attribute));
  const std::vector<uint8_t> packed = Json::to_msgpack(all);
  const auto bytes = std::as_bytes(std::span(packed));
  return {bytes.begin(), bytes.end()};
}

io::Outcome<void> ReadFile::take_found(std::span<const std::byte> bytes) {
  variables.clear();
  attributes.clear();
  try {
    const auto* const begin = reinterpret_cast<const uint8_t*>(bytes.data());
    const Json all = Json::from_msgpack(begin, begin + bytes.size());
    if (sets_of(run(), all.at(2).size()) != all.at(2))
      return refuse_reading(err_file_read_error, path + " has other sets here than on rank 0",
                            "sets were removed meanwhile: open it again");
    for (const Json& variable : all.at(0)) variables.push_back(variable_of(variable));
    for (const Json& attribute : all.at(1)) attributes.push_back(attribute_of(attribute));
  } catch (const std::exception& error) {  // of Json, and of std::optional
    return refuse_reading(err_unspecified, std::string("what rank 0 found cannot be understood: ") + error.what());
  }
  show_all();
  return {};
}

}  // namespace forebay::adios
