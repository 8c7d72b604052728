// What `forebay doctor` has found on this machine: values, taken by doctor_probe.h and judged by doctor_judge.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forebay::cli {

// Why something does not work; empty if it does.
using Failure = std::string;

struct ProcessorFacts {
  unsigned online = 0;   // of the machine
  unsigned allowed = 0;  // of those, on which this process may run (affinity, cpuset)
  double quota = 0;      // processors' worth of time that the control group allows; 0: no limit
  unsigned threads = 0;  // computing threads of Forebay's operations unless --threads is given
};

struct MemoryFacts {  // bytes
  uint64_t total = 0;
  uint64_t available = 0;
  std::optional<uint64_t> group_limit;    // of the control group
  std::optional<uint64_t> address_space;  // ulimit -v
  uint64_t budget = 0;                    // of Forebay's operations unless --memory is given
};

struct SystemFacts {
  std::string kernel;      // "Linux 6.1.0 x86_64"
  std::string huge_pages;  // of transparent ones: "always", "madvise" or "never"; empty if not known
  Failure inotify;
  uint64_t watches = 0;  // inotify watches that a user may have; 0: not known
};

struct LimitFacts {
  uint64_t open_files = 0, most_open_files = 0;  // the soft and the hard limit
  std::optional<uint64_t> locked_memory;         // bytes; nothing: no limit
  std::optional<uint64_t> file_size;             // bytes; nothing: no limit
};

// A library that is loaded when it is used, or a module of Forebay's.
struct PartFacts {
  std::string name;
  std::string found;  // its version or its path
  Failure failure;    // why it cannot be used
};

struct BuildFacts {
  std::string version, compiler;
  std::vector<std::string> formats, codecs;
  std::vector<std::string> missing_codecs;  // that this build leaves out
  bool mpi = false;                         // was built to spread packing over MPI processes
};

enum class Role : uint8_t { store, stage, rendezvous };

// A directory that Forebay would work in, and what was tried in it.
struct PlaceFacts {
  Role role = Role::store;
  std::string path;
  std::string probed;        // the nearest directory there is: `path` itself, or one above it
  Failure look;              // why nothing could be found out: all that follows is empty then
  bool is_store = false;     // role store: there is a store that this build reads
  Failure store;             // why what is there is no such store
  std::string store_change;  // what to do about that; empty: choose another place
  std::string file_system;   // its type, as the system's list of mounts has it: "ext4", "fuse.glusterfs"
  std::string mount_point;
  std::vector<std::string> options;  // of the mount
  uint64_t bytes = 0, free_bytes = 0;
  uint64_t files = 0, free_files = 0;  // inodes; both 0 if the file system does not count them
  bool foreign_owner = false;          // belongs to another user
  bool open_to_others = false;         // others than the owner may do something in it
  Failure refused, refused_change;     // role stage: why agents refuse it, and what to do about that
  Failure write, sync, rename_new, lock;
  bool lock_excludes = false;  // a second lock on the same file was refused
};

struct BatchFacts {
  std::string job;         // "Slurm job 4711", or empty
  std::string nodes_file;  // of PBS or LSF: the variable that names it, or empty
  std::vector<std::string>
      missing_programs;  // of those that the job's launcher needs, the ones that PATH does not have
};

struct Facts {
  BuildFacts build;
  ProcessorFacts processors;
  MemoryFacts memory;
  SystemFacts system;
  LimitFacts limits;
  PartFacts mpi_module;                  // for packing under mpiexec
  PartFacts mpiio_library;               // what MPI programs preload
  std::vector<PartFacts> mpiio_modules;  // one per MPI
  PartFacts ucx, munge;
  bool infiniband = false;       // there is a device
  std::optional<bool> encrypts;  // the job of the rendezvous directory, if there is one
  BatchFacts batch;
  bool is_root = false;
  std::vector<PlaceFacts> places;
};

}  // namespace forebay::cli
