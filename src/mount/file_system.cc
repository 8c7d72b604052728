#define FUSE_USE_VERSION 314
#include "mount/file_system.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fuse.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

namespace forebay::mount {
namespace {

constexpr std::string_view kLatest = "latest";
constexpr double kKnownSeconds = 1;

// A file or directory that is open, or that a path names.
struct Place {
  std::shared_ptr<const MountedSet> set;  // null at the root of the store
  const Tree::Node* node = nullptr;       // likewise
  bool is_latest = false;                 // the link at the root
};

// What the calls of the kernel are answered from. Thread-safe.
class Session {
 public:
  explicit Session(std::unique_ptr<MountedStore> store) : store_(std::move(store)) {}

  MountedStore& store() const { return *store_; }

  // Keeps a file that is opened until close(), or until the end: of files that are open then the kernel does not tell
  // any more.
  uint64_t open(Place place) {
    auto kept = std::make_unique<const Place>(std::move(place));
    const auto handle = reinterpret_cast<uint64_t>(kept.get());
    const std::lock_guard lock(mutex_);
    open_.emplace(handle, std::move(kept));
    return handle;
  }
  static const Place& place_of(uint64_t handle) { return *reinterpret_cast<const Place*>(handle); }
  void close(uint64_t handle) {
    const std::lock_guard lock(mutex_);
    open_.erase(handle);
  }

 private:
  const std::unique_ptr<MountedStore> store_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<const Place>> open_;
};

Session& session_here() { return *static_cast<Session*>(fuse_get_context()->private_data); }
MountedStore& store_here() { return session_here().store(); }

int errno_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::not_found:
      return ENOENT;
    case ErrorKind::permission:
      return EACCES;
    case ErrorKind::limit:
      return ENOMEM;
    default:
      return EIO;
  }
}

// A negative errno; what is no plain "there is none" is logged.
int failed(MountedStore& store, std::string_view path, const Error& error) {
  if (error.kind != ErrorKind::not_found) store.log(fmt::format("{}: {}", path, error.message()));
  return -errno_of(error);
}

Result<std::string> newest_set(MountedStore& store) {
  FOREBAY_TRY(const auto names, store.set_names());
  if (names.empty()) return fail(ErrorKind::not_found, "the store has no set");
  return names.back();
}

std::unexpected<Error> no_such_file() { return fail(ErrorKind::not_found, "there is no such file"); }

// What a path from the kernel names: "/", "/latest", "/SET", "/SET/dir/file".
Result<Place> find_place(MountedStore& store, std::string_view path) {
  path.remove_prefix(1);
  Place place;
  if (!store.options().latest) {
    if (path.empty()) return place;
    if (path == kLatest) {
      FOREBAY_TRY([[maybe_unused]] const std::string name, newest_set(store));
      place.is_latest = true;
      return place;
    }
    const size_t slash = path.find('/');
    FOREBAY_TRY(place.set, store.set(path.substr(0, slash)));
    path.remove_prefix(slash == path.npos ? path.size() : slash + 1);
  } else {
    FOREBAY_TRY(const std::string name, newest_set(store));
    FOREBAY_TRY(place.set, store.set(name));
  }
  place.node = place.set->tree().find(path);
  if (place.node == nullptr) return no_such_file();
  return place;
}

