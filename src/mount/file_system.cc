#define FUSE_USE_VERSION 314
#include "mount/file_system.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "mount/handles.h"
#include "mount/inodes.h"
#include "mount/read_ahead.h"

namespace forebay::mount {
namespace {

constexpr std::string_view kLatest = "latest";
constexpr double kSoon = 1;            // seconds: sets come and go, and names at the root with them
constexpr double kNeverChanges = 1e6;  // seconds: what is in a set

// A file or directory of a set; null at the root of the store, and of the link to the newest set.
struct Place {
  std::shared_ptr<const MountedSet> set;
  uint32_t number = 0;  // in Tree::nodes()

  const Tree::Node* node() const { return set ? &set->tree().nodes()[number] : nullptr; }
};

struct OpenFile {
  explicit OpenFile(Place opened) : place(std::move(opened)) {}

  const Place place;
  std::mutex mutex;
  Sequence sequence;  // of its reads; under the mutex
};

struct Listed {
  std::string name;
  mode_t type = 0;
};
using OpenDirectory = std::vector<Listed>;

// What the calls of the kernel are answered from. Thread-safe.
class Session {
 public:
  explicit Session(std::unique_ptr<MountedStore> store)
      : store_(std::move(store)), ahead_(store_->options().resources.threads) {}

  MountedStore& store() const { return *store_; }
  Inodes& inodes() { return inodes_; }
  ReadAhead& ahead() { return ahead_; }
  Handles<OpenFile>& files() { return files_; }
  Handles<OpenDirectory>& directories() { return directories_; }

  bool shows_latest() const { return store_->options().latest; }

  Result<std::string> newest_set() const { return store_->newest_set(); }

  // What a number stands for now. With `latest` the root is that of the newest set. not_found if its set is gone.
  Result<Place> place_of(uint64_t number) const {
    const auto inode = inodes_.find(number);
    if (!inode) return no_such_file();
    if (!inode->set && number == Inodes::kRoot && shows_latest()) {
      FOREBAY_TRY(const std::string name, newest_set());
      FOREBAY_TRY(auto set, store_->set(name));
      return Place{std::move(set), 0};
    }
    if (!inode->set) return Place{};
    auto set = inode->open;
    if (!set) {
      FOREBAY_TRY(set, store_->set(inode->set->name));
      if (set->created_ns() != inode->set->created_ns || set->content() != inode->set->content) return no_such_file();
    }
    if (inode->node >= set->tree().nodes().size()) return no_such_file();
    return Place{std::move(set), inode->node};
  }

  // What `name` is in a directory. At the root of the store: a set.
  Result<Place> child_of(uint64_t parent, std::string_view name) const {
    FOREBAY_TRY(const Place directory, place_of(parent));
    if (!directory.set) {
      FOREBAY_TRY(auto set, store_->set(name));
      return Place{std::move(set), 0};
    }
    const auto& children = directory.node()->children;
    const auto found = children.find(name);
    if (found == children.end()) return no_such_file();
    return Place{directory.set, found->second};
  }

  static std::unexpected<Error> no_such_file() { return fail(ErrorKind::not_found, "there is no such file"); }

