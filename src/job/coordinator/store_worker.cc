#include "job/coordinator/store_worker.h"

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parallel_for.h"
#include "engine/pack/set_before.h"
#include "store/files.h"
#include "store/names.h"
#include "store/series.h"
#include "store/store.h"

namespace forebay::job {
namespace {

constexpr uint64_t kMaxNumber = 10'000;  // of sets of one name

// A commit that is tried again has perhaps renamed the directory to the set's name before: what could not be synced
// there is moved back, if the file system lets us.
Result<void> remove_others(const std::string& directory, const store::Manifest& manifest) {
  struct stat there{};
  if (::lstat(directory.c_str(), &there) != 0 && errno == ENOENT) return {};
  FOREBAY_TRY(auto others, store::names_in(directory));
  std::unordered_set<std::string_view> kept;
  for (const store::ContainerEntry& container : manifest.containers) kept.insert(container.name);
  std::erase_if(others, [&](const std::string& name) { return kept.contains(name); });
  return parallel_for(others.size(), store::kParallelFor, [&](size_t i) {
    const std::string path = directory + "/" + others[i];
    return store::remove_tree(AT_FDCWD, path, path);
  });
}

}  // namespace

struct StoreWorker::Impl {
  Impl(std::string path, std::function<void(StoreAnswer)> to)
      : path_(std::move(path)), answer_(std::move(to)), thread_([this](std::stop_token stop) { work(stop); }) {}

  void work(const std::stop_token& stop) {
    while (true) {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return !commands_.empty(); }) || stop.stop_requested()) return;
      const StoreCommand command = std::move(commands_.front());
      commands_.pop_front();
      lock.unlock();
      if (const auto* abandon = std::get_if<Abandon>(&command))
        staged_.erase(abandon->set);
      else
        std::visit([this](const auto& one) { perform(one); }, command);
      done_.clear();  // after the answer: removing takes a slow file system a while
    }
  }

  Result<const store::Store*> opened() {
    if (!store_) {
      FOREBAY_TRY(auto store, store::Store::open_for_writing(path_));
      store_.emplace(std::move(store));
    }
    return &*store_;
  }

  void perform(const LookUp& command) {
    uint64_t taken = 0;
    auto stored = look_up(command, taken);
    answer_(LookedUp{command.set, std::move(stored), taken});
  }
  void perform(const Stage& command) { answer_(Staged{command.set, stage(command)}); }
  void perform(const Commit& command) { answer_(Committed{command.set, commit(command)}); }
  void perform(const Abandon&) {}
  void perform(const ListSets&) { answer_(ListedSets{list()}); }

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
        sets.push_back({set->name, set->manifest->sources});
    }
    // Who committed them may have died, or failed, before their names were durable, and they are taken for durable now.
    if (!sets.empty()) FOREBAY_CHECK(store::sync_directory(path_ + "/sets"));
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
      place.directory = (*staged)->directory();
      place.number = number;
      staged_[command.set] = *std::move(staged);
      break;
    }
    if (command.profile.empty()) return place;
    if (!known_) {
      FOREBAY_TRY(known_, store->list());
    }
    const auto before = engine::find_set_before(store::of_series(*known_, command.series), command.profile,
                                                command.ranks, command.group_size);
    place.before = before.directory;
    place.since_chosen = before.since_chosen;
    return place;
  }

  Result<void> commit(const Commit& command) {
    const auto found = staged_.find(command.set);
    if (found == staged_.end()) return fail(ErrorKind::internal, "a set is to be committed that is not staged");
    if (command.has_others) FOREBAY_CHECK(remove_others(found->second->directory(), command.manifest));
    FOREBAY_CHECK(found->second->commit(command.manifest));
    if (known_) note(command.manifest);
    done_.push_back(std::move(found->second));
    staged_.erase(found);
    return {};
  }

  // The last one of each kind is enough to find what is remembered.
  void note(const store::Manifest& manifest) {
    std::erase_if(*known_, [&](const store::SetInfo& set) {
      return !set.manifest ||
             (set.manifest->origin.series == manifest.origin.series && set.manifest->profile == manifest.profile &&
              set.manifest->ranks == manifest.ranks && set.manifest->group_size == manifest.group_size);
    });
    known_->push_back({manifest.name, path_ + "/sets/" + manifest.name, manifest});
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
  std::optional<std::vector<store::SetInfo>> known_;  // what there was at first, and has been committed here since
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<StoreCommand> commands_;
  std::jthread thread_;  // last: it ends before the rest goes
};

StoreWorker::StoreWorker(std::string store, std::function<void(StoreAnswer)> answer)
    : impl_(std::make_unique<Impl>(std::move(store), std::move(answer))) {}

StoreWorker::~StoreWorker() = default;

void StoreWorker::submit(StoreCommand command) {
  const std::scoped_lock lock(impl_->mutex_);
  impl_->commands_.push_back(std::move(command));
  impl_->wake_.notify_one();
}

}  // namespace forebay::job
