#include "view/place/recogniser.h"

#include <array>

namespace forebay::view {

std::optional<FileAt> find_file(const engine::OpenSet& set, std::string_view name) {
  for (size_t c = 0; c < set.containers.size(); ++c) {
    const auto& files = set.containers[c].catalogue().files;
    for (uint32_t f = 0; f < files.size(); ++f)
      if (files[f].name == name) return FileAt{c, f};
  }
  return {};
}

std::optional<uint64_t> SetFile::find(std::string_view path) const {
  const auto found = variables.find(path);
  return found == variables.end() ? std::nullopt : std::optional(found->second);
}

std::vector<SetFile> files_with_variables(const engine::OpenSet& set, std::span<const StoredArray> stored) {
  std::vector<SetFile> files;
  for (size_t i = 0; i < stored.size(); ++i) {
    const Catalogue& catalogue = set.containers[stored[i].container].catalogue();
    if (files.empty() || files.back().container != stored[i].container || files.back().file != stored[i].file)
      files.push_back({stored[i].container, stored[i].file, &catalogue.files[stored[i].file], {}});
    files.back().variables.emplace(catalogue.paths[catalogue.variables[stored[i].variable].path], i);
  }
  return files;
}

std::span<const Recogniser> recognisers() {
  static constexpr std::array kAll{recognise_groups,  recognise_enzo,  recognise_flash,      recognise_athena,
                                   recognise_carpet,  recognise_amrex, recognise_amrex_hdf5, recognise_openfoam,
                                   recognise_openpmd, recognise_wrf,   recognise_nemo,       recognise_subfiles};
  return kAll;
}

}  // namespace forebay::view
