#include "io/hdf5/guarded_file.h"

#include <algorithm>
#include <cerrno>
#include <exception>

#include <fcntl.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::hdf5 {

struct GuardedFile::State {
  int fd = -1;  // -1: the owner is gone
  bool is_held = false, is_open = false;
  int failure = 0;
  uint64_t size = 0;  // as the library sees it
  HeldBytes held;

  void write(uint64_t offset, std::span<const std::byte> bytes) {
    if (fd < 0) return;
    if (!is_held && !write_fully(fd, bytes, offset)) fail(errno);
    if (is_held) held.put(offset, bytes);
    size = std::max(size, offset + bytes.size());
  }

  bool read(uint64_t offset, std::span<std::byte> bytes) const {
    if (fd < 0 || !read_padded(fd, bytes, offset)) return false;
    if (offset + bytes.size() > size && offset < size) std::ranges::fill(bytes.subspan(size - offset), std::byte{});
    held.overlay(offset, bytes);
    return true;
  }

  void truncate(uint64_t new_size) {
    if (fd < 0) return;
    if (!is_held && new_size != size && ::ftruncate(fd, static_cast<off_t>(new_size)) != 0) fail(errno);
    held.cut(new_size);
    size = new_size;
  }

  void fail(int why) {
    if (failure == 0) failure = why;
    is_held = true;
  }
};

namespace {

// What the library has of a file.
struct Driven {
  H5FD_t library{};  // first: the library knows nothing else
  std::shared_ptr<GuardedFile::State> state;
  haddr_t allotted = 0;
};

using StatePointer = std::shared_ptr<GuardedFile::State>;

Driven& driven(H5FD_t* file) { return *reinterpret_cast<Driven*>(file); }
const Driven& driven(const H5FD_t* file) { return *reinterpret_cast<const Driven*>(file); }

void* copy_properties(const void* properties) {
  return new StatePointer(*static_cast<const StatePointer*>(properties));
}

herr_t free_properties(void* properties) {
  delete static_cast<StatePointer*>(properties);
  return 0;
}

H5FD_t* open_driven(const char*, unsigned, hid_t access, haddr_t) {
  const auto* state = static_cast<const StatePointer*>(H5Pget_driver_info(access));
  if (state == nullptr) return nullptr;
  auto* file = new Driven{.library = {}, .state = *state};
  file->state->is_open = true;
  return &file->library;
}

herr_t close_driven(H5FD_t* file) {
  driven(file).state->is_open = false;
  delete &driven(file);
  return 0;
}

// As of the driver that the library takes by itself, but for its locks and what needs a descriptor.
herr_t query_driven(const H5FD_t*, unsigned long* features) {
  *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
              H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t allotted(const H5FD_t* file, H5FD_mem_t) { return driven(file).allotted; }

herr_t allot(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  driven(file).allotted = end;
  return 0;
}

haddr_t size_of(const H5FD_t* file, H5FD_mem_t) { return driven(file).state->size; }

herr_t read_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, size_t size, void* bytes) {
  return driven(file).state->read(offset, {static_cast<std::byte*>(bytes), size}) ? 0 : -1;
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, size_t size, const void* bytes) {
  GuardedFile::State& state = *driven(file).state;
  try {
    state.write(offset, {static_cast<const std::byte*>(bytes), size});
  } catch (const std::exception&) {  // the library is C
    state.fail(ENOMEM);
  }
  return 0;
}

herr_t truncate_driven(H5FD_t* file, hid_t, hbool_t) {
  driven(file).state->truncate(driven(file).allotted);
  return 0;
}

constexpr const char* kDriverName = "forebay";

H5FD_class_t driver_class() {
  H5FD_class_t all{};
  all.name = kDriverName;
  all.maxaddr = (haddr_t{1} << 63) - 1;
  all.fc_degree = H5F_CLOSE_WEAK;
  all.fapl_size = sizeof(StatePointer);
  all.fapl_copy = copy_properties;
  all.fapl_free = free_properties;
  all.open = open_driven;
  all.close = close_driven;
  all.query = query_driven;
  all.get_eoa = allotted;
  all.set_eoa = allot;
  all.get_eof = size_of;
  all.read = read_bytes;
  all.write = write_bytes;
  all.truncate = truncate_driven;
  constexpr H5FD_mem_t kOneList[] = H5FD_FLMAP_DICHOTOMY;
  std::ranges::copy(kOneList, all.fl_map);
  return all;
}

}  // namespace

GuardedFile::GuardedFile(int fd, Writes writes) : state_(std::make_shared<State>()) {
  struct stat status{};
  state_->fd = fd;
  state_->is_held = writes == Writes::held;
  if (::fstat(fd, &status) == 0) state_->size = static_cast<uint64_t>(status.st_size);
}

GuardedFile::~GuardedFile() { state_->fd = -1; }

Id GuardedFile::access() const {
  const H5FD_class_t all = driver_class();
  const hid_t driver = H5FDregister(&all);
  Id properties(H5Pcreate(H5P_FILE_ACCESS));
  if (driver < 0 || !properties || H5Pset_driver(properties, driver, &state_) < 0) properties = Id();
  if (driver >= 0) H5FDunregister(driver);  // the properties keep it
  return properties;
}

int GuardedFile::failure() const { return state_->failure; }
bool GuardedFile::is_closed() const { return !state_->is_open; }
const HeldBytes& GuardedFile::held() const { return state_->held; }
uint64_t GuardedFile::size() const { return state_->size; }

bool write_fully(int fd, std::span<const std::byte> bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done == 0) errno = ENOSPC;
    if (done <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(done));
    offset += static_cast<uint64_t>(done);
  }
  return true;
}

bool read_padded(int fd, std::span<std::byte> bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    if (done == 0) break;
    bytes = bytes.subspan(static_cast<size_t>(done));
    offset += static_cast<uint64_t>(done);
  }
  std::ranges::fill(bytes, std::byte{});
  return true;
}

bool close_copy(int fd) {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return copy >= 0 && ::close(copy) == 0;
}

}  // namespace forebay::hdf5
