#include "store/posix_backend.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/parallel_for.h"
#include "base/posix/file_sink.h"
#include "store/files.h"
#include "store/rescue.h"
#include "store/sealed_text.h"
#include "store/staging.h"

namespace forebay::store {
namespace {

constexpr std::string_view kStoreTag = "forebay-store";
constexpr uint64_t kStoreVersion = 1;
constexpr uint64_t kMaxStoreFileBytes = 64 << 10;

std::string sets_of(const std::string& store) { return store + "/sets"; }
std::string staging_of(const std::string& store) { return store + "/staging"; }

bool is_there(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

uint64_t nanoseconds(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

Stamp stamp_of(const struct stat& info) {
  const auto size = S_ISDIR(info.st_mode) ? 0 : static_cast<uint64_t>(info.st_size);
  return {{info.st_ino, size, nanoseconds(info.st_mtim), nanoseconds(info.st_ctim)}};
}

std::string last_component(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Puts the file `from` at `to` too, durably: as a second name or, where there are no hard links, as a copy.
Result<void> link_or_copy(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::create_hard_link(from, to, error);
  if (error) std::filesystem::copy_file(from, to, error);
  if (error) return fail_errno(error.value(), "copy", to);
  FOREBAY_TRY(const Fd fd, open_at(AT_FDCWD, to, O_RDONLY, to));
  return sync_file(fd.get(), to);
}

// What the process that began a set and those that joined it have in common.
template <class Interface>
class ContainersIn : public Interface {
 public:
  ContainersIn(std::string store, std::string directory)
      : store_(std::move(store)), directory_(std::move(directory)), id_(last_component(directory_)) {}

  const std::string& id() const override { return id_; }

  std::string path_of(std::string_view name) const override {
    return name.empty() ? directory_ : fmt::format("{}/{}", directory_, name);
  }

  Result<std::unique_ptr<ByteSink>> create(const std::string& name) override { return FileSink::create(path_of(name)); }

  Result<std::unique_ptr<ByteSource>> open(const std::string& name) const override {
    FOREBAY_TRY(auto source, open_stored(path_of(name)));
    source->forget_cached();
    return source;
  }

  Result<void> copy_from(const std::string& set, const std::string& name) override {
    return link_or_copy(fmt::format("{}/{}/{}", sets_of(store_), set, name), path_of(name));
  }

  Result<void> remove(const std::string& name) override { return remove_tree(AT_FDCWD, path_of(name), path_of(name)); }

  Result<std::vector<std::string>> names() const override {
    if (!is_there(directory_) && errno == ENOENT) return std::vector<std::string>();
    return names_in(directory_);
  }

 protected:
  const std::string store_, directory_;

 private:
  const std::string id_;
};

class StagedDirectory final : public ContainersIn<Staging> {
 public:
  StagedDirectory(std::string store, std::string set, StagingName name)
      : ContainersIn(std::move(store), name.path()), set_(std::move(set)), name_(std::move(name)) {}

  Result<void> check(const std::string& name, uint64_t bytes) const override {
    struct stat info{};
    if (::lstat(path_of(name).c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        static_cast<uint64_t>(info.st_size) == bytes)
      return {};
    // Some network file systems ask for what may have changed elsewhere only when a file is opened.
    FOREBAY_TRY(const auto source, FileSource::open(path_of(name)));
    if (source->size() == bytes) return {};
    return fail(ErrorKind::corrupt,
                fmt::format("a container has {} bytes where {} were written", source->size(), bytes), path_of(name));
  }

  Result<void> announce(std::string_view manifest) override {
    FOREBAY_CHECK(write_text(directory_, "manifest", manifest));
    is_announced_ = true;
    return {};
  }

  Result<void> publish(std::string_view manifest) override {
    FOREBAY_CHECK((is_announced_ ? write_text : write_unseen_text)(directory_, "manifest", manifest));
    FOREBAY_CHECK(sync_directory(directory_));
    const std::string place = sets_of(store_) + "/" + set_;
    auto renamed = rename_new(AT_FDCWD, directory_, AT_FDCWD, place, place);
    if (!renamed && is_there(place)) renamed.error().kind = ErrorKind::exists;
    FOREBAY_CHECK(renamed);
    auto durable = sync_directory(sets_of(store_));
    if (!durable) ::rename(place.c_str(), directory_.c_str());
    return durable;
  }

  // What was there lies under the staging name then, and goes with it.
  Result<void> replace(std::string_view manifest,
                       const std::function<bool(std::string_view manifest)>& is_meant) override {
    FOREBAY_CHECK((is_announced_ ? write_text : write_unseen_text)(directory_, "manifest", manifest));
    FOREBAY_CHECK(sync_directory(directory_));
    const std::string place = sets_of(store_) + "/" + set_;
    name_.leave_to_cleaner();
    FOREBAY_CHECK(exchange_names(directory_, place));
    const auto before = read_text(directory_ + "/manifest", kMaxManifestBytes);
    auto done = before && is_meant(*before)
                    ? sync_directory(sets_of(store_))
                    : fail(ErrorKind::changed, "the set was replaced by another one meanwhile", place, {}, "try again");
    if (!done) (void)exchange_names(directory_, place);
    return done;
  }

 private:
  const std::string set_;
  StagingName name_;
  bool is_announced_ = false;
};

class WithdrawnDirectory final : public Withdrawn {
 public:
  WithdrawnDirectory(std::string place, StagingName name)
      : place_(std::move(place)), name_(std::move(name)), id_(last_component(name_.path())) {}

  const std::string& id() const override { return id_; }
  Result<void> put_back() override { return rename_new(AT_FDCWD, name_.path(), AT_FDCWD, place_, place_); }
  Result<void> purge() override { return remove_tree(AT_FDCWD, name_.path(), name_.path()); }

 private:
  const std::string place_;
  const StagingName name_;
  const std::string id_;
};

constexpr const char* kSetAside = ".set-aside";  // no name of a container

class DirectoryStore final : public Backend {
 public:
  explicit DirectoryStore(std::string path) : path_(std::move(path)) {}

  const std::string& path() const override { return path_; }

  Result<std::vector<std::string>> set_names() const override { return store::names_in(sets_of(path_)); }

  Result<bool> has(const std::string& set) const override {
    struct stat info{};
    if (::lstat(path_of(set).c_str(), &info) == 0) return true;
    if (errno == ENOENT) return false;
    return fail_errno(errno, "stat", path_of(set));
  }

  Stamp sets_stamp() const override {
    struct stat info{};
    return ::stat(sets_of(path_).c_str(), &info) == 0 ? stamp_of(info) : Stamp();
  }

  // Clocks of file systems tick in milliseconds, of some in seconds or two, and those of servers go by themselves.
  bool is_settled(const Stamp& stamp) const override {
    constexpr uint64_t kGrain = 2'000'000'000;
    timespec now{};
    if (!stamp.is_set() || ::clock_gettime(CLOCK_REALTIME, &now) != 0) return false;
    return nanoseconds(now) > std::max(stamp.parts[2], stamp.parts[3]) + kGrain;
  }

  Result<StampedText> manifest(const std::string& set) const override {
    // A set may be removed, and another one of its name come, between any two looks: what is wrong with one is known
    // only of what was in its place before and after.
    constexpr int kLooks = 100;
    const std::string place = path_of(set);
    for (int look = 0; look < kLooks; ++look) {
      const Fd before(::open(place.c_str(), O_PATH | O_CLOEXEC));
      const bool is_unknown = !before && errno != ENOENT && errno != ELOOP;  // no descriptor is left, as it may be
      auto text = read_manifest(place + "/manifest");
      if (text) return text;
      if (!is_there(place)) return fail(ErrorKind::not_found, fmt::format("there is no set '{}'", set), path_);
      if (is_unknown) return text;
      if (!is_still(before, place)) continue;
      if (is_no_directory(place))
        return fail(ErrorKind::corrupt, "this is no set, but something else in the place of one", place, {},
                    "move it out of the store");
      if (text.error().kind == ErrorKind::not_found)
        return fail(ErrorKind::corrupt, "the set has no manifest", place + "/manifest");
      return text;
    }
    return fail(ErrorKind::changed, "sets of this name come and go", place, {}, "try again");
  }

  Stamp manifest_stamp(const std::string& set) const override {
    struct stat info{};
    return ::stat((path_of(set) + "/manifest").c_str(), &info) == 0 ? stamp_of(info) : Stamp();
  }

  std::optional<int64_t> written_ns(const std::string& set) const override {
    std::optional<int64_t> newest;
    for (const std::string& name : names_in(set).value_or(std::vector<std::string>())) {
      struct stat info{};
      const bool is_container = name != "manifest" && !name.starts_with('.');
      if (!is_container || ::lstat((path_of(set) + "/" + name).c_str(), &info) != 0) continue;
      newest = std::max(newest, std::optional(static_cast<int64_t>(nanoseconds(info.st_mtim))));
    }
    return newest;
  }

  Result<std::unique_ptr<ByteSource>> open(const std::string& set, const std::string& container) const override {
    return open_stored(path_of(set) + "/" + container);
  }

  Result<std::vector<std::string>> names_in(const std::string& set) const override {
    if (is_no_directory(path_of(set))) return std::vector<std::string>();
    return store::names_in(path_of(set));
  }

  Result<std::unique_ptr<Staging>> stage(const std::string& set) const override {
    FOREBAY_CHECK(store::make_directory(staging_of(path_)));
    FOREBAY_TRY(StagingName name, StagingName::take(staging_of(path_), set));
    if (::mkdir(name.path().c_str(), 0775) != 0) return fail_errno(errno, "mkdir", name.path());
    return std::make_unique<StagedDirectory>(path_, set, std::move(name));
  }

  Result<std::unique_ptr<StagedContainers>> join(const std::string& id) const override {
    const std::string directory = staging_of(path_) + "/" + id;
    if (id.find('/') != id.npos || !parse_staging_name(id))
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' names no set that is being written", id), path_);
    if (is_no_directory(directory))
      return fail(ErrorKind::not_found, "the set is being written no longer", directory, {},
                  "all processes of one pack or job must be given the same store");
    return std::make_unique<ContainersIn<StagedContainers>>(path_, directory);
  }

  Result<std::vector<Announced>> announced() const override {
    if (!is_there(staging_of(path_))) return std::vector<Announced>();
    FOREBAY_TRY(auto ids, store::names_in(staging_of(path_)));
    std::erase_if(ids, [](const std::string& id) { return id.ends_with(".lock"); });
    std::vector<Announced> all;
    std::mutex mutex;
    FOREBAY_CHECK(parallel_for(ids.size(), kCallsAtOnce, [&](size_t i) -> Result<void> {
      auto text = read_text(fmt::format("{}/{}/manifest", staging_of(path_), ids[i]), kMaxManifestBytes);
      const std::lock_guard lock(mutex);
      if (text) all.push_back({ids[i], *std::move(text)});  // most have none
      return {};
    }));
    return all;
  }

  Result<std::unique_ptr<Withdrawn>> withdraw(const std::string& set) const override {
    FOREBAY_CHECK(store::make_directory(staging_of(path_)));
    FOREBAY_TRY(StagingName name, StagingName::take(staging_of(path_), set));
    const std::string place = path_of(set);
    name.leave_to_cleaner();
    if (::rename(place.c_str(), name.path().c_str()) != 0) return fail_errno(errno, "rename", place);
    return std::make_unique<WithdrawnDirectory>(place, std::move(name));
  }

  Result<void> sync_sets() const override { return sync_directory(sets_of(path_)); }

  Result<std::string> listing(uint64_t most) const override { return read_text(path_ + "/listing", most); }

  Result<void> set_aside(const std::string& set, std::string_view note) const override {
    FOREBAY_TRY(const bool is_here, has(set));
    if (!is_here) return fail(ErrorKind::not_found, fmt::format("there is no set '{}'", set), path_);
    FOREBAY_CHECK(write_text(path_of(set), kSetAside, note));
    return sync_directory(path_of(set));
  }
  Result<std::string> why_set_aside(const std::string& set, uint64_t most) const override {
    return read_text(path_of(set) + "/" + kSetAside, most);
  }
  Result<void> take_back(const std::string& set) const override {
    FOREBAY_TRY(const bool is_here, has(set));
    if (!is_here) return fail(ErrorKind::not_found, fmt::format("there is no set '{}'", set), path_);
    const std::string note = path_of(set) + "/" + kSetAside;
    if (::unlink(note.c_str()) != 0 && errno != ENOENT) return fail_errno(errno, "unlink", note);
    return sync_directory(path_of(set));
  }

  // Made where a crash leaves nothing for good, and not synced: what a power cut makes of it, its checksum tells.
  void put_listing(std::string_view text) const override {
    const auto name = StagingName::take(staging_of(path_), "listing");
    if (!name) return;
    const auto fd = open_at(AT_FDCWD, name->path(), O_WRONLY | O_CREAT | O_EXCL, name->path(), 0666);
    if (!fd || !write_all(fd->get(), 0, as_bytes(text), name->path())) return;
    (void)::rename(name->path().c_str(), (path_ + "/listing").c_str());
  }

  void clean() const override {
    Rescue rescue(*this);
    clean_staging(staging_of(path_), {}, [&](const std::string& path) {
      const auto text = read_text(path + "/manifest", kMaxManifestBytes);
      if (!text) return true;
      const auto needed = rescue.needed(*text);
      if (!needed) return false;  // not known: the next one may find out
      if (!*needed) return true;
      const std::string place = path_of(**needed);
      if (is_replaced(*text, place)) return true;
      const bool is_back = rename_new(AT_FDCWD, path, AT_FDCWD, place, place).has_value();
      if (is_back) (void)sync_sets();
      return is_back;  // where its name was taken meanwhile, it is left for people
    });
  }

 private:
  // Whether the same set, which was stored once more (Staging::replace()), is in its place.
  static bool is_replaced(const std::string& manifest, const std::string& place) {
    const auto there = read_text(place + "/manifest", kMaxManifestBytes);
    const auto now = there ? parse_manifest(*there, place) : std::unexpected(there.error());
    const auto before = parse_manifest(manifest, place);
    return now && before && now->created_ns == before->created_ns;
  }

  static Result<StampedText> read_manifest(const std::string& path) {
    FOREBAY_TRY(const auto source, open_stored(path));
    struct stat info{};
    if (::fstat(source->fd(), &info) != 0) return fail_errno(errno, "stat", path);
    FOREBAY_TRY(std::string text, read_text(*source, kMaxManifestBytes));
    return StampedText{std::move(text), stamp_of(info)};
  }

  // Whether at `place` there is what was opened there before; or nothing could be, and nothing can.
  static bool is_still(const Fd& opened, const std::string& place) {
    struct stat before{}, now{};
    const bool is_there = ::stat(place.c_str(), &now) == 0;
    if (!opened || !is_there) return !opened && !is_there;
    return ::fstat(opened.get(), &before) == 0 && before.st_dev == now.st_dev && before.st_ino == now.st_ino;
  }

  const std::string path_;
};

std::unexpected<Error> lost_its_file(ErrorKind kind, const std::string& path) {
  return fail(kind, "this store lacks its file forebay-store", path, {},
              "copy that file from any other store: it is the same in all");
}

// Why nothing at `path` can be opened as a store.
std::unexpected<Error> no_store(const std::string& path) {
  const auto names = is_there(path) && !is_no_directory(path) ? names_in(path) : std::vector<std::string>();
  if (is_there(path) && is_no_directory(path))
    return fail(ErrorKind::not_found, "this is no store, but a file", path, {}, "a store is a directory");
  if (!names) return std::unexpected(names.error());
  const auto has = [&](const char* name) { return std::ranges::find(*names, name) != names->end(); };
  if (has("sets") && has("staging")) return lost_its_file(ErrorKind::not_found, path);
  if (!names->empty())
    return fail(ErrorKind::not_found, "this directory is no store: it has no file forebay-store", path, {},
                "is the path right? `forebay pack DIR --store PATH` makes a store at a new PATH");
  return fail(ErrorKind::not_found, "there is no store here", path, {}, "`forebay pack DIR --store PATH` makes one");
}

Result<void> make_store(const std::string& path) {
  const std::string file = path + "/forebay-store";
  FOREBAY_CHECK(store::make_directory(path, "name another directory with --store"));
  if (auto may = check_may_become_store(path); !may) {
    if (is_there(file)) return {};  // another process made the store after we had looked for it
    return may;
  }
  FOREBAY_CHECK(store::make_directory(sets_of(path)));
  FOREBAY_CHECK(store::make_directory(staging_of(path)));
  // The file is made in staging, where what a crash leaves is found, and moved: several may make the store at once.
  FOREBAY_TRY(const StagingName work, StagingName::take(staging_of(path), "store"));
  FOREBAY_CHECK(store::make_directory(work.path()));
  const std::string text = seal(
      kStoreTag, {{"version", kStoreVersion}, {"about", "checkpoint sets, written by Forebay; see docs/store.md"}});
  FOREBAY_CHECK(write_text(work.path(), "forebay-store", text));
  if (::rename((work.path() + "/forebay-store").c_str(), file.c_str()) != 0) return fail_errno(errno, "rename", file);
  FOREBAY_CHECK(sync_directory(path));
  return sync_parent(path);
}

}  // namespace

// Where everybody can write, anybody's set would be the newest one, and anybody could take sets away.
static Result<void> check_not_everybodys(const std::string& path) {
  for (const std::string& directory : {path, sets_of(path), staging_of(path)}) {
    struct stat info{};
    if (::stat(directory.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0)
      return fail(ErrorKind::permission, "everybody can write into this directory of the store", directory, {},
                  "'chmod o-w' it after a look at the sets that are there");
  }
  return {};
}

Result<void> check_may_become_store(const std::string& path) {
  FOREBAY_TRY(const auto names, names_in(path));
  const bool only_ours = std::ranges::all_of(names, [](const auto& n) { return n == "sets" || n == "staging"; });
  const bool has_sets = std::ranges::find(names, "sets") != names.end();
  if (only_ours && (!has_sets || names_in(sets_of(path)).value_or(std::vector<std::string>(1)).empty())) return {};
  if (has_sets && std::ranges::find(names, "staging") != names.end())
    return lost_its_file(ErrorKind::invalid_argument, path);
  return fail(ErrorKind::invalid_argument, "this directory is no store, and has other files", path, {},
              "name a new directory with --store");
}

Result<std::shared_ptr<const Backend>> open_directory(const std::string& path) {
  const std::string file = path + "/forebay-store";
  const auto text = read_text(file, kMaxStoreFileBytes);
  if (!text && text.error().kind == ErrorKind::not_found) return no_store(path);
  FOREBAY_CHECK(text);
  FOREBAY_CHECK(unseal(kStoreTag, *text, kStoreVersion, file));
  return std::make_shared<DirectoryStore>(path);
}

Result<std::shared_ptr<const Backend>> make_directory_store(const std::string& path) {
  auto store = open_directory(path);
  if (!store && store.error().kind == ErrorKind::not_found) {
    FOREBAY_CHECK(make_store(path));
    store = open_directory(path);
  }
  if (store) FOREBAY_CHECK(check_not_everybodys(path));
  return store;
}

}  // namespace forebay::store