int get_attributes(const char* path, struct stat* status, fuse_file_info* info) {
  MountedStore& store = store_here();
  Place found;
  if (info != nullptr && info->fh != 0) {
    found = Session::place_of(info->fh);
  } else {
    auto place = find_place(store, path);
    if (!place) return failed(store, path, place.error());
    found = *std::move(place);
  }
  *status = {};
  status->st_uid = geteuid();
  status->st_gid = getegid();
  status->st_nlink = 1;
  status->st_mtim.tv_sec = store.opened_s();
  if (found.is_latest) {
    status->st_mode = S_IFLNK | 0777;
  } else if (found.node == nullptr) {
    status->st_mode = S_IFDIR | 0555;
  } else {
    const Tree::Node& node = *found.node;
    const mode_t readable = node.mode & ~mode_t{0222};
    if (node.kind == FileKind::directory) status->st_mode = S_IFDIR | readable | S_IRUSR | S_IXUSR;
    if (node.kind == FileKind::regular) status->st_mode = S_IFREG | readable | S_IRUSR;
    if (node.kind == FileKind::symlink) status->st_mode = S_IFLNK | 0777;
    status->st_size = static_cast<off_t>(node.kind == FileKind::symlink ? node.link_target.size() : node.size);
    status->st_blocks = static_cast<blkcnt_t>((node.size + 511) / 512);
    status->st_mtim = {node.mtime_s, static_cast<long>(node.mtime_ns)};
  }
  status->st_ctim = status->st_atim = status->st_mtim;
  return 0;
}

int read_link(const char* path, char* out, size_t size) {
  MountedStore& store = store_here();
  const auto place = find_place(store, path);
  if (!place) return failed(store, path, place.error());
  std::string target;
  if (place->is_latest) {
    const auto name = newest_set(store);
    if (!name) return failed(store, path, name.error());
    target = *name;
  } else if (place->node != nullptr && place->node->kind == FileKind::symlink) {
    target = place->node->link_target;
  } else {
    return -EINVAL;
  }
  const size_t length = std::min(target.size(), size - 1);
  std::memcpy(out, target.data(), length);
  out[length] = 0;
  return 0;
}

int read_directory(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*, fuse_readdir_flags) {
  MountedStore& store = store_here();
  const auto place = find_place(store, path);
  if (!place) return failed(store, path, place.error());
  const auto add = [&](const char* name) { return fill(buffer, name, nullptr, 0, fuse_fill_dir_flags{}) == 0; };
  if (!add(".") || !add("..")) return 0;
  if (place->node == nullptr) {
    const auto names = store.set_names();
    if (!names) return failed(store, path, names.error());
    if (!names->empty()) add(kLatest.data());
    for (const std::string& name : *names)
      if (!add(name.c_str())) break;
    return 0;
  }
  if (place->node->kind != FileKind::directory) return -ENOTDIR;
  for (const auto& [name, child] : place->node->children)
    if (!add(name.c_str())) break;
  return 0;
}

int open_file(const char* path, fuse_file_info* info) {
  MountedStore& store = store_here();
  if ((info->flags & O_ACCMODE) != O_RDONLY) return -EROFS;
  auto place = find_place(store, path);
  if (!place) return failed(store, path, place.error());
  if (place->node == nullptr || place->node->kind != FileKind::regular) return -EISDIR;
  // The kernel may keep the pages of this path, unless another set's file may have had it, or will: sets never change.
  info->keep_cache = !store.options().latest && place->set->is_first() ? 1 : 0;
  info->fh = session_here().open(*std::move(place));
  return 0;
}

int read_file(const char* path, char* out, size_t size, off_t offset, fuse_file_info* info) {
  const Place& place = Session::place_of(info->fh);
  const auto count =
      place.set->read(*place.node, static_cast<uint64_t>(offset), {reinterpret_cast<std::byte*>(out), size});
  if (!count) return failed(store_here(), path, count.error());
  return static_cast<int>(*count);
}

int close_file(const char*, fuse_file_info* info) {
  session_here().close(info->fh);
  return 0;
}

void* begin(fuse_conn_info*, fuse_config* config) {
  // A set may be removed, and another one come under its name: names are asked for again.
  config->attr_timeout = config->entry_timeout = kKnownSeconds;
  config->negative_timeout = 0;
  return fuse_get_context()->private_data;
}

const fuse_operations& operations() {
  static const fuse_operations kOperations = [] {
    fuse_operations all{};
    all.init = begin;
    all.getattr = get_attributes;
    all.readlink = read_link;
    all.readdir = read_directory;
    all.open = open_file;
    all.read = read_file;
    all.release = close_file;
    return all;
  }();
  return kOperations;
}

}  // namespace

