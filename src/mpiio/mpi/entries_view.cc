// Views and atomicity.
#include "mpiio/mpi/broadcast.h"
#include "mpiio/mpi/entry.h"
#include "mpiio/mpi/shared_pointer.h"
#include "mpiio/mpi/takeover.h"

using namespace forebay::lock::mpiio;

namespace {

// Collective. MPI_DISPLACEMENT_CURRENT means where the shared pointer is, which is known to the layer alone.
MpiResult<MPI_Offset> displacement_of(File& file, MPI_Offset displacement) {
  if (displacement != MPI_DISPLACEMENT_CURRENT) {
    if (displacement < 0) return mpi_fail(MPI_ERR_ARG, "the displacement is negative");
    return displacement;
  }
  if (!file.sequential()) return mpi_fail(MPI_ERR_ARG, "MPI_DISPLACEMENT_CURRENT is for sequential files only");
  FOREBAY_TRY(const int64_t position, agreed_shared_position(file));
  const auto current = file.current_view();
  FOREBAY_TRY(const uint64_t offset,
              file_offset(current->view, static_cast<uint64_t>(position) * current->view.etype_size));
  return static_cast<MPI_Offset>(offset);
}

MpiResult<void> adopt_view(File& file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                           const char* representation) {
  FOREBAY_TRY(FileView view, make_view(displacement, etype, filetype, representation));
  {
    const std::lock_guard guard(file.mutex);
    file.view = std::make_shared<const FileView>(std::move(view));
    file.position = 0;
  }
  set_shared(file, 0);
  return {};
}

// Collective.
MpiResult<void> set_atomicity(File& file, bool atomic) {
  int same[] = {atomic, !atomic};
  FOREBAY_CHECK(mpi_checked(PMPI_Allreduce(MPI_IN_PLACE, same, 2, MPI_INT, MPI_MAX, file.comm), "MPI_Allreduce"));
  if (same[0] && same[1]) return mpi_fail(MPI_ERR_NOT_SAME, "the processes do not give the same atomicity");
  const Settings settings = file.settings;
  const bool locking = settings.atomic == Atomic::always || (atomic && settings.atomic == Atomic::asked);
  if (locking || keeps(file, settings)) {
    FOREBAY_CHECK(take_over(file));
  } else {
    FOREBAY_CHECK(hand_back(file));
  }
  file.locking = locking;
  file.asked = atomic;
  return {};
}

}  // namespace

FOREBAY_ENTRY int MPI_File_set_view(MPI_File fh, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                                    const char* representation, MPI_Info info) {
  const auto file = find_file(fh);
  if (!file || !file->ours) return PMPI_File_set_view(fh, displacement, etype, filetype, representation, info);
  const auto own = displacement_of(*file, displacement);
  if (!own) return raise(fh, own.error());
  // The library checks the rest of the arguments.
  const int code = PMPI_File_set_view(fh, displacement, etype, filetype, representation, info);
  if (code != MPI_SUCCESS) return code;
  return finish(fh, adopt_view(*file, *own, etype, filetype, representation));
}

// The library's view is the layer's, too, but for where MPI_DISPLACEMENT_CURRENT was.
FOREBAY_ENTRY int MPI_File_get_view(MPI_File fh, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                                    char* representation) {
  const int code = PMPI_File_get_view(fh, displacement, etype, filetype, representation);
  const auto file = find_file(fh);
  if (code == MPI_SUCCESS && file && file->ours) *displacement = file->current_view()->view.displacement;
  return code;
}

FOREBAY_ENTRY int MPI_File_set_atomicity(MPI_File fh, int flag) {
  const auto file = find_file(fh);
  if (!file) return PMPI_File_set_atomicity(fh, flag);
  return finish(fh, set_atomicity(*file, flag != 0));
}

FOREBAY_ENTRY int MPI_File_get_atomicity(MPI_File fh, int* flag) {
  const auto file = find_file(fh);
  if (!file) return PMPI_File_get_atomicity(fh, flag);
  *flag = file->asked;
  return MPI_SUCCESS;
}
