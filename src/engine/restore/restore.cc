// Restoring a set, as numbered steps:
//   1. for one container after the other: open it, and choose its files and the frames that hold their bytes
//   2. make the files, without names, and write each decoded frame's pieces into them; compare each file's CRC
//   3. when all containers are done, give all files their names, and directories and links their places
// The last two are FileWriter's.
#include "engine/restore/restore.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <ranges>

#include <fmt/format.h>

#include "engine/restore/directory_target.h"
#include "engine/restore/write_files.h"
#include "engine/set/each_container.h"
#include "engine/set/set_files.h"
#include "store/series.h"

namespace forebay::engine {
namespace {

using Clock = std::chrono::steady_clock;

class Restorer {
 public:
  Restorer(const RestoreOptions& options, const Resources& resources, RestoreReport& report)
      : options_(options), resources_(resources), report_(report) {}

  Result<void> run(const store::SetInfo& info) {
    if (!info.manifest) return std::unexpected(info.manifest.error());
    FOREBAY_CHECK(check_lost(info));
    if (options_.only.empty()) total_bytes_ = info.manifest->raw_bytes();
    FOREBAY_CHECK(for_each_container(info, containers_with_names(*info.manifest, options_.only), resources_,
                                     [&](size_t, const Result<OpenContainer>& container, uint64_t memory_bytes) {
                                       return take(container, memory_bytes);
                                     }));
    if (!writer_ && !options_.only.empty())
      return fail(ErrorKind::not_found, "no file of the set matches --only", info.name, {},
                  "`forebay ls STORE NAME` lists them");
    FOREBAY_CHECK(open_target());
    FOREBAY_TRY(const WrittenFiles written, writer_->name_files());
    report_.files = written.files;
    report_.bytes = written.bytes;
    return target_->finish();
  }

 private:
  Result<void> check_lost(const store::SetInfo& info) {
    const auto& lost = info.manifest->lost_containers;
    if (!lost.empty() && options_.only.empty())
      return fail(ErrorKind::corrupt, "the container was lost before this set was repaired, and its files with it",
                  info.files.path_of(lost.front()), {}, "--only restores files of the other containers");
    for (const std::string& name : lost)
      report_.unread.push_back(info.files.path_of(name) + ": the container was lost before this set was repaired");
    return {};
  }

  // Once there is something to restore.
  Result<void> open_target() {
    if (writer_) return {};
    FOREBAY_TRY(auto target, DirectoryTarget::open(options_.target, options_.overwrite, options_.special_modes));
    target_.emplace(std::move(target));
    writer_.emplace(*target_, resources_, total_bytes_);
    return {};
  }

  // Of some files only, those in containers that are damaged as a whole are told, and left out.
  Result<uint64_t> take(const Result<OpenContainer>& container, uint64_t memory_bytes) {
    if (!container) {
      if (options_.only.empty() || !is_damage(container.error())) return std::unexpected(container.error());
      report_.unread.push_back(container.error().message());
      return 0;
    }
    const Selection selection =
        select(*container, [&](const FileRow& file) { return matches_any(options_.only, file.name); });
    if (selection.is_empty()) return 0;
    FOREBAY_CHECK(open_target());
    if (!options_.special_modes) note_special_modes(selection);
    return writer_->write(selection, memory_bytes);
  }

  void note_special_modes(const Selection& selection) {
    const auto& files = selection.container->catalogue().files;
    for (size_t i = 0; i < files.size(); ++i)
      if (selection.wanted[i] && files[i].kind != FileKind::symlink && (files[i].mode & store::kSpecialModes) != 0)
        report_.without_special_modes.push_back(files[i].name);
  }

