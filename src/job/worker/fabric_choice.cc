#include "job/worker/fabric_choice.h"

#include <array>
#include <utility>

namespace forebay::job {

std::optional<FabricChoice> parse_fabric_choice(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, FabricChoice>, 4> kNames{{{"auto", FabricChoice::automatic},
                                                                             {"node", FabricChoice::node},
                                                                             {"stream", FabricChoice::stream},
                                                                             {"ucx", FabricChoice::ucx}}};
  for (const auto& [known, choice] : kNames)
    if (known == name) return choice;
  return std::nullopt;
}

}  // namespace forebay::job
