// How a set comes to be and goes. Every step leaves the store in a state that readers may see and that a later
// Store::open_for_writing() tidies up. What each step is on a file system, and how it is made durable, is
// posix_backend.cc's.
//
// Announcing parents:
//   1. write a manifest with the set's name and parents, and nothing else, to the staging directory;
//   2. check that the parents are there.
// Commit (the containers in the staging directory are durable before):
//   1. find the set's place in its series; check that its name is free, that each container is there with the size that
//   the manifest gives, and that
//      the announced parents still are;
//   2. write the manifest and fsync it; over one that announces parents, which others read, by a temporary name and a
//      rename;
//   3. fsync the staging directory;
//   4. rename staging/NAME... to sets/NAME, never replacing: from here on readers see the set;
//   5. fsync sets/; if that fails, move the set back out of sight, for nobody knows whether it would survive;
//   6. release the staging name.
// Removal is removal.cc's.
#include "store/store.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "base/parallel_for.h"
#include "store/files.h"
#include "store/listing.h"
#include "store/posix_backend.h"
#include "store/series.h"

namespace forebay::store {
namespace {

std::unexpected<Error> taken(std::string_view name, const std::string& store) {
  return fail(ErrorKind::exists, fmt::format("the store already has a set '{}'", name), store, {},
              "choose another name, or remove that set first: `forebay remove STORE NAME`");
}

// That a parent is the set that was meant.
Result<void> check_parent(const std::shared_ptr<const Backend>& backend, const ParentEntry& parent) {
  const auto set = read_set(backend, parent.name);
  const auto lost = [&](const char* what) {
    return fail(ErrorKind::changed, fmt::format("the set '{}', in which frames of this set lie, {}", parent.name, what),
                backend->path(), {}, "pack again");
  };
  if (!set && set.error().kind == ErrorKind::not_found) return lost("was removed meanwhile");
  FOREBAY_CHECK(set);
  FOREBAY_CHECK(set->manifest);
  if (set->manifest->created_ns != parent.created_ns) return lost("was replaced by another one");
  return {};
}

}  // namespace

SetFiles::SetFiles(std::shared_ptr<const Backend> backend, std::string set)
    : backend_(std::move(backend)), set_(std::move(set)), path_(backend_->path_of(set_)) {}

Result<std::unique_ptr<ByteSource>> SetFiles::open(const std::string& container) const {
  if (!backend_ || !is_set_name(set_) || !is_set_name(container))
    return fail(ErrorKind::not_found, "there is no such container", path_of(container));
  return backend_->open(set_, container);
}

Result<std::vector<std::string>> SetFiles::names() const {
  if (!backend_ || !is_set_name(set_)) return std::vector<std::string>();
  return backend_->names_in(set_);
}

std::optional<int64_t> SetFiles::written_ns() const {
  if (!backend_ || !is_set_name(set_)) return std::nullopt;
  return backend_->written_ns(set_);
}

SetFiles SetFiles::of(const std::string& other) const { return backend_ ? SetFiles(backend_, other) : SetFiles(); }

StagedSet::StagedSet(std::shared_ptr<const Backend> backend, std::string name, std::unique_ptr<Staging> staging)
    : backend_(std::move(backend)), name_(std::move(name)), staging_(std::move(staging)) {}

Result<void> StagedSet::announce(std::span<const ParentEntry> parents) {
  if (parents.empty()) return {};
  Manifest draft{.name = name_};
  draft.parents.assign(parents.begin(), parents.end());
  draft.since_full = 1;
  FOREBAY_CHECK(staging_->announce(serialise(draft)));
  for (const ParentEntry& parent : parents) FOREBAY_CHECK(check_parent(backend_, parent));
  announced_ = std::move(draft.parents);
  return {};
}

Result<Manifest> StagedSet::placed(Manifest manifest) const {
  FOREBAY_TRY(const auto sets, Store(backend_).outline());
  manifest.ordinal = newest_place(sets, manifest.origin.series) + 1;
  return manifest;
}

Result<void> StagedSet::commit(const Manifest& said, Place place) {
  FOREBAY_TRY(const bool is_taken, backend_->has(name_));
  if (is_taken) return taken(name_, backend_->path());
  FOREBAY_TRY(const Manifest manifest, place == Place::next ? placed(said) : Result<Manifest>(said));
  FOREBAY_TRY(const std::string text, complete(manifest));
  auto published = staging_->publish(text);
  if (!published && published.error().kind == ErrorKind::exists) return taken(name_, backend_->path());
  return published;
}

Result<void> StagedSet::replace(const Manifest& manifest) {
  FOREBAY_TRY(const std::string text, complete(manifest));
  return staging_->replace(text, [&](std::string_view there) {
    const auto before = parse_manifest(there, name_);
    return before && before->created_ns == manifest.created_ns;
  });
}

// The manifest's text, when all that it lists is there.
Result<std::string> StagedSet::complete(const Manifest& manifest) const {
  FOREBAY_TRY(std::string text, checked_text(manifest));
  FOREBAY_CHECK(parallel_for(manifest.containers.size(), kCallsAtOnce, [&](size_t i) {
    return staging_->check(manifest.containers[i].name, manifest.containers[i].bytes);
  }));
  for (const ParentEntry& parent : manifest.parents) {
    const auto is_it = [&](const ParentEntry& a) { return a.name == parent.name && a.created_ns == parent.created_ns; };
    if (std::ranges::any_of(announced_, is_it)) FOREBAY_CHECK(check_parent(backend_, parent));
  }
  return text;
}

Result<std::string> StagedSet::checked_text(const Manifest& manifest) const {
  std::string text = serialise(manifest);
  const std::string place = staging_->path_of("");
  const auto read_back = parse_manifest(text, staging_->path_of("manifest"));
  if (!read_back) return fail(ErrorKind::invalid_argument, read_back.error().what, place);
  if (manifest.name != name_) return fail(ErrorKind::invalid_argument, "the manifest names another set", place);
  if (text.size() > kMaxManifestBytes)
    return fail(ErrorKind::limit, "too many containers for one set", place, {}, "use larger rank groups");
  return text;
}

Result<Store> Store::open(const std::string& path) {
  FOREBAY_TRY(auto backend, open_directory(path));
  return Store(std::move(backend));
}

Result<Store> Store::open_for_writing(const std::string& path) {
  FOREBAY_TRY(auto backend, make_directory_store(path));
  backend->clean();
  return Store(std::move(backend));
}

static std::vector<SetInfo> in_order(SetTable table) {
  std::vector<SetInfo> sets;
  for (auto& [name, set] : table) sets.push_back(std::move(set));
  sort_oldest_first(sets);
  return sets;
}

Result<std::vector<SetInfo>> Store::list() const {
  SetTable table;
  FOREBAY_CHECK(refresh(backend_, table));
  return in_order(std::move(table));
}

Result<std::vector<SetInfo>> Store::outline() const {
  FOREBAY_TRY(auto table, store::outline(backend_, false));
  return in_order(std::move(table));
}

Result<std::optional<SetInfo>> Store::choose(const Choice& choose) const {
  for (const bool is_fresh : {false, true}) {
    FOREBAY_TRY(auto table, store::outline(backend_, is_fresh));
    const std::vector<SetInfo> sets = in_order(std::move(table));
    FOREBAY_TRY(const auto name, choose(sets));
    if (!name) return std::nullopt;
    const auto outline = std::ranges::find(sets, *name, &SetInfo::name);
    auto set = find(*name);
    const bool is_it = set && set->manifest && outline != sets.end() && set->stamp == outline->stamp;
    if (is_it || is_fresh) return set;
  }
  return std::nullopt;
}

Result<std::vector<std::string>> Store::names() const { return names_of_sets(*backend_); }

Result<bool> Store::has(std::string_view name) const {
  if (!is_set_name(name)) return false;
  return backend_->has(std::string(name));
}

Result<SetInfo> Store::find(std::string_view name) const {
  auto set = is_set_name(name)
                 ? read_set(backend_, std::string(name))
                 : fail(ErrorKind::not_found, fmt::format("there is no set '{}'", name), backend_->path());
  if (set || set.error().kind != ErrorKind::not_found) return set;
  const auto near = nearest_names(name, names_of_sets(*backend_).value_or(std::vector<std::string>{}));
  set.error().hint =
      near.empty() ? "`forebay ls STORE` lists the sets" : fmt::format("did you mean {}?", fmt::join(near, " or "));
  return set;
}

Result<std::unique_ptr<StagedSet>> Store::stage(const std::string& name) const {
  if (!is_set_name(name))
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' cannot be the name of a set", name), {}, {},
                "use at most 200 bytes that can be shown, without '/', and without a dot in front; 'latest' is taken");
  FOREBAY_TRY(const bool is_taken, backend_->has(name));
  if (is_taken) return taken(name, backend_->path());
  FOREBAY_TRY(auto staging, backend_->stage(name));
  return std::make_unique<StagedSet>(backend_, name, std::move(staging));
}

Result<std::unique_ptr<StagedSet>> Store::restage(const std::string& name) const {
  FOREBAY_TRY(const SetInfo set, find(name));
  FOREBAY_TRY(auto staging, backend_->stage(set.name));
  return std::make_unique<StagedSet>(backend_, set.name, std::move(staging));
}

Result<std::unique_ptr<StagedContainers>> Store::join(const std::string& id) const { return backend_->join(id); }

Result<void> Store::sync() const { return backend_->sync_sets(); }

Result<std::vector<Manifest>> Store::staged() const {
  backend_->clean();
  FOREBAY_TRY(const auto announced, backend_->announced());
  std::vector<Manifest> manifests;
  for (const auto& [id, text] : announced)
    if (auto manifest = parse_manifest(text, id)) manifests.push_back(*std::move(manifest));
  return manifests;
}

}  // namespace forebay::store