  const RestoreOptions& options_;
  const Resources& resources_;
  RestoreReport& report_;
  std::optional<DirectoryTarget> target_;
  std::optional<FileWriter> writer_;
  uint64_t total_bytes_ = 0;  // as far as it is known beforehand
};

// Whether the set is why it could not be restored: its bytes are wrong, or cannot be read.
bool is_damaged(const store::SetInfo& info, const Error& error) {
  if (!info.manifest || error.kind == ErrorKind::corrupt) return true;
  const bool is_unreadable =
      error.kind == ErrorKind::io || error.kind == ErrorKind::permission || error.kind == ErrorKind::changed;
  return is_unreadable && error.path.starts_with(info.files.path_of(""));
}

// The newest set whose manifest can be read; none if there is none. `unread` are those that may be newer, with the
// reason.
Result<std::optional<store::SetInfo>> find_newest(const store::Store& store, const std::string& wanted,
                                                  std::vector<std::string>& unread) {
  return store.choose([&](std::span<const store::SetInfo> all) -> Result<std::optional<std::string>> {
    FOREBAY_TRY(const std::string series, store::choose_series(all, wanted, store.path()));
    std::optional<std::string> newest;
    unread.clear();
    for (const store::SetInfo& set : store::of_series(all, series) | std::views::reverse)
      if (!set.manifest)
        unread.push_back(set.name + ": " + set.manifest.error().message());
      else if (!newest)
        newest = set.name;
    return newest;
  });
}

Result<RestoreReport> restore_newest(const store::Store& store, const RestoreOptions& options,
                                     const Resources& resources) {
  std::vector<std::string> unread;
  FOREBAY_TRY(const auto newest, find_newest(store, options.series, unread));
  RestoreReport first{.name = newest ? newest->name : ""};
  const bool is_wanted = newest && !newest->refused;
  const Result<void> tried = is_wanted ? Restorer(options, resources, first).run(*newest) : Result<void>();
  if (is_wanted && tried) {
    first.skipped = std::move(unread);
    return first;
  }
  FOREBAY_TRY(const auto all, store.list());
  FOREBAY_TRY(const std::string series, store::choose_series(all, options.series, store.path()));
  auto sets = store::of_series(all, series);
  if (sets.empty()) return fail(ErrorKind::not_found, "the store has no sets", store.path());
  std::ranges::reverse(sets);
  std::vector<std::string> skipped;
  Error first_damage;
  for (auto info = sets.begin(); info != sets.end(); ++info) {
    if (info->refused) {
      if (skipped.empty())
        first_damage = {ErrorKind::not_found, "no set of the store is to be restarted from", {}, {}, {}};
      skipped.push_back(fmt::format("{}: was set aside: {}", info->name, *info->refused));
      continue;
    }
    RestoreReport report{.name = info->name};
    const bool was_tried = is_wanted && info->name == newest->name && info->stamp == newest->stamp;
    const Result<void> restored = was_tried ? tried : Restorer(options, resources, report).run(*info);
    if (restored) {
      // A set without a readable manifest has no known age: it may be newer.
      for (++info; info != sets.end(); ++info)
        if (!info->manifest) skipped.push_back(info->name + ": " + info->manifest.error().message());
      report.skipped = std::move(skipped);
      return report;
    }
    if (!is_damaged(*info, restored.error())) return std::unexpected(restored.error());
    if (skipped.empty() || first_damage.kind == ErrorKind::not_found) first_damage = restored.error();
    skipped.push_back(info->name + ": " + restored.error().message());
  }
  first_damage.hint = fmt::format(
      "all {} sets of the store are damaged or were set aside; `forebay repair` may save some files", sets.size());
  return std::unexpected(first_damage);
}

}  // namespace

Result<RestoreReport> restore(const RestoreOptions& options) {
  const auto start = Clock::now();
  Resources resources = options.resources.resolved();
  FOREBAY_TRY(resources.memory_bytes, buffer_bytes(resources.memory_bytes));
  FOREBAY_TRY(const auto store, store::Store::open(options.store));
  RestoreReport report;
  if (options.name == "latest") {
    FOREBAY_TRY(report, restore_newest(store, options, resources));
  } else {
    FOREBAY_TRY(const auto info, store.find(options.name));
    report.name = info.name;
    FOREBAY_CHECK(Restorer(options, resources, report).run(info));
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return report;
}

}  // namespace forebay::engine