 private:
  const std::unique_ptr<MountedStore> store_;
  Inodes inodes_;
  Handles<OpenFile> files_;
  Handles<OpenDirectory> directories_;
  ReadAhead ahead_;
};

Session& session_of(fuse_req_t request) { return *static_cast<Session*>(fuse_req_userdata(request)); }

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

// What is no plain "there is none" is logged.
void refuse(fuse_req_t request, uint64_t number, std::string_view name, const Error& error) {
  if (error.kind != ErrorKind::not_found) {
    Session& session = session_of(request);
    session.store().log(
        fmt::format("{}{}{}: {}", session.inodes().path_of(number), name.empty() ? "" : "/", name, error.message()));
  }
  fuse_reply_err(request, errno_of(error));
}

struct stat attributes_of(const Session& session, uint64_t number, const Place& place) {
  struct stat status{};
  status.st_ino = number;
  status.st_uid = geteuid();
  status.st_gid = getegid();
  status.st_nlink = 1;
  status.st_mtim.tv_sec = session.store().opened_s();
  if (number == Inodes::kLatest) {
    status.st_mode = S_IFLNK | 0777;
  } else if (!place.set) {
    status.st_mode = S_IFDIR | 0555;
  } else {
    const Tree::Node& node = *place.node();
    const mode_t readable = node.mode & ~mode_t{0222};
    if (node.kind == FileKind::directory) status.st_mode = S_IFDIR | readable | S_IRUSR | S_IXUSR;
    if (node.kind == FileKind::regular) status.st_mode = S_IFREG | readable | S_IRUSR;
    if (node.kind == FileKind::symlink) status.st_mode = S_IFLNK | 0777;
    status.st_size = static_cast<off_t>(node.kind == FileKind::symlink ? node.link_target.size() : node.size);
    status.st_blocks = static_cast<blkcnt_t>((node.size + 511) / 512);
    status.st_mtim = {node.mtime_s, static_cast<long>(node.mtime_ns)};
  }
  status.st_ctim = status.st_atim = status.st_mtim;
  return status;
}

void look_up(fuse_req_t request, fuse_ino_t parent, const char* name) {
  Session& session = session_of(request);
  fuse_entry_param entry{};
  entry.attr_timeout = kNeverChanges;
  entry.entry_timeout = parent == Inodes::kRoot ? kSoon : kNeverChanges;
  if (parent == Inodes::kRoot && !session.shows_latest() && name == kLatest) {
    if (const auto newest = session.newest_set(); !newest) return refuse(request, parent, name, newest.error());
    entry.ino = Inodes::kLatest;
    entry.attr = attributes_of(session, entry.ino, {});
  } else {
    const auto place = session.child_of(parent, name);
    if (!place) return refuse(request, parent, name, place.error());
    entry.ino = session.inodes().look_up(place->set, place->number, parent, name);
    entry.attr = attributes_of(session, entry.ino, *place);
  }
  if (fuse_reply_entry(request, &entry) != 0) session.inodes().forget(entry.ino, 1);
}

void forget(fuse_req_t request, fuse_ino_t number, uint64_t times) {
  session_of(request).inodes().forget(number, times);
  fuse_reply_none(request);
}

void forget_many(fuse_req_t request, size_t count, fuse_forget_data* all) {
  for (size_t i = 0; i < count; ++i) session_of(request).inodes().forget(all[i].ino, all[i].nlookup);
  fuse_reply_none(request);
}

void get_attributes(fuse_req_t request, fuse_ino_t number, fuse_file_info*) {
  Session& session = session_of(request);
  const auto place = session.place_of(number);
  if (!place) return refuse(request, number, {}, place.error());
  const struct stat status = attributes_of(session, number, *place);
  fuse_reply_attr(request, &status, number == Inodes::kRoot ? kSoon : kNeverChanges);
}

void read_link(fuse_req_t request, fuse_ino_t number) {
  Session& session = session_of(request);
  if (number == Inodes::kLatest) {
    const auto newest = session.newest_set();
    if (!newest) return refuse(request, number, {}, newest.error());
    fuse_reply_readlink(request, newest->c_str());
    return;
  }
  const auto place = session.place_of(number);
  if (!place) return refuse(request, number, {}, place.error());
  if (!place->set || place->node()->kind != FileKind::symlink)
    fuse_reply_err(request, EINVAL);
  else
    fuse_reply_readlink(request, place->node()->link_target.c_str());
}

Result<OpenDirectory> list(const Session& session, uint64_t number) {
  FOREBAY_TRY(const Place place, session.place_of(number));
  OpenDirectory all{{".", S_IFDIR}, {"..", S_IFDIR}};
  if (!place.set) {
    FOREBAY_TRY(const auto names, session.store().set_names());
    if (session.newest_set()) all.push_back({std::string(kLatest), S_IFLNK});
    for (const std::string& name : names) all.push_back({name, S_IFDIR});
    return all;
  }
  for (const auto& [name, child] : place.node()->children) {
    const FileKind kind = place.set->tree().nodes()[child].kind;
    const mode_t of_others = kind == FileKind::symlink ? S_IFLNK : S_IFREG;
    all.push_back({name, kind == FileKind::directory ? mode_t{S_IFDIR} : of_others});
  }
  return all;
}

void open_directory(fuse_req_t request, fuse_ino_t number, fuse_file_info* info) {
  auto listed = list(session_of(request), number);
  if (!listed) return refuse(request, number, {}, listed.error());
  auto& directories = session_of(request).directories();
  info->fh = directories.open(*std::move(listed));
  if (const uint64_t handle = info->fh; fuse_reply_open(request, info) != 0) directories.close(handle);
}

void read_directory(fuse_req_t request, fuse_ino_t, size_t size, off_t offset, fuse_file_info* info) {
  const OpenDirectory& listed = Handles<OpenDirectory>::get(info->fh);
  std::vector<char> buffer(size);
  size_t used = 0;
  constexpr ino_t kUnknown = 0xffffffff;
  for (auto i = static_cast<size_t>(offset); i < listed.size(); ++i) {
    struct stat status{};
    status.st_ino = kUnknown;
    status.st_mode = listed[i].type;
    const size_t length = fuse_add_direntry(request, buffer.data() + used, size - used, listed[i].name.c_str(), &status,
                                            static_cast<off_t>(i + 1));
    if (length > size - used) break;
    used += length;
  }
  fuse_reply_buf(request, buffer.data(), used);
}

void close_directory(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  session_of(request).directories().close(info->fh);
  fuse_reply_err(request, 0);
}

void open_file(fuse_req_t request, fuse_ino_t number, fuse_file_info* info) {
  if ((info->flags & O_ACCMODE) != O_RDONLY) {
    fuse_reply_err(request, EROFS);
    return;
  }
  auto place = session_of(request).place_of(number);
  if (!place) return refuse(request, number, {}, place.error());
  auto& files = session_of(request).files();
  info->fh = files.open(*std::move(place));
  info->keep_cache = 1;  // a number is one file of one set, which never changes
  if (const uint64_t handle = info->fh; fuse_reply_open(request, info) != 0) files.close(handle);
}

void read_file(fuse_req_t request, fuse_ino_t number, size_t size, off_t offset, fuse_file_info* info) {
  thread_local std::vector<std::byte> buffer;
  if (buffer.size() < size) buffer.resize(size);
  OpenFile& file = Handles<OpenFile>::get(info->fh);
  const Tree::Node& node = *file.place.node();
  const auto begin = static_cast<uint64_t>(offset);
  std::optional<Stretch> ahead;
  {
    const std::lock_guard lock(file.mutex);
    ahead = file.sequence.note(begin, size, node.size);
  }
  if (ahead) session_of(request).ahead().fetch(file.place.set, node, *ahead);
  const auto count = file.place.set->read(node, begin, {buffer.data(), size});
  if (!count) return refuse(request, number, {}, count.error());
  fuse_reply_buf(request, reinterpret_cast<const char*>(buffer.data()), *count);
}

void close_file(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  session_of(request).files().close(info->fh);
  fuse_reply_err(request, 0);
}

const fuse_lowlevel_ops& operations() {
  static const fuse_lowlevel_ops kOperations = [] {
    fuse_lowlevel_ops all{};
    all.lookup = look_up;
    all.forget = forget;
    all.forget_multi = forget_many;
    all.getattr = get_attributes;
    all.readlink = read_link;
    all.opendir = open_directory;
    all.readdir = read_directory;
    all.releasedir = close_directory;
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
  fuse_session* session = nullptr;
  bool is_mounted = false;
  Fd wake;  // an eventfd that is readable when it is time to end

  void end() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake.get(), &one, sizeof(one));
  }

