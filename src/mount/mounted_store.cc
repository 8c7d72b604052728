#include "mount/mounted_store.h"

#include <algorithm>
#include <ctime>
#include <ranges>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/checksum.h"
#include "store/series.h"

namespace forebay::mount {
namespace {

constexpr auto kLookAgainAfter = std::chrono::seconds(1);

std::vector<const Catalogue*> catalogues_of(const engine::OpenSet& set) {
  std::vector<const Catalogue*> catalogues;
  for (const auto& container : set.containers) catalogues.push_back(&container.catalogue());
  return catalogues;
}

// Files that this process may have open. Sets that refer to others open these, too, and files that are open keep
// theirs.
size_t descriptor_limit() {
  constexpr size_t kUsual = 1024;
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<size_t>(limit.rlim_cur) : kUsual;
}

uint64_t content_of(const engine::OpenSet& set) {
  std::string paths;
  for (const auto& container : set.containers) paths += container.path + '\n';
  return hash64(as_bytes(paths));
}

}  // namespace

MountedSet::MountedSet(std::string name, int64_t created_ns, std::unique_ptr<engine::SharedReader> reader)
    : name_(std::move(name)),
      created_ns_(created_ns),
      reader_(std::move(reader)),
      content_(content_of(reader_->set())),
      tree_(catalogues_of(reader_->set()), created_ns / 1'000'000'000),
      memory_bytes_(engine::memory_of(reader_->set()) + tree_.memory_bytes()) {}

Result<size_t> MountedSet::read(const Tree::Node& node, uint64_t offset, std::span<std::byte> out) const {
  if (offset >= node.size) return 0;
  const auto part = out.first(std::min<uint64_t>(out.size(), node.size - offset));
  if (part.empty()) return 0;
  FOREBAY_TRY([[maybe_unused]] const auto cost, reader_->read_file(node.container, node.file, offset, part));
  return part.size();
}

void MountedSet::fetch(const Tree::Node& node, uint64_t offset, uint64_t bytes) const {
  if (offset < node.size) reader_->fetch_file(node.container, node.file, offset, std::min(bytes, node.size - offset));
}

MountedStore::MountedStore(store::Store store, const MountOptions& options, Log log)
    : store_(std::move(store)),
      options_(options),
      log_(std::move(log)),
      // A frame that a restore has room for is to have it here: indices take theirs only while sets are open, and the
      // rest is for what is handed to the kernel.
      cache_(std::make_shared<engine::FrameCache>(options.resources.memory_bytes / 8 * 7)),
      index_bytes_(options.resources.memory_bytes / 4),
      most_containers_(descriptor_limit() / 2),
      opened_s_(std::time(nullptr)) {}

Result<std::unique_ptr<MountedStore>> MountedStore::open(const std::string& path, const MountOptions& given, Log log) {
  MountOptions options = given;
  options.resources = given.resources.resolved();
  FOREBAY_TRY(options.resources.memory_bytes, engine::buffer_bytes(options.resources.memory_bytes));
  FOREBAY_TRY(auto store, store::Store::open(path));
  FOREBAY_TRY(const auto sets, store.outline());
  if (options.latest || !options.series.empty()) {
    FOREBAY_TRY(options.series, store::choose_series(sets, options.series, path));
  }
  return std::unique_ptr<MountedStore>(new MountedStore(std::move(store), options, std::move(log)));
}

Result<void> MountedStore::look() {
  const auto now = std::chrono::steady_clock::now();
  if (has_looked_ && now - looked_ < kLookAgainAfter) return {};
  FOREBAY_TRY(sets_, store_.outline());
  if (!options_.series.empty()) sets_ = store::of_series(sets_, options_.series);
  // What was removed is let go of, but for files that are open.
  std::set<std::pair<std::string_view, int64_t>> there;
  std::set<std::string> damaged;
  for (const store::SetInfo& set : sets_)
    if (set.manifest)
      there.emplace(set.name, set.manifest->created_ns);
    else
      damaged.insert(set.name);
  const auto is_gone = [&](const auto& open) {
    return !damaged.contains(open->name()) && !there.contains({open->name(), open->created_ns()});
  };
  while (open_.take_oldest(is_gone)) {
  }
  for (const store::SetInfo& set : sets_)
    if (!set.manifest && !damaged_.contains(set.name))
      log_(fmt::format("set {} cannot be opened: {}", set.name, set.manifest.error().message()));
  damaged_ = std::move(damaged);
  looked_ = now;
  has_looked_ = true;
  return {};
}

Result<std::vector<std::string>> MountedStore::set_names() {
  const std::lock_guard lock(mutex_);
  FOREBAY_CHECK(look());
  std::vector<std::string> names;
  for (const store::SetInfo& set : sets_) names.push_back(set.name);
  return names;
}

Result<std::string> MountedStore::newest_set() {
  const std::lock_guard lock(mutex_);
  FOREBAY_CHECK(look());
  for (const store::SetInfo& set : sets_ | std::views::reverse)
    if (set.manifest) return set.name;
  return fail(ErrorKind::not_found, "the store has no set that can be read", store_.path());
}

Result<std::shared_ptr<const MountedSet>> MountedStore::set(std::string_view name) {
  const std::lock_guard lock(mutex_);
  FOREBAY_CHECK(look());
  const auto info = std::ranges::find(sets_, name, &store::SetInfo::name);
  if (info == sets_.end())
    return fail(ErrorKind::not_found, fmt::format("the store has no set {}", name), store_.path());
  if (const auto* const open = open_.find(info->name)) {
    if (!info->manifest || (*open)->created_ns() == info->manifest->created_ns) return *open;
    open_.take(info->name);  // another set has the name now; who reads the one before keeps it
  }
  FOREBAY_CHECK(info->manifest);
  FOREBAY_TRY(const store::SetInfo whole, store_.find(std::string(name)));
  if (!whole.manifest) return std::unexpected(whole.manifest.error());
  close_unused(whole.manifest->containers.size());
  std::vector<std::string> unread;
  FOREBAY_TRY(auto set, engine::open_containers(whole, whole.manifest->containers, index_bytes_, &unread));
  for (const std::string& damage : unread) log_(fmt::format("set {}: files are missing: {}", name, damage));
  auto reader = std::make_unique<engine::SharedReader>(std::move(set), cache_, options_.resources.threads);
  const int64_t created_ns = whole.manifest->created_ns;
  const auto opened = std::make_shared<const MountedSet>(whole.name, created_ns, std::move(reader));
  open_.add(whole.name, opened);
  uint64_t used = 0;
  open_.for_each([&](const auto& open) { used += open->memory_bytes(); });
  cache_->lend(std::min(used, index_bytes_));
  return opened;
}

// Closes those that nobody has a file of open, oldest first, until half of the memory for indices is free, and so many
// more containers can be opened.
void MountedStore::close_unused(size_t containers) {
  uint64_t used = 0;
  open_.for_each([&](const auto& open) {
    used += open->memory_bytes();
    containers += open->containers();
  });
  while (used > index_bytes_ / 2 || containers > most_containers_) {
    const auto closed = open_.take_oldest([](const auto& open) { return open.use_count() == 1; });
    if (!closed) break;
    used -= (*closed)->memory_bytes();
    containers -= (*closed)->containers();
  }
}

}  // namespace forebay::mount
