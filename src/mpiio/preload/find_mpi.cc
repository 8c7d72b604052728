#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/posix/trust.h"
#include "mpiio/preload/dispatch.h"

namespace forebay::mpiio {
namespace {

// Nothing intercepts these: the profiling interface's names are the library's own.
constexpr const char* kVersion = "PMPI_Get_library_version";

// Looks into each loaded object that may be an MPI library: one that was loaded for itself alone (RTLD_LOCAL), as
// Python does, is not found by name of a symbol.
int inspect(dl_phdr_info* object, size_t, void* found) {
  const char* base = strrchr(object->dlpi_name, '/');
  base = base ? base + 1 : object->dlpi_name;
  if (!strstr(base, "mpi")) return 0;
  void* library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return 0;
  if (void* version = dlsym(library, kVersion)) *static_cast<void**>(found) = version;
  dlclose(library);
  return *static_cast<void**>(found) != nullptr;
}

void* version_function() {
  void* found = dlsym(RTLD_DEFAULT, kVersion);
  if (!found) dl_iterate_phdr(inspect, &found);
  return found;
}

// The library's symbols become visible to what is loaded from now on: the module is not linked with it.
void* open_global(void* function) {
  Dl_info where;
  if (!dladdr(function, &where)) return nullptr;
  return dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

bool contains(const char* text, const char* part) { return strstr(text, part) != nullptr; }

// Null if no module is made for a library that describes itself like this.
const char* module_for(const char* version) {
  if (contains(version, "Open MPI")) return "forebay-mpiio-openmpi.so";
  // MPICH, and those with its binary interface.
  constexpr const char* kMpich[] = {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"};
  for (const char* name : kMpich)
    if (contains(version, name)) return "forebay-mpiio-mpich.so";
  return nullptr;
}

const char* text_of(Doubt doubt) {
  switch (doubt) {
    case Doubt::foreign_owner:
      return "belongs to another user";
    case Doubt::writable_by_group:
    case Doubt::writable_by_all:
      return "can be written by others";
    case Doubt::not_a_file:
      return "is not a regular file";
    default:
      return "is not there";
  }
}

// forebay/NAME in the directory of this library, if nobody else can have put it there (base/posix/trust.h).
void* open_module(const char* name, char (&error)[512]) {
  Dl_info self;
  char own[PATH_MAX], path[PATH_MAX + 64], real[PATH_MAX];
  if (!dladdr(reinterpret_cast<void*>(find_mpi), &self) || !realpath(self.dli_fname, own)) return nullptr;
  snprintf(path, sizeof path, "%.*s/forebay/%s", static_cast<int>(strrchr(own, '/') - own), own, name);
  Doubted found;
  if (realpath(path, real)) {
    look_for_doubt(real, own, trust_of_process(own), found);
  } else {
    found.doubt = Doubt::not_found;
    snprintf(found.path, sizeof found.path, "%.*s", static_cast<int>(sizeof found.path - 1), path);
  }
  if (found.doubt != Doubt::none) {
    snprintf(error, sizeof error, "%.400s %s", found.path, text_of(found.doubt));
    return nullptr;
  }
  void* module = dlopen(real, RTLD_NOW | RTLD_LOCAL);
  if (!module) snprintf(error, sizeof error, "%s", dlerror());
  return module;
}

bool is(const char* variable, const char* value) {
  const char* is_set = getenv(variable);
  return is_set && strcmp(is_set, value) == 0;
}

// Whoever asked for atomic files everywhere has to be told that they are not.
void complain(const char* why) {
  if (is("FOREBAY_MPIIO_ATOMIC", "always")) fprintf(stderr, "forebay: files are not made atomic: %s\n", why);
}

Mpi find() {
  Mpi mpi;
  void* function = version_function();
  if (!function) return complain("no MPI library is loaded"), mpi;
  mpi.library = open_global(function);
  if (is("FOREBAY_MPIIO_ATOMIC", "never") && !is("FOREBAY_MPIIO_NONATOMIC", "safe")) return mpi;

  static char version[16384];  // MPI_MAX_LIBRARY_VERSION_STRING is at most 8192 in any MPI
  int length = 0;
  reinterpret_cast<int (*)(char*, int*)>(function)(version, &length);
  const char* name = module_for(version);
  if (!name) return complain("this MPI library is not known"), mpi;
  char error[512] = "";
  mpi.module = open_module(name, error);
  if (!mpi.module) complain(error);
  return mpi;
}

Mpi the_mpi;
pthread_once_t once = PTHREAD_ONCE_INIT;

}  // namespace

const Mpi& find_mpi() {
  pthread_once(&once, [] { the_mpi = find(); });
  return the_mpi;
}

}  // namespace forebay::mpiio
