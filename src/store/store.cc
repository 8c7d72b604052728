// How a set comes to be and goes. Every step leaves the store in a state that readers may see and that a later
// Store::open_for_writing() tidies up.
//
// Announcing parents:
//   1. write a manifest with the set's name and parents, and nothing else, to the staging directory;
//   2. check that the parents are there.
// Commit (the containers in the staging directory are durable before):
//   1. check that the set's name is free, that each container is there with the size that the manifest gives, and that
//      the announced parents still are;
//   2. write the manifest and fsync it; over one that announces parents, which others read, by a temporary name and a
//      rename;
//   3. fsync the staging directory;
//   4. rename staging/NAME... to sets/NAME, never replacing: from here on readers see the set;
//   5. fsync sets/; if that fails, move the set back out of sight, for nobody knows whether it would survive;
//   6. release the staging name.
// Removal:
//   1. look through the manifests in staging/ and then sets/: refuse if one refers to the set;
//   2. take a staging name;
//   3. rename sets/NAME to it: from here on the set is gone for readers, and its remains are a dead owner's if we die;
//   4. look again as in 1, and if somebody announced the set as a parent meanwhile, rename it back and refuse. A writer
//      announces and then looks; a remover renames and then looks: one of them sees the other. A set that is committed
//      between the two looks of one remover was in staging/ at the first or is in sets/ at the second;
//   5. fsync sets/;
//   6. delete the files and release the staging name.
#include "store/store.h"

#include <algorithm>
#include <cerrno>
#include <ranges>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/byte_source.h"
#include "base/nearest.h"
#include "base/parallel_for.h"
#include "store/files.h"
#include "store/sealed_text.h"
#include "store/staging.h"

namespace forebay::store {
namespace {

constexpr std::string_view kStoreTag = "forebay-store";
constexpr uint64_t kStoreVersion = 1;
constexpr uint64_t kMaxStoreFileBytes = 64 << 10;
constexpr uint64_t kMaxManifestBytes = 16 << 20;  // about 90,000 containers

std::string sets_of(const std::string& store) { return store + "/sets"; }
std::string staging_of(const std::string& store) { return store + "/staging"; }
std::string set_directory(const std::string& store, std::string_view name) {
  return fmt::format("{}/sets/{}", store, name);
}

std::unexpected<Error> taken(std::string_view name, const std::string& store) {
  return fail(ErrorKind::exists, fmt::format("the store already has a set '{}'", name), store, {},
              "choose another name or remove that set first");
}

bool is_there(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

Result<void> check_container(const ContainerEntry& container, const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
      static_cast<uint64_t>(info.st_size) == container.bytes)
    return {};
  // Some network file systems ask for what may have changed elsewhere only when a file is opened.
  FOREBAY_TRY(const auto source, FileSource::open(path));
  if (source->size() == container.bytes) return {};
  return fail(ErrorKind::corrupt,
              fmt::format("a container has {} bytes where {} were written", source->size(), container.bytes), path);
}

Result<void> check_containers(const Manifest& manifest, const std::string& directory) {
  return parallel_for(manifest.containers.size(), kCallsAtOnce, [&](size_t i) {
    const ContainerEntry& container = manifest.containers[i];
    return check_container(container, directory + "/" + container.name);
  });
}

Result<SetInfo> read_set(const std::string& store, const std::string& name);

// That a parent is the set that was meant.
Result<void> check_parent(const std::string& store, const ParentEntry& parent) {
  const auto set = read_set(store, parent.name);
  const auto lost = [&](const char* what) {
    return fail(ErrorKind::changed, fmt::format("the set '{}', in which frames of this set lie, {}", parent.name, what),
                store, {}, "pack again");
  };
  if (!set && set.error().kind == ErrorKind::not_found) return lost("was removed meanwhile");
  FOREBAY_CHECK(set);
  FOREBAY_CHECK(set->manifest);
  if (set->manifest->created_ns != parent.created_ns) return lost("was replaced by another one");
  return {};
}

class StagedDirectory final : public StagedSet {
 public:
  StagedDirectory(std::string store, std::string name, StagingName staging)
      : store_(std::move(store)), name_(std::move(name)), staging_(std::move(staging)) {}

  const std::string& directory() const override { return staging_.path(); }

  Result<void> announce(std::span<const ParentEntry> parents) override {
    if (parents.empty()) return {};
    Manifest draft{.name = name_};
    draft.parents.assign(parents.begin(), parents.end());
    draft.since_full = 1;
    FOREBAY_CHECK(write_text(directory(), "manifest", serialise(draft)));
    for (const ParentEntry& parent : parents) FOREBAY_CHECK(check_parent(store_, parent));
    announced_ = std::move(draft);
    return {};
  }

