// MPI_Init, so that a job has its lock server; opening and closing.
#include "mpiio/mpi/broadcast.h"
#include "mpiio/mpi/entry.h"
#include "mpiio/mpi/info.h"
#include "mpiio/mpi/job.h"
#include "mpiio/mpi/shared_pointer.h"
#include "mpiio/mpi/takeover.h"

using namespace forebay::lock::mpiio;

namespace {

// The file is open already, so the error handler that it has is the one for errors of MPI_File_open. (Open MPI 4.1 does
// not let anybody call that of MPI_FILE_NULL.)
int fail_open(MPI_File* fh, const Fault& fault) {
  const int code = raise(*fh, fault);
  PMPI_File_close(fh);
  return code;
}

// A communicator of the same processes, without the attributes of the application's, whose copying would show.
MpiResult<MPI_Comm> own_communicator(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm own = MPI_COMM_NULL;
  FOREBAY_CHECK(mpi_checked(PMPI_Comm_group(comm, &group), "MPI_Comm_group"));
  auto made = mpi_checked(PMPI_Comm_create(comm, group, &own), "MPI_Comm_create");
  PMPI_Group_free(&group);
  FOREBAY_CHECK(made);
  PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  return own;
}

// Collective: those of the first process hold for all, because what collective calls do follows from them.
MpiResult<Settings> agreed_settings(const forebay::Result<Settings>& before, MPI_Comm comm, MPI_Info info) {
  MpiResult<std::string> words;
  if (before) {
    const Settings hinted = with_hints(*before, info);
    words = std::string(reinterpret_cast<const char*>(&hinted), sizeof hinted);
  } else {
    words = std::unexpected(Fault(before.error()));
  }
  FOREBAY_TRY(const std::string told, broadcast(std::move(words), comm));
  Settings settings;
  told.copy(reinterpret_cast<char*>(&settings), sizeof settings);
  return settings;
}

// Collective, after the library has opened the file.
MpiResult<void> follow(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File handle) {
  FOREBAY_TRY(MPI_Comm own, own_communicator(comm));
  const auto settings = agreed_settings(environment_settings(), own, info);
  if (!settings || !settings->may_act()) {
    PMPI_Comm_free(&own);
    if (!settings) return std::unexpected(settings.error());
    return {};
  }
  const auto file = std::make_shared<File>(handle, own, name, amode, *settings);
  remember(file);
  const bool atomic = settings->atomic == Atomic::always;
  if (!atomic && !keeps(*file, *settings)) return {};
  if (auto taken = take_over(*file); !taken) {
    forget(handle);
    PMPI_Comm_free(&own);
    return taken;
  }
  file->locking = atomic;
  return {};
}

// What the layer has of a file that is being closed.
void let_go(File& file) {
  if (file.client) drop_counters(file);
  MPI_Comm comm = file.comm;
  PMPI_Comm_free(&comm);
}

}  // namespace

FOREBAY_ENTRY int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) begin_job();
  return code;
}

FOREBAY_ENTRY int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin_job();
  return code;
}

FOREBAY_ENTRY int MPI_File_open(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File* fh) {
  *fh = MPI_FILE_NULL;
  const int code = PMPI_File_open(comm, name, amode, info, fh);
  // An error handler of MPI_FILE_NULL may have made a success of a failure.
  if (code != MPI_SUCCESS || *fh == MPI_FILE_NULL) return code;
  const auto followed = follow(comm, name, amode, info, *fh);
  return followed ? MPI_SUCCESS : fail_open(fh, followed.error());
}

FOREBAY_ENTRY int MPI_File_close(MPI_File* fh) {
  const std::shared_ptr<File> file = forget(*fh);
  const int code = PMPI_File_close(fh);
  if (file) let_go(*file);
  return code;
}

FOREBAY_ENTRY int MPI_File_set_info(MPI_File fh, MPI_Info info) {
  const int code = PMPI_File_set_info(fh, info);
  const auto file = find_file(fh);
  if (!file) return code;
  const auto settings = agreed_settings(file->settings.load(), file->comm, info);
  if (!settings) return raise(fh, settings.error());
  file->settings = *settings;
  return code;
}

FOREBAY_ENTRY int MPI_File_get_info(MPI_File fh, MPI_Info* info) {
  const int code = PMPI_File_get_info(fh, info);
  if (code != MPI_SUCCESS) return code;
  if (const auto file = find_file(fh)) show_hints(file->settings, *info);
  return code;
}
