#include "mpiio/mpi/takeover.h"

#include <cerrno>
#include <climits>
#include <cstdlib>

#include <fmt/format.h>

#include "mpiio/file_system.h"
#include "mpiio/mpi/broadcast.h"
#include "mpiio/mpi/flatten.h"
#include "mpiio/mpi/job.h"
#include "mpiio/mpi/quiet.h"
#include "mpiio/mpi/shared_pointer.h"
#include "mpiio/mpi/type_envelope.h"

namespace forebay::lock::mpiio {
namespace {

// The name under which all programs know the file. A name may begin with the kind of the file system, as "ufs:".
MpiResult<std::string> canonical_path(const std::string& name) {
  char path[PATH_MAX];
  if (::realpath(name.c_str(), path)) return path;
  const int why = errno;
  const size_t colon = name.find(':');
  if (colon != std::string::npos && ::realpath(name.c_str() + colon + 1, path)) return path;
  return fail_errno(why, "realpath", name);
}

std::string new_id() {
  std::string id = "shared pointer ";
  for (const std::byte byte : fabric::new_secret()) id += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return id;
}

// What rank 0 tells the others about the file.
MpiResult<std::string> introduction(const File& file) {
  FOREBAY_TRY(const std::string path, canonical_path(file.name));
  FOREBAY_TRY(const Meeting meeting, meeting_point());
  return path + '\0' + new_id() + '\0' + meeting;
}

// Collective, once: where the file is, and who keeps its locks.
MpiResult<void> introduce(File& file) {
  if (!file.path.empty()) return {};
  int rank = 0;
  PMPI_Comm_rank(file.comm, &rank);
  MpiResult<std::string> words;
  if (rank == 0) words = introduction(file);
  FOREBAY_TRY(const std::string told, broadcast(std::move(words), file.comm));
  const size_t first = told.find('\0'), second = told.find('\0', first + 1);
  auto client = client_for(told.substr(second + 1));
  MpiResult<void> own;
  if (!client) own = std::unexpected(client.error());
  FOREBAY_CHECK(agree(std::move(own), file.comm));
  file.client = *std::move(client);
  file.path = told.substr(0, first);
  file.id = told.substr(first + 1, second - first - 1);
  return {};
}

void free_type(MPI_Datatype& type) {
  if (!is_predefined(type)) PMPI_Type_free(&type);
}

MpiResult<FileView> view_of_library(MPI_File handle) {
  MPI_Offset displacement = 0;
  MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
  char representation[MPI_MAX_DATAREP_STRING + 1] = "";
  FOREBAY_CHECK(
      mpi_checked(PMPI_File_get_view(handle, &displacement, &etype, &filetype, representation), "MPI_File_get_view"));
  auto view = make_view(displacement, etype, filetype, representation);
  free_type(etype);
  free_type(filetype);
  return view;
}

struct LibraryState {
  FileView view;
  MPI_Offset position = 0, shared = 0;
};

// `with_shared`: the shared pointer may have moved. Finding out where it is costs the library a file of its own.
MpiResult<LibraryState> state_of_library(const File& file, bool with_shared) {
  const QuietErrors quiet(file.handle);
  LibraryState state;
  FOREBAY_TRY(state.view, view_of_library(file.handle));
  if (file.sequential()) {  // is taken over when it is opened, and seen as bytes
    if (with_shared) FOREBAY_CHECK(mpi_checked(PMPI_File_get_size(file.handle, &state.shared), "MPI_File_get_size"));
    return state;
  }
  FOREBAY_CHECK(mpi_checked(PMPI_File_get_position(file.handle, &state.position), "MPI_File_get_position"));
  if (with_shared)
    FOREBAY_CHECK(
        mpi_checked(PMPI_File_get_position_shared(file.handle, &state.shared), "MPI_File_get_position_shared"));
  return state;
}

MpiResult<bool> any(bool own, MPI_Comm comm) {
  int one = own;
  FOREBAY_CHECK(mpi_checked(PMPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce"));
  return one != 0;
}

}  // namespace

MpiResult<FileView> make_view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                              const std::string& representation) {
  FOREBAY_TRY(const Pattern elements, flatten(etype));
  FileView made;
  FOREBAY_TRY(made.view.filetype, flatten(filetype));
  made.view.displacement = displacement;
  made.view.etype_size = elements.size();
  made.native = representation == "native";
  return made;
}

MpiResult<void> take_over(File& file) {
  if (file.ours) return {};
  FOREBAY_CHECK(introduce(file));
  // A file that is opened to append has its shared pointer at the end from the beginning.
  const bool appending = (file.amode & MPI_MODE_APPEND) != 0;
  FOREBAY_TRY(const bool with_shared, any(file.library_shared || appending, file.comm));
  auto state = state_of_library(file, with_shared);
  // Opened now, although it may not be used: later the file may have another name, or none.
  const auto descriptor = file.descriptor();
  MpiResult<void> own;
  if (!state)
    own = std::unexpected(state.error());
  else if (!descriptor)
    own = std::unexpected(descriptor.error());
  FOREBAY_CHECK(agree(std::move(own), file.comm));
  FOREBAY_TRY(file.local, any(is_local(descriptor->fd), file.comm));

  const std::lock_guard guard(file.mutex);
  file.view = std::make_shared<const FileView>(std::move(state->view));
  file.position = state->position;
  file.shared = {.base = state->shared, .generation = file.shared.generation + 1};
  file.ours = true;
  return {};
}

MpiResult<void> hand_back(File& file) {
  if (!file.ours) return {};
  // This waits for all processes, so that the shared pointer stands still.
  FOREBAY_TRY(const bool with_shared, any(shared_pointer_used(file), file.comm));
  int64_t shared = 0;
  if (with_shared) {
    FOREBAY_TRY(shared, agreed_shared_position(file));
  }
  const QuietErrors quiet(file.handle);
  MpiResult<void> own = mpi_checked(PMPI_File_seek(file.handle, file.position, MPI_SEEK_SET), "MPI_File_seek");
  if (with_shared) {
    auto moved = mpi_checked(PMPI_File_seek_shared(file.handle, shared, MPI_SEEK_SET), "MPI_File_seek_shared");
    if (own) own = std::move(moved);
  }
  file.library_shared = with_shared;
  FOREBAY_CHECK(agree(std::move(own), file.comm));
  file.ours = false;
  return {};
}

}  // namespace forebay::lock::mpiio