  Result<void> commit(const Manifest& manifest) override {
    const std::string set = set_directory(store_, name_);
    if (is_there(set)) return taken(name_, store_);
    FOREBAY_TRY(const std::string text, checked_text(manifest));
    FOREBAY_CHECK(check_containers(manifest, directory()));
    for (const ParentEntry& parent : manifest.parents)
      if (refers_to(announced_, parent.name, parent.created_ns)) FOREBAY_CHECK(check_parent(store_, parent));
    const auto write = announced_.parents.empty() ? write_unseen_text : write_text;
    FOREBAY_CHECK(write(directory(), "manifest", text));
    FOREBAY_CHECK(sync_directory(directory()));
    auto renamed = rename_new(AT_FDCWD, directory(), AT_FDCWD, set, set);
    if (!renamed && is_there(set)) return taken(name_, store_);
    FOREBAY_CHECK(renamed);
    auto durable = sync_directory(sets_of(store_));
    if (!durable) ::rename(set.c_str(), directory().c_str());
    return durable;
  }

 private:
  Result<std::string> checked_text(const Manifest& manifest) const {
    std::string text = serialise(manifest);
    const auto read_back = parse_manifest(text, directory() + "/manifest");
    if (!read_back) return fail(ErrorKind::invalid_argument, read_back.error().what, directory());
    if (manifest.name != name_) return fail(ErrorKind::invalid_argument, "the manifest names another set", directory());
    if (text.size() > kMaxManifestBytes)
      return fail(ErrorKind::limit, "too many containers for one set", directory(), {}, "use larger rank groups");
    return text;
  }

  std::string store_, name_;
  StagingName staging_;
  Manifest announced_;  // its parents
};

// Whether a directory without forebay-store may become a store: it has nothing, or what a killed maker left.
Result<void> check_may_become_store(const std::string& path) {
  FOREBAY_TRY(const auto names, names_in(path));
  const bool only_ours = std::ranges::all_of(names, [](const auto& n) { return n == "sets" || n == "staging"; });
  const bool has_sets = std::ranges::find(names, "sets") != names.end();
  if (only_ours && (!has_sets || names_in(sets_of(path)).value_or(std::vector<std::string>(1)).empty())) return {};
  return fail(ErrorKind::invalid_argument, "the directory is neither empty nor a store", path, {},
              "name a new directory; if this is a store that lost its file forebay-store, copy that file from any "
              "other store");
}

Result<void> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) return fail_errno(errno, "mkdir", path);
  return {};
}

Result<void> make_store(const std::string& path) {
  const std::string file = path + "/forebay-store";
  FOREBAY_CHECK(make_directory(path));
  if (auto may = check_may_become_store(path); !may) {
    if (is_there(file)) return {};  // another process made the store after we had looked for it
    return may;
  }
  FOREBAY_CHECK(make_directory(sets_of(path)));
  FOREBAY_CHECK(make_directory(staging_of(path)));
  // The file is made in staging, where what a crash leaves is found, and moved: several may make the store at once.
  FOREBAY_TRY(const StagingName work, StagingName::take(staging_of(path), "store"));
  FOREBAY_CHECK(make_directory(work.path()));
  const std::string text = seal(
      kStoreTag, {{"version", kStoreVersion}, {"about", "checkpoint sets, written by Forebay; see docs/store.md"}});
  FOREBAY_CHECK(write_text(work.path(), "forebay-store", text));
  if (::rename((work.path() + "/forebay-store").c_str(), file.c_str()) != 0) return fail_errno(errno, "rename", file);
  FOREBAY_CHECK(sync_directory(path));
  return sync_parent(path);
}

Result<Manifest> read_manifest(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/manifest";
  const auto text = read_text(path, kMaxManifestBytes);
  if (!text && is_no_directory(directory))
    return fail(ErrorKind::corrupt, "this is no set, but something else in the place of one", directory, {},
                "move it out of the store");
  if (!text && text.error().kind == ErrorKind::not_found)
    return fail(ErrorKind::corrupt, "the set has no manifest", path, {}, "put the file back from a copy");
  FOREBAY_CHECK(text);
  auto manifest = parse_manifest(*text, path);
  if (manifest && manifest->name != name)
    return fail(ErrorKind::corrupt, fmt::format("the manifest is that of set '{}'", manifest->name), path);
  return manifest;
}

Result<SetInfo> read_set(const std::string& store, const std::string& name) {
  std::string directory = set_directory(store, name);
  auto manifest = read_manifest(directory, name);
  if (!manifest && !is_there(directory))
    return fail(ErrorKind::not_found, fmt::format("there is no set '{}'", name), store);
  return SetInfo{name, std::move(directory), std::move(manifest)};
}

Result<std::vector<std::string>> set_names(const std::string& store) {
  FOREBAY_TRY(auto names, names_in(sets_of(store)));
  std::erase_if(names, [](const std::string& name) { return !is_set_name(name); });
  return names;
}

}  // namespace