struct FileSystem::State {
  explicit State(std::unique_ptr<MountedStore> store) : here(std::move(store)) {}

  Session here;
  std::string path;
  fuse* session = nullptr;
  bool is_mounted = false;
  Fd wake;  // an eventfd that is readable when it is time to end

  void end() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake.get(), &one, sizeof(one));
  }

  // Answers requests until the directory is unmounted or end() is called. 0 or an errno. A thread that blocked in a
  // read could not be ended while some file is open, so it waits for what comes first.
  int answer() const {
    fuse_session* const requests = fuse_get_session(session);
    fuse_buf buffer{};
    int result = 0;
    while (!fuse_session_exited(requests)) {
      pollfd ready[] = {{fuse_session_fd(requests), POLLIN, 0}, {wake.get(), POLLIN, 0}};
      if (poll(ready, 2, -1) < 0 && errno != EINTR) result = errno;
      if (result != 0 || ready[1].revents != 0) break;
      const int received = fuse_session_receive_buf(requests, &buffer);
      if (received == -EINTR || received == -EAGAIN) continue;
      if (received <= 0) {
        result = -received;
        break;
      }
      fuse_session_process_buf(requests, &buffer);
    }
    std::free(buffer.mem);
    end();  // the other threads
    return result;
  }

  ~State() {
    if (is_mounted) fuse_unmount(session);
    if (session != nullptr) fuse_destroy(session);
  }
};

FileSystem::FileSystem(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileSystem::~FileSystem() = default;

Result<std::unique_ptr<FileSystem>> FileSystem::mount(std::unique_ptr<MountedStore> store, const std::string& path,
                                                      bool allow_other) {
  if (::access("/dev/fuse", F_OK) != 0)
    return fail(ErrorKind::unsupported, "is not there: this machine has no FUSE", "/dev/fuse", {},
                "load the kernel's module fuse");
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return fail_errno(errno, "stat", path);
  if (!S_ISDIR(status.st_mode)) return fail(ErrorKind::invalid_argument, "is no directory", path);
  auto state = std::make_unique<State>(std::move(store));
  state->path = path;
  fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
  fuse_opt_add_arg(&arguments, "forebay");
  fuse_opt_add_arg(&arguments, "-oro,fsname=forebay,subtype=forebay,default_permissions");
  if (allow_other) fuse_opt_add_arg(&arguments, "-oallow_other");
  state->session = fuse_new(&arguments, &operations(), sizeof(fuse_operations), &state->here);
  fuse_opt_free_args(&arguments);
  if (state->session == nullptr) return fail(ErrorKind::io, "FUSE could not be set up", path);
  if (fuse_mount(state->session, path.c_str()) != 0)
    return fail(ErrorKind::permission, "could not be mounted on", path, {},
                "users but root need fusermount3 and access to /dev/fuse; --allow-other needs user_allow_other in "
                "/etc/fuse.conf");
  state->is_mounted = true;
  const int requests = fuse_session_fd(fuse_get_session(state->session));
  if (fcntl(requests, F_SETFL, fcntl(requests, F_GETFL) | O_NONBLOCK) != 0)
    return fail_errno(errno, "fcntl", "/dev/fuse");
  state->wake = Fd(eventfd(0, EFD_CLOEXEC));
  if (state->wake.get() < 0) return fail_errno(errno, "eventfd", path);
  return std::unique_ptr<FileSystem>(new FileSystem(std::move(state)));
}

Result<void> FileSystem::serve(const std::stop_token& stop) {
  const std::stop_callback stopping(stop, [this] { state_->end(); });
  std::atomic<int> result = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 2 * std::max(1u, state_->here.store().options().resources.threads); ++i)
      threads.emplace_back([&] {
        if (const int error = state_->answer(); error != 0) result = error;
      });
  }
  if (result != 0) return fail_errno(result, "serving the mount", state_->path);
  return {};
}

}  // namespace forebay::mount
