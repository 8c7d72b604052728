// What stands in for MPI in programs of one process.
#include <array>
#include <chrono>
#include <cstring>

#include <mpidummy.h>
#include <unistd.h>

namespace forebay::adios {
namespace {

size_t element_size(MPI_Datatype type) {
  switch (type) {
    case MPI_CHAR:
      return 1;
    case MPI_INT:
    case MPI_FLOAT:
      return 4;
    case MPI_DOUBLE:
    case MPI_UINT64_T:
    case MPI_UNSIGNED_LONG_LONG:
      return 8;
    default:
      return 0;
  }
}

// What one process sends to itself.
int copied(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type) {
  const size_t bytes = static_cast<size_t>(count) * element_size(type);
  if (element_size(type) == 0 || element_size(to_type) == 0) return MPI_ERR_TYPE;
  if (count < 0 || to_count < 0 || bytes > static_cast<size_t>(to_count) * element_size(to_type)) return MPI_ERR_COUNT;
  if (bytes > 0 && (!from || !to)) return MPI_ERR_BUFFER;
  if (bytes > 0) std::memmove(to, from, bytes);
  return MPI_SUCCESS;
}

size_t displacement(const int* displacements, MPI_Datatype type) {
  return displacements ? static_cast<size_t>(displacements[0]) * element_size(type) : 0;
}

}  // namespace
}  // namespace forebay::adios

using forebay::adios::copied;

extern "C" {

int MPI_Init(int*, char***) { return MPI_SUCCESS; }

int MPI_Initialized(int* flag) {
  *flag = 1;
  return MPI_SUCCESS;
}

int MPI_Finalize(void) { return MPI_SUCCESS; }

double MPI_Wtime(void) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int MPI_Get_processor_name(char* name, int* resultlen) {
  if (gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0) std::strcpy(name, "localhost");
  name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
  *resultlen = static_cast<int>(std::strlen(name));
  return MPI_SUCCESS;
}

int MPI_Error_string(int errorcode, char* string, int* resultlen) {
  static constexpr std::array<const char*, 6> kWords = {"no error",         "invalid buffer", "invalid count",
                                                        "invalid datatype", "invalid tag",    "invalid communicator"};
  const bool is_known = errorcode >= 0 && errorcode < static_cast<int>(kWords.size());
  std::strcpy(string, is_known ? kWords[static_cast<size_t>(errorcode)] : "unknown error");
  *resultlen = static_cast<int>(std::strlen(string));
  return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm, int* rank) {
  *rank = 0;
  return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm, int* size) {
  *size = 1;
  return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  *newcomm = comm;
  return MPI_SUCCESS;
}

int MPI_Comm_split(MPI_Comm comm, int, int, MPI_Comm* comm_out) { return MPI_Comm_dup(comm, comm_out); }

int MPI_Comm_free(MPI_Comm* comm) {
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

MPI_Comm MPI_Comm_f2c(MPI_Fint comm) { return comm; }

int MPI_Barrier(MPI_Comm) { return MPI_SUCCESS; }

int MPI_Bcast(void*, int, MPI_Datatype, int, MPI_Comm) { return MPI_SUCCESS; }

int MPI_Gather(void* sendbuf, int sendcnt, MPI_Datatype sendtype, void* recvbuf, int recvcnt, MPI_Datatype recvtype,
               int, MPI_Comm) {
  return copied(sendbuf, sendcnt, sendtype, recvbuf, recvcnt, recvtype);
}

int MPI_Gatherv(void* sendbuf, int sendcnt, MPI_Datatype sendtype, void* recvbuf, int* recvcnts, int* displs,
                MPI_Datatype recvtype, int, MPI_Comm) {
  char* const to = static_cast<char*>(recvbuf) + forebay::adios::displacement(displs, recvtype);
  return copied(sendbuf, sendcnt, sendtype, to, recvcnts ? recvcnts[0] : sendcnt, recvtype);
}

int MPI_Allgather(void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm) {
  return copied(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
}

int MPI_Scatter(void* sendbuf, int sendcnt, MPI_Datatype sendtype, void* recvbuf, int recvcnt, MPI_Datatype recvtype,
                int, MPI_Comm) {
  return copied(sendbuf, sendcnt, sendtype, recvbuf, recvcnt, recvtype);
}

int MPI_Scatterv(void* sendbuf, int* sendcnts, int* displs, MPI_Datatype sendtype, void* recvbuf, int recvcnt,
                 MPI_Datatype recvtype, int, MPI_Comm) {
  const char* const from = static_cast<char*>(sendbuf) + forebay::adios::displacement(displs, sendtype);
  return copied(from, sendcnts ? sendcnts[0] : recvcnt, sendtype, recvbuf, recvcnt, recvtype);
}

int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op, MPI_Comm) {
  return copied(sendbuf, count, datatype, recvbuf, count, datatype);
}

int MPI_File_open(MPI_Comm, char* filename, int amode, MPI_Info, MPI_File* fh) {
  *fh = open(filename, amode | O_CLOEXEC, 0666);
  return *fh < 0 ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

int MPI_File_close(MPI_File* fh) { return close(*fh) == 0 ? MPI_SUCCESS : MPI_ERR_BUFFER; }

int MPI_File_get_size(MPI_File fh, MPI_Offset* size) {
  struct stat status;
  if (fstat(fh, &status) != 0) return MPI_ERR_BUFFER;
  *size = static_cast<MPI_Offset>(status.st_size);
  return MPI_SUCCESS;
}

int MPI_File_seek(MPI_File fh, MPI_Offset offset, int whence) {
  return lseek(fh, static_cast<off_t>(offset), whence) < 0 ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

int MPI_File_read(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  const size_t wanted = static_cast<size_t>(count) * forebay::adios::element_size(datatype);
  size_t done = 0;
  while (done < wanted) {
    const ssize_t got = read(fh, static_cast<char*>(buf) + done, wanted - done);
    if (got < 0) return MPI_ERR_BUFFER;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  if (status) *status = done;
  return MPI_SUCCESS;
}

int MPI_Get_count(MPI_Status* status, MPI_Datatype datatype, int* count) {
  const size_t size = forebay::adios::element_size(datatype);
  if (size == 0) return MPI_ERR_TYPE;
  *count = static_cast<int>(*status / size);
  return MPI_SUCCESS;
}
}
