// What the layer knows of each open file.
//
// A file is the MPI library's until it becomes atomic (or safe is asked for): then the layer takes over its pointers
// and its view, and data goes through the layer's engine; the library's own handle stays open for everything else. See
// docs/decisions/0017-mpiio-layer.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "lock/client.h"
#include "mpiio/mpi/fault.h"
#include "mpiio/settings.h"
#include "mpiio/view.h"

namespace forebay::lock::mpiio {

// Immutable: an access goes on with the view that it began with.
struct FileView {
  View view;
  bool native = true;  // the file holds the bytes as memory does; else the MPI library has to convert them
};

// The shared file pointer: `base` and what a counter on the lock server says beyond it. All processes of the file
// change to a new counter by the same collective calls, so none has to be set and none is waited for.
struct SharedPointer {
  int64_t base = 0;  // etypes
  uint64_t generation = 0;
};

// The file as this process opened it for the layer's engine.
struct Descriptor {
  int fd = -1;
  bool readable = false;
};

struct File {
  File(MPI_File file, MPI_Comm own_comm, std::string given_name, int access_mode, const Settings& chosen);
  ~File();  // closes the descriptor
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool sequential() const { return (amode & MPI_MODE_SEQUENTIAL) != 0; }
  std::shared_ptr<const FileView> current_view();
  std::string counter_name();  // of the shared pointer

  // Opens the file at the first call.
  MpiResult<Descriptor> descriptor();

  const MPI_File handle;
  const MPI_Comm comm;  // the layer's own, of all processes of the file
  const std::string name;
  const int amode;
  std::atomic<Settings> settings;

  // The rest is set when the file is taken over for the first time, by all processes together.
  std::string path;  // canonical; the name of its lock
  std::string id;    // of this opening, as no other has it
  std::shared_ptr<Client> client;
  bool local = false;  // on a file system of this machine (file_system.h), as one of the processes at least sees it

  std::atomic<bool> ours = false;            // the layer has the pointers, the view and the data
  std::atomic<bool> locking = false;         // accesses are atomic
  std::atomic<bool> asked = false;           // what the application said last with MPI_File_set_atomicity
  std::atomic<bool> library_shared = false;  // the library's shared pointer was used, so it may not be where it began
  std::atomic<bool> wrote = false;           // since the last sync

  std::mutex mutex;  // of what follows
  std::shared_ptr<const FileView> view;
  int64_t position = 0;  // the individual pointer, in etypes
  SharedPointer shared;
  std::vector<std::string> counters;  // those that this process used
  std::optional<uint64_t> split;      // bytes of the split collective that has begun and not ended

 private:
  std::mutex descriptor_mutex_;
  Descriptor descriptor_;
};

// By handle, thread-safe. Nothing for a file that the layer does not follow.
std::shared_ptr<File> find_file(MPI_File handle);
void remember(std::shared_ptr<File> file);
std::shared_ptr<File> forget(MPI_File handle);

}  // namespace forebay::lock::mpiio
