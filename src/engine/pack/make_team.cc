#include "engine/pack/make_team.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <dlfcn.h>

#include "base/posix/own_code.h"

namespace forebay::engine {
namespace {

// What launchers leave in the environment: MPICH and Slurm, PMIx, Open MPI.
bool started_by_launcher() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"})
    if (std::getenv(name)) return true;
  return false;
}

#ifdef FOREBAY_MPI_MODULE
// The module's place is told relative to the program's, so that an installation can be moved.
std::string module_path() {
  return (std::filesystem::path(own_command()).parent_path() / FOREBAY_MPI_MODULE).lexically_normal().string();
}

Result<std::unique_ptr<Team>> load_mpi_team() {
  const std::string path = module_path();
  const auto unusable = [&](const std::string& why, const std::string& hint) {
    return fail(ErrorKind::unsupported, "the MPI module cannot be loaded: " + why, path, {}, hint);
  };
  const auto module = load_code(path, RTLD_NOW | RTLD_GLOBAL);  // never closed: MPI would not bear it
  if (!module) return unusable(module.error().what, module.error().hint);
  void* const make = ::dlsym(*module, "forebay_make_mpi_team");
  if (make == nullptr) return unusable("it has no function forebay_make_mpi_team", {});
  return std::unique_ptr<Team>(reinterpret_cast<Team* (*)()>(make)());
}
#else
Result<std::unique_ptr<Team>> load_mpi_team() {
  for (const char* name : {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE"})
    if (const char* size = std::getenv(name); size && std::string(size) != "1")
      return fail(ErrorKind::unsupported, "this build of Forebay has no MPI", {}, {},
                  "run it without mpiexec, or build it with -DFOREBAY_MPI=ON");
  return std::make_unique<SoloTeam>();
}
#endif

}  // namespace

Result<std::unique_ptr<Team>> make_team() {
  if (started_by_launcher()) return load_mpi_team();
  return std::make_unique<SoloTeam>();
}

}  // namespace forebay::engine
