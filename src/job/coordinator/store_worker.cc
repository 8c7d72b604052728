#include "job/coordinator/store_worker.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "base/parallel_for.h"
#include "engine/pack/set_before.h"
#include "job/thread/serial_worker.h"
#include "store/files.h"
#include "store/names.h"
#include "store/series.h"
#include "store/store.h"

namespace forebay::job {
namespace {

constexpr uint64_t kMaxNumber = 10'000;  // of sets of one name

// A commit that is tried again has perhaps made the set visible before: what could not be made durable then is taken
// back, if the file system lets us.
Result<void> remove_others(store::StagedContainers& staged, const store::Manifest& manifest) {
  FOREBAY_TRY(auto others, staged.names());
  std::unordered_set<std::string_view> kept;
  for (const store::ContainerEntry& container : manifest.containers) kept.insert(container.name);
  std::erase_if(others, [&](const std::string& name) { return kept.contains(name); });
  return parallel_for(others.size(), store::kCallsAtOnce, [&](size_t i) { return staged.remove(others[i]); });
}

// What is answered to a command that comes to an end by an exception: for want of memory, or by a defect.
std::function<std::optional<StoreAnswer>(const Error&)> failure_of(const StoreCommand& command) {
  if (const auto* one = std::get_if<LookUp>(&command))
    return [set = one->set](const Error& error) { return LookedUp{set, std::unexpected(error), 0}; };
  if (const auto* one = std::get_if<Stage>(&command))
    return [set = one->set](const Error& error) { return Staged{set, std::unexpected(error)}; };
  if (const auto* one = std::get_if<Commit>(&command))
    return [set = one->set](const Error& error) { return Committed{set, std::unexpected(error)}; };
  if (const auto* one = std::get_if<SetAside>(&command))
    return [name = one->name](const Error& error) { return WasSetAside{name, std::unexpected(error)}; };
  if (std::holds_alternative<ListSets>(command))
    return [](const Error& error) { return ListedSets{std::unexpected(error)}; };
  return [](const Error&) { return std::nullopt; };
}

}  // namespace

struct StoreWorker::Impl {
  Impl(std::string path, std::function<void(StoreAnswer)> to)
      : path_(std::move(path)),
        answer_(std::move(to)),
        worker_([](const auto& answer) { answer(); }),
        pruner_([](const auto& answer) { answer(); }) {}

  void submit(StoreCommand command) {
    if (const auto* const one = std::get_if<Prune>(&command)) return prune(*one);
    auto failed = failure_of(command);
    worker_.add([this, command = std::move(command)] { return perform(command); },
                [this, failed = std::move(failed)](Result<std::optional<StoreAnswer>> answer) {
                  if (!answer) answer = failed(answer.error());
                  if (*answer) answer_(**std::move(answer));
                });
    // After the answer: removing takes a slow file system a while.
    worker_.add(
        [this]() -> Result<void> {
          done_.clear();
          return {};
        },
        [](const Result<void>&) {});
  }

  // Nothing: it has no answer.
  Result<std::optional<StoreAnswer>> perform(const StoreCommand& command) {
    if (const auto* abandon = std::get_if<Abandon>(&command)) {
      staged_.erase(abandon->set);
      return std::nullopt;
    }
    return std::visit([this](const auto& one) { return answer_to(one); }, command);
  }

  void prune(const Prune& command) {
    pruner_.add(
        [path = path_, command]() -> Result<engine::Pruned> {
          constexpr uint64_t kMemory = 512u << 20;
          FOREBAY_TRY(const auto store, store::Store::open_for_writing(path));
          return engine::prune(store, {.series = command.series, .retention = command.retention},
                               {.memory_bytes = kMemory, .threads = 1});
        },
        [this](Result<engine::Pruned> pruned) { answer_(WasPruned{std::move(pruned)}); });
  }

  Result<const store::Store*> opened() {
    if (!store_) {
      FOREBAY_TRY(auto store, store::Store::open_for_writing(path_));
      store_.emplace(std::move(store));
    }
    return &*store_;
  }

  StoreAnswer answer_to(const LookUp& command) {
    uint64_t taken = 0;
    LookedUp answer{command.set, look_up(command, taken), taken};
    if (!answer.stored) return answer;
    if (const auto refreshed = refresh(); !refreshed) {
      answer.stored = std::unexpected(refreshed.error());
      return answer;
    }
    answer.newest_place = store::newest_place(*known_, command.series);
    if (const store::SetInfo* newest = store::newest_of(*known_, command.series)) answer.newest = *newest->manifest;
    return answer;
  }
  StoreAnswer answer_to(const Stage& command) { return Staged{command.set, stage(command)}; }
  StoreAnswer answer_to(const Commit& command) {
    Result<void> result = commit(command);
    return Committed{command.set, std::move(result), room()};
  }
  StoreAnswer answer_to(const Abandon&) { return {}; }
  StoreAnswer answer_to(const Prune&) { return {}; }
  StoreAnswer answer_to(const ListSets&) { return ListedSets{list()}; }
  StoreAnswer answer_to(const SetAside& command) { return WasSetAside{command.name, set_aside(command)}; }

