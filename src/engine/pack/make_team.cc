#include "engine/pack/make_team.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <dlfcn.h>

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
  std::error_code ignored;
  return (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / FOREBAY_MPI_MODULE).string();
}

Result<std::unique_ptr<Team>> load_mpi_team() {
  const std::string path = module_path();
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);  // never closed: MPI would not bear it
  void* const make = module ? ::dlsym(module, "forebay_make_mpi_team") : nullptr;
  if (!make) return fail(ErrorKind::unsupported, std::string("the MPI module cannot be loaded: ") + ::dlerror(), path);
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
