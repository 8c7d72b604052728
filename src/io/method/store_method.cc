// Sets of a store: what ranks write is staged in the memory of their node as it is, and packed, merged over ranks,
// while the program goes on: by the agent and the aggregators of the job that it runs in (`forebay run`), else by a
// thread of the first rank.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "io/method/agreement.h"
#include "io/method/joined.h"
#include "io/method/methods.h"
#include "io/method/staged_file.h"
#include "io/method/taker.h"
#include "store/store.h"

namespace forebay::io {
namespace {
namespace fs = std::filesystem;

// Large blocks are staged while the program's memory holds them, at the cost of one copy.
class StoreFile final : public OpenFile {
 public:
  // Collective.
  static Outcome<std::unique_ptr<OpenFile>> open(const OpenRequest& request, std::shared_ptr<Taker> taker,
                                                 uint32_t last_time_index) {
    FOREBAY_TRY(Staging staging, taker->begin(*request.communicator));
    return std::make_unique<StoreFile>(request, std::move(taker), std::move(staging), last_time_index);
  }

  StoreFile(const OpenRequest& request, std::shared_ptr<Taker> taker, Staging staging, uint32_t last_time_index)
      : request_(request),
        taker_(std::move(taker)),
        standing_{.steps = 0, .last_time_index = last_time_index},
        staging_(std::move(staging)) {
    if (Pacing* pacing = taker_->pacing()) pacing->begin_writing();
  }

  ~StoreFile() override {
    if (staging_) taker_->drop(*staging_);
    if (Pacing* pacing = taker_->pacing()) pacing->end_writing();
  }

  const Standing& standing() const override { return standing_; }

  uint64_t room() override {
    const bool has_room = !has_joined(*request_.group) && staging_ && taker_->has_place_for(*staging_);
    return has_room ? UINT64_MAX : 0;
  }

  Outcome<void> spill(const ProcessGroup& group) override {
    Outcome<void> spilled = begin_file(group);
    if (spilled) {
      ProcessGroup mine = group;
      if (has_spilled_) mine.attributes.clear();
      spilled = staging_->file->spill(mine);
    }
    has_spilled_ = has_spilled_ || spilled;
    if (spilled_ && !spilled) spilled_ = spilled;
    return spilled;
  }

  Outcome<void> close(std::span<ProcessGroup> groups) override {
    Communicator& ranks = *request_.communicator;
    FOREBAY_CHECK(join_blocks(ranks, *request_.group, groups));
    Outcome<void> all;
    for (ProcessGroup& group : groups) {
      Outcome<void> begun;
      if (!staging_) begun = begin_set(ranks);
      Outcome<void> taken = begun ? taker_->take(ranks, *staging_, name_of(group), group, finish_file(group)) : begun;
      if (staging_) taker_->drop(*staging_);
      staging_.reset();
      if (all && !taken) all = std::move(taken);
    }
    return all;
  }

 private:
  std::string name_of(const ProcessGroup& group) const { return staged_set_name(request_.path, group.time_index); }

  // Collective.
  Outcome<void> begin_set(Communicator& ranks) {
    FOREBAY_TRY(staging_, taker_->begin(ranks));
    return {};
  }

  Outcome<void> begin_file(const ProcessGroup& group) {
    if (staging_->file) return {};
    FOREBAY_TRY(const std::string path, taker_->place_of(*staging_, name_of(group), group));
    FOREBAY_TRY(staging_->file, open_staged(path, taker_->memory()));
    return {};
  }

  Outcome<void> finish_file(ProcessGroup& group) {
    FOREBAY_CHECK(std::exchange(spilled_, {}));
    FOREBAY_CHECK(begin_file(group));
    const bool has_spilled = std::exchange(has_spilled_, false);
    if (has_spilled) group.attributes.clear();
    const auto file = std::exchange(staging_->file, nullptr);
    const bool is_all_there = has_spilled && group.blocks.empty();
    return finish_staged(*file, std::span<const ProcessGroup>(&group, is_all_there ? 0 : 1));
  }

  const OpenRequest request_;
  const std::shared_ptr<Taker> taker_;
  const Standing standing_;
  std::optional<Staging> staging_;  // of the set that is written next
  bool has_spilled_ = false;        // some of it
  Outcome<void> spilled_;           // the first failure, which the close tells to all
};

class StoreMethod final : public Method {
 public:
  explicit StoreMethod(StoreSettings settings) : settings_(std::move(settings)) {}

  Traits traits() const override { return {.characterises_later = true}; }

