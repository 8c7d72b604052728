#include "mpiio/mpi/info.h"

#include <forebay/version.h>

namespace forebay::lock::mpiio {

Settings with_hints(const Settings& settings, MPI_Info info) {
  if (info == MPI_INFO_NULL) return settings;
  return with_hints(settings, [info](std::string_view name) -> std::optional<std::string> {
    char value[64] = "";
    int found = 0;
    PMPI_Info_get(info, std::string(name).c_str(), sizeof value - 1, value, &found);
    if (!found) return std::nullopt;
    return value;
  });
}

void show_hints(const Settings& settings, MPI_Info info) {
  PMPI_Info_set(info, "forebay_version", FOREBAY_VERSION);
  for (const Hint& hint : hints_of(settings)) PMPI_Info_set(info, hint.key, hint.value);
}

}  // namespace forebay::lock::mpiio