  std::optional<StoreRoom> room() const {
    struct statvfs info{};
    if (::statvfs(path_.c_str(), &info) != 0) return std::nullopt;
    return StoreRoom{uint64_t{info.f_bavail} * info.f_frsize, uint64_t{info.f_blocks} * info.f_frsize};
  }

  Result<std::vector<StoredSet>> look_up(const LookUp& command, uint64_t& taken) {
    FOREBAY_TRY(const store::Store* store, opened());
    std::vector<StoredSet> sets;
    for (uint64_t number = 1; number <= kMaxNumber; ++number) {
      const std::string stored = store::stored_name(command.name, number);
      FOREBAY_TRY(const bool is_taken, store->has(stored));
      if (!is_taken) break;
      taken = number;
      const auto set = store->find(stored);
      FOREBAY_CHECK(set);
      if (set->manifest && set->manifest->origin.series == command.series &&
          store::application_name(*set->manifest) == command.name)
        sets.push_back({set->name, set->manifest->sources, set->manifest->ordinal});
    }
    // Who committed them may have died, or failed, before their names were durable, and they are taken for durable now.
    if (!sets.empty()) FOREBAY_CHECK(store->sync());
    return sets;
  }

  Result<StagedPlace> stage(const Stage& command) {
    FOREBAY_TRY(const store::Store* store, opened());
    StagedPlace place;
    for (uint64_t number = 1; number <= kMaxNumber; ++number) {
      place.name = store::stored_name(command.name, number);
      auto staged = store->stage(place.name);
      if (!staged && staged.error().kind == ErrorKind::exists && number < kMaxNumber) continue;
      if (!staged) return std::unexpected(staged.error());
      place.staged = (*staged)->id();
      place.number = number;
      staged_[command.set] = *std::move(staged);
      break;
    }
    if (command.profile.empty()) return place;
    FOREBAY_CHECK(refresh());
    const auto before = engine::find_set_before(store::of_series(*known_, command.series), command.profile,
                                                command.ranks, command.group_size);
    place.before = before.name;
    place.since_chosen = before.since_chosen;
    return place;
  }

  Result<void> commit(const Commit& command) {
    const auto found = staged_.find(command.set);
    if (found == staged_.end()) return fail(ErrorKind::internal, "a set is to be committed that is not staged");
    if (command.has_others) FOREBAY_CHECK(remove_others(found->second->containers(), command.manifest));
    FOREBAY_CHECK(found->second->commit(command.manifest, store::Place::as_said));
    if (known_) note(command.manifest);
    done_.push_back(std::move(found->second));
    staged_.erase(found);
    return {};
  }

  // Takes what others have committed since.
  Result<void> refresh() {
    FOREBAY_TRY(const store::Store* store, opened());
    if (!known_) {
      FOREBAY_TRY(known_, store->outline());
      for (const store::SetInfo& set : *known_) seen_.insert(set.name);
    }
    FOREBAY_TRY(const auto names, store->names());
    for (const std::string& name : names) {
      if (seen_.contains(name)) continue;
      auto set = store->find(name);
      if (!set) continue;  // removed meanwhile
      seen_.insert(name);
      known_->push_back(*std::move(set));
    }
    return {};
  }

  // The last one of each kind is enough to find what is remembered.
  void note(const store::Manifest& manifest) {
    seen_.insert(manifest.name);
    std::erase_if(*known_, [&](const store::SetInfo& set) {
      return !set.manifest ||
             (set.manifest->origin.series == manifest.origin.series && set.manifest->profile == manifest.profile &&
              set.manifest->ranks == manifest.ranks && set.manifest->group_size == manifest.group_size);
    });
    known_->push_back({manifest.name, store_->files_of(manifest.name), manifest});
  }

  Result<void> set_aside(const SetAside& command) {
    FOREBAY_TRY(const store::Store* store, opened());
    return store->set_aside(command.name, command.reason);
  }

  Result<std::vector<store::SetInfo>> list() {
    FOREBAY_TRY(const store::Store* store, opened());
    return store->list();
  }

  const std::string path_;
  const std::function<void(StoreAnswer)> answer_;
  std::optional<store::Store> store_;
  std::map<uint64_t, std::unique_ptr<store::StagedSet>> staged_;  // of the thread alone, as is the store
  std::vector<std::unique_ptr<store::StagedSet>> done_;           // committed; what is left of their staging goes later
  std::optional<std::vector<store::SetInfo>> known_;  // what there was at first, and has been committed since
  std::unordered_set<std::string> seen_;              // names of what is or was known
  SerialWorker worker_, pruner_;                      // last: they end before the rest goes
};

StoreWorker::StoreWorker(std::string store, std::function<void(StoreAnswer)> answer)
    : impl_(std::make_unique<Impl>(std::move(store), std::move(answer))) {}

StoreWorker::~StoreWorker() = default;

void StoreWorker::submit(StoreCommand command) { impl_->submit(std::move(command)); }

}  // namespace forebay::job