  Outcome<std::unique_ptr<OpenFile>> open(const OpenRequest& request) override {
    if (request.mode == OpenMode::update || request.mode == OpenMode::read)
      return refuse(Code::invalid_mode, "a set of a store cannot be changed, and this method does not read",
                    "open it with the mode w or a, or take the method MPI", request.path, ErrorKind::unsupported);
    Communicator& communicator = *request.communicator;
    if (!taker_) {
      FOREBAY_TRY(taker_, make_taker(communicator, request));
    }
    FOREBAY_CHECK(taker_->make_room(communicator));
    FOREBAY_TRY(const uint32_t last, last_of(request));
    return StoreFile::open(request, taker_, last);
  }

  void begin_calculation() override {
    if (Pacing* pacing = taker_ ? taker_->pacing() : nullptr) pacing->begin_calculation();
  }
  void end_calculation() override {
    if (Pacing* pacing = taker_ ? taker_->pacing() : nullptr) pacing->end_calculation();
  }

  Outcome<void> finalize(Communicator& communicator) override {
    // Ranks that opened no file have no taker, and do not keep the others waiting.
    FOREBAY_TRY(const uint64_t takers, communicator.all_reduce(taker_ ? 1 : 0, Reduction::sum));
    if (takers == 0) return {};
    Outcome<void> mine;
    if (taker_) {
      const auto alone = single_process();
      mine = taker_->finish(*alone);
    }
    const Outcome<void> all = agree(communicator, mine);
    if (taker_) taker_->drop_memory();
    FOREBAY_CHECK(communicator.barrier());  // the first rank's place goes when nothing of the others is in it
    taker_.reset();
    return all;
  }

 private:
  Outcome<std::shared_ptr<Taker>> make_taker(Communicator& communicator, const OpenRequest& request) {
    const char* stage = std::getenv("FOREBAY_STAGE");
    if (stage != nullptr && *stage != '\0') return agent_taker(communicator, stage, settings_.may_skip);
    StoreSettings settings = settings_;
    settings.packing.store = store_of(request);
    return thread_taker(std::move(settings));
  }

  std::string store_of(const OpenRequest& request) const {
    if (!settings_.packing.store.empty()) return settings_.packing.store;
    return (fs::path(request.path).parent_path() / (request.group->name + ".store")).string();
  }

  // Collective: the last step of a file that programs before this one have put into the store, so that its steps come
  // behind those. Later opens need not look: the group counts on.
  Outcome<uint32_t> last_of(const OpenRequest& request) {
    Bytes last(sizeof(uint32_t));
    if (request.communicator->rank() == 0 && is_new(request.path)) {
      std::vector<std::string> sets = taker_->waiting();
      // A store that is not there, or cannot be read, is told of when a set is put into it.
      const auto store = store::Store::open(store_of(request));
      const auto outlines = store ? store->outline() : Result<std::vector<store::SetInfo>>();
      if (outlines)
        for (const store::SetInfo& set : *outlines) sets.push_back(set.name);
      store_le(last.data(), static_cast<uint32_t>(last_time_index(sets, request.path)));
    }
    FOREBAY_CHECK(request.communicator->broadcast(last, 0));
    if (last.size() != sizeof(uint32_t)) return refuse(Code::unspecified, "rank 0 did not say where the steps stand");
    return load_le<uint32_t>(last.data());
  }

  bool is_new(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return known_.insert(path).second;
  }

  const StoreSettings settings_;
  std::shared_ptr<Taker> taker_;
  std::mutex mutex_;             // guards known_
  std::set<std::string> known_;  // paths that were opened where this rank was the first
};

Outcome<std::unique_ptr<Method>> make_store_method(const Parameters& parameters) {
  StoreSettings settings;
  const char* store = std::getenv("FOREBAY_STORE");
  settings.packing.store = parameters.text("store", store == nullptr ? "" : store);
  settings.packing.series = parameters.text("series", settings.packing.series);
  FOREBAY_TRY(settings.packing.profile, codec::Profile::parse(parameters.text("profile", "balanced")));
  FOREBAY_TRY(settings.packing.memory_bytes, parameters.number("memory", settings.packing.memory_bytes));
  FOREBAY_TRY(const uint64_t threads, parameters.number("threads", settings.packing.threads));
  settings.packing.threads = static_cast<unsigned>(std::clamp<uint64_t>(threads, 1, 1024));
  settings.stage = parameters.text("stage", "");
  FOREBAY_TRY(settings.backlog, parameters.number("backlog", settings.backlog));
  FOREBAY_TRY(settings.may_skip, parameters.flag("skip", false));
  return std::make_unique<StoreMethod>(std::move(settings));
}

}  // namespace

MethodEntry store_method() {
  return {.name = "FOREBAY",
          .aliases = {},
          .parameters = {"store", "series", "profile", "memory", "threads", "stage", "backlog", "skip"},
          .make = make_store_method};
}

}  // namespace forebay::io
