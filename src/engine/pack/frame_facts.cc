#include "engine/pack/frame_facts.h"

namespace forebay::engine {

FrameFacts crc_facts(const merge::Plan& plan, const RawFrame& frame) {
  FrameFacts facts;
  const auto add = [&](uint32_t file, uint64_t offset, std::span<const std::byte> bytes) -> Result<void> {
    if (facts.files.empty() || facts.files.back().file != file)
      facts.files.push_back({file, FileCrc(plan.catalogue().files[file].size)});
    facts.files.back().crc.add(offset, bytes);
    return {};
  };
  (void)for_each_piece(plan, frame, add);  // add() never fails
  return facts;
}

FrameFacts all_facts(const merge::Plan& plan, const RawFrame& frame, const RunningCubes& cubes) {
  FrameFacts facts = crc_facts(plan, frame);
  const Catalogue& catalogue = plan.catalogue();
  size_t at = 0;
  for (const merge::Slice& slice : frame.slices) {
    const auto bytes = frame.raw.span().subspan(at, slice.length);
    at += slice.length;
    if (slice.stream.variable >= merge::kSkeleton) continue;
    const VariableRow& variable = catalogue.variables[slice.stream.variable];
    const bool whole_elements = slice.begin % variable.type.size == 0 && slice.length % variable.type.size == 0;
    if (variable.filtered || !variable.type.is_number() || !whole_elements) continue;
    const Meaning meaning = parse_meaning(catalogue.meaning_of(slice.stream.variable)).value_or(Meaning{});
    facts.variables.push_back({slice.stream.variable, container::characterise(variable.type, bytes, meaning)});
    if (cubes.has(slice.stream.variable))
      facts.cubes.push_back(
          {slice.stream.variable, container::cubes_of(variable.type, catalogue.shapes[variable.shape],
                                                      slice.begin / variable.type.size, bytes, meaning)});
  }
  return facts;
}

RunningFacts::RunningFacts(const Catalogue& catalogue)
    : catalogue_(catalogue), characteristics_(catalogue.variables.size()) {
  crcs_.reserve(catalogue.files.size());
  for (const FileRow& file : catalogue.files) crcs_.emplace_back(file.size);
}

void RunningFacts::add(const FrameFacts& facts) {
  for (const auto& [file, crc] : facts.files) crcs_[file].merge(crc);
  for (const auto& [variable, values] : facts.variables) characteristics_[variable].merge(values);
}

std::vector<uint64_t> RunningFacts::file_crcs() const {
  std::vector<uint64_t> values;
  values.reserve(crcs_.size());
  for (const FileCrc& crc : crcs_) values.push_back(crc.value());
  return values;
}

bool RunningFacts::is_whole(uint32_t file) const { return crcs_[file].bytes_seen() == catalogue_.files[file].size; }

}  // namespace forebay::engine