Result<Store> Store::open(std::string path) {
  const std::string file = path + "/forebay-store";
  const auto text = read_text(file, kMaxStoreFileBytes);
  if (!text && text.error().kind == ErrorKind::not_found)
    return fail(ErrorKind::not_found, "there is no store here", path, {}, "`forebay pack DIR --store PATH` makes one");
  FOREBAY_CHECK(text);
  FOREBAY_CHECK(unseal(kStoreTag, *text, kStoreVersion, file));
  return Store(std::move(path));
}

Result<Store> Store::open_for_writing(std::string path) {
  auto store = open(path);
  if (!store && store.error().kind == ErrorKind::not_found) {
    FOREBAY_CHECK(make_store(path));
    store = open(std::move(path));
  }
  FOREBAY_CHECK(store);
  clean_staging(staging_of(store->path_));
  return store;
}

Result<std::vector<SetInfo>> Store::list() const {
  FOREBAY_TRY(const auto names, set_names(path_));
  std::vector<SetInfo> sets;
  for (const std::string& name : names) {
    auto set = read_set(path_, name);
    if (set) sets.push_back(std::move(*set));  // else it was removed since
  }
  sort_oldest_first(sets);
  return sets;
}

Result<bool> Store::has(std::string_view name) const {
  if (!is_set_name(name)) return false;
  const std::string directory = set_directory(path_, name);
  struct stat info{};
  if (::lstat(directory.c_str(), &info) == 0) return true;
  if (errno == ENOENT) return false;
  return fail_errno(errno, "stat", directory);
}

Result<SetInfo> Store::find(std::string_view name) const {
  auto set = is_set_name(name) ? read_set(path_, std::string(name))
                               : fail(ErrorKind::not_found, fmt::format("there is no set '{}'", name), path_);
  if (set || set.error().kind != ErrorKind::not_found) return set;
  const auto near = nearest_names(name, set_names(path_).value_or(std::vector<std::string>{}));
  set.error().hint =
      near.empty() ? "`forebay ls STORE` lists the sets" : fmt::format("did you mean {}?", fmt::join(near, " or "));
  return set;
}

Result<std::unique_ptr<StagedSet>> Store::stage(const std::string& name) const {
  if (!is_set_name(name))
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' cannot be the name of a set", name), {}, {},
                "use at most 200 letters, digits and ._-+=@, without a dot in front; 'latest' is taken");
  if (is_there(set_directory(path_, name))) return taken(name, path_);
  FOREBAY_CHECK(make_directory(staging_of(path_)));
  FOREBAY_TRY(StagingName staging, StagingName::take(staging_of(path_), name));
  if (::mkdir(staging.path().c_str(), 0777) != 0) return fail_errno(errno, "mkdir", staging.path());
  return std::make_unique<StagedDirectory>(path_, name, std::move(staging));
}

Result<std::vector<Manifest>> Store::staged() const {
  clean_staging(staging_of(path_));
  std::vector<Manifest> manifests;
  if (!is_there(staging_of(path_))) return manifests;
  FOREBAY_TRY(const auto names, names_in(staging_of(path_)));
  for (const std::string& name : names) {
    const std::string path = fmt::format("{}/{}/manifest", staging_of(path_), name);
    const auto text = read_text(path, kMaxManifestBytes);  // most names have none
    auto manifest = text ? parse_manifest(*text, path) : std::unexpected(text.error());
    if (manifest) manifests.push_back(*std::move(manifest));
  }
  return manifests;
}

Result<void> Store::check_not_needed(const SetInfo& set) const {
  // Where its manifest cannot be read, the name alone must do.
  const auto refers = [&](const Manifest& other) {
    return std::ranges::any_of(other.parents, [&](const ParentEntry& parent) {
      return parent.name == set.name && (!set.manifest || parent.created_ns == set.manifest->created_ns);
    });
  };
  FOREBAY_TRY(std::vector<Manifest> others, staged());
  FOREBAY_TRY(const auto sets, list());
  for (const SetInfo& other : sets)
    if (other.manifest) others.push_back(*other.manifest);
  const auto found = std::ranges::find_if(others, refers);
  if (found == others.end()) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("the set '{}' refers to frames of the set '{}'", found->name, set.name), path_, {},
              "remove that one first");
}

Result<void> Store::remove(const std::string& name) const {
  FOREBAY_TRY(const SetInfo info, find(name));
  FOREBAY_CHECK(check_not_needed(info));
  FOREBAY_CHECK(make_directory(staging_of(path_)));
  FOREBAY_TRY(const StagingName staging, StagingName::take(staging_of(path_), name));
  const std::string set = set_directory(path_, name);
  if (::rename(set.c_str(), staging.path().c_str()) != 0) return fail_errno(errno, "rename", set);
  if (auto checked = check_not_needed(info); !checked) {
    FOREBAY_CHECK(rename_new(AT_FDCWD, staging.path(), AT_FDCWD, set, set));
    return checked;
  }
  FOREBAY_CHECK(sync_directory(sets_of(path_)));
  return remove_tree(AT_FDCWD, staging.path(), staging.path());
}

}  // namespace forebay::store