  // Answers session until the directory is unmounted or end() is called. 0 or an errno. A thread that blocked in a
  // read could not be ended while some file is open, so it waits for what comes first.
  int answer() const {
    fuse_buf buffer{};
    int result = 0;
    while (!fuse_session_exited(session)) {
      pollfd ready[] = {{fuse_session_fd(session), POLLIN, 0}, {wake.get(), POLLIN, 0}};
      if (poll(ready, 2, -1) < 0 && errno != EINTR) result = errno;
      if (result != 0 || ready[1].revents != 0) break;
      const int received = fuse_session_receive_buf(session, &buffer);
      if (received == -EINTR || received == -EAGAIN) continue;
      if (received <= 0) {
        result = -received;
        break;
      }
      fuse_session_process_buf(session, &buffer);
    }
    std::free(buffer.mem);
    end();  // the other threads
    return result;
  }

  ~State() {
    if (is_mounted) fuse_session_unmount(session);
    if (session != nullptr) fuse_session_destroy(session);
  }
};

FileSystem::FileSystem(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileSystem::~FileSystem() = default;

namespace {

// A mount hides what is below it: nothing may be.
Result<void> check_place(const std::string& path) {
  struct statx status{};
  const bool is_seen = statx(AT_FDCWD, path.c_str(), AT_STATX_SYNC_AS_STAT, STATX_TYPE, &status) == 0;
  const bool has_ended = !is_seen && errno == ENOTCONN;  // the process of a mount
  if (!is_seen && !has_ended) return fail_errno(errno, "statx", path);
  if (has_ended || (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
    return fail(ErrorKind::exists, "has something mounted on it already", path, {},
                fmt::format("'fusermount3 -u {}' ends a mount of yours, or choose another directory", path));
  if (!S_ISDIR(status.stx_mode)) return fail(ErrorKind::invalid_argument, "is no directory", path);
  std::error_code error;
  const bool is_empty = std::filesystem::is_empty(path, error);
  if (error) return fail_errno(error.value(), "opendir", path);
  if (!is_empty)
    return fail(ErrorKind::exists, "has something in it, which a mount would hide", path, {},
                "mount on an empty directory");
  return {};
}

}  // namespace

Result<std::unique_ptr<FileSystem>> FileSystem::mount(std::unique_ptr<MountedStore> store, const std::string& path,
                                                      bool allow_other) {
  if (::access("/dev/fuse", F_OK) != 0)
    return fail(ErrorKind::unsupported, "is not there: this machine has no FUSE", "/dev/fuse", {},
                "load the kernel's module fuse");
  FOREBAY_CHECK(check_place(path));
  auto state = std::make_unique<State>(std::move(store));
  state->path = path;
  fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
  fuse_opt_add_arg(&arguments, "forebay");
  fuse_opt_add_arg(&arguments, "-oro,fsname=forebay,subtype=forebay,default_permissions");
  if (allow_other) fuse_opt_add_arg(&arguments, "-oallow_other");
  state->session = fuse_session_new(&arguments, &operations(), sizeof(fuse_lowlevel_ops), &state->here);
  fuse_opt_free_args(&arguments);
  if (state->session == nullptr) return fail(ErrorKind::io, "FUSE could not be set up", path);
  if (fuse_session_mount(state->session, path.c_str()) != 0)
    return fail(ErrorKind::permission, "could not be mounted on", path, {},
                "users but root need fusermount3 and access to /dev/fuse; --allow-other needs user_allow_other in "
                "/etc/fuse.conf");
  state->is_mounted = true;
  const int device = fuse_session_fd(state->session);
  if (fcntl(device, F_SETFL, fcntl(device, F_GETFL) | O_NONBLOCK) != 0) return fail_errno(errno, "fcntl", "/dev/fuse");
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
