// Sets of a store: what ranks write is staged in the memory of their node as it is, and packed, merged over ranks,
// while the program goes on: by the agent and the aggregators of the job that it runs in (`forebay run`), else by a
// thread of the first rank.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "base/bytes.h"
#include "io/method/agreement.h"
#include "io/method/joined.h"
#include "io/method/methods.h"
#include "io/method/staged_file.h"
#include "io/staging/packer.h"
#include "io/staging/reused_files.h"
#include "io/staging/stage_place.h"
#include "job/client/client.h"

namespace forebay::io {
namespace {
namespace fs = std::filesystem;

struct Settings {
  PackSettings packing;
  std::string stage;      // below which sets wait; empty: where memory is
  uint64_t backlog = 2;   // sets that may wait when a file is opened
  bool may_skip = false;  // whether the job may leave out a set for the sake of a newer one
};

Bytes message_with(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string directory_in(const Bytes& message) {
  return {reinterpret_cast<const char*>(message.data()), message.size()};
}

// A set of which this rank stages its part.
struct Staging {
  WaitingSet set;                    // that a thread of the first rank is to pack
  std::unique_ptr<SharedFile> file;  // once something is in it
};

// Where ranks leave what they wrote, and who takes it from there.
class Taker {
 public:
  virtual ~Taker() = default;
  // Collective, before a file is open.
  virtual Outcome<void> make_room(Communicator& communicator) = 0;
  // Collective.
  virtual Outcome<Staging> begin(Communicator& communicator) = 0;
  // Not collective: whether place_of() would be answered now.
  virtual bool has_place_for([[maybe_unused]] const Staging& staging) const { return true; }
  // Not collective, once for each set: where this rank's file of a set of this name lies.
  virtual Outcome<std::string> place_of(const Staging& staging, const std::string& name, const ProcessGroup& group) = 0;
  // Collective, once for each set, after what this rank had is written, or could not be.
  virtual Outcome<void> take(Communicator& communicator, Staging& staging, const std::string& name,
                             const ProcessGroup& group, Outcome<void> written) = 0;
  // Not collective: the set is given up. Sets that were taken are left alone.
  virtual void drop(Staging& staging) = 0;
  // Collective.
  virtual Outcome<void> finish(Communicator& communicator) = 0;
  virtual Pacing* pacing() { return nullptr; }
  // Files that this rank stages in, if it uses them again. They are let go when nothing waits any more: a set is not
  // packed while the names of its files change.
  virtual ReusedFiles* memory() { return nullptr; }
  virtual void drop_memory() {}
  // At the first rank: the names of sets that are on their way to the store.
  virtual std::vector<std::string> waiting() const { return {}; }
};

// The agent of the node, which has the set drained also when the program has ended.
class AgentTaker final : public Taker {
 public:
  static Outcome<std::shared_ptr<Taker>> connect(Communicator& communicator, const std::string& stage, bool may_skip) {
    auto taker = std::make_shared<AgentTaker>();
    taker->stage_ = stage;
    taker->may_skip_ = may_skip;
    Outcome<void> mine;
    auto client = job::Client::connect(stage, communicator.rank(), communicator.size());
    if (client) {
      taker->client_ = std::move(*client);
      taker->ranks_ = communicator.size();
    } else {
      mine = std::unexpected(Failure(client.error()));
    }
    FOREBAY_CHECK(agree(communicator, mine));
    return taker;
  }

  // Unless sets may be skipped, the one before is durable when a file is opened: nothing that was written is left out.
  Outcome<void> make_room(Communicator& communicator) override {
    if (communicator.size() != ranks_)
      return refuse(
          Code::invalid_argument,
          fmt::format("{} ranks open the file, and the first one was opened by {}", communicator.size(), ranks_),
          "with the method FOREBAY in a job of Forebay all ranks open each file together");
    return agree(communicator, may_skip_ ? Outcome<void>() : wait_for_last());
  }

  Outcome<Staging> begin(Communicator&) override { return Staging(); }

  bool has_place_for(const Staging& staging) const override { return begun_ == nullptr || begun_ == &staging; }

  Outcome<std::string> place_of(const Staging& staging, const std::string& name, const ProcessGroup& group) override {
    if (!has_place_for(staging))
      return refuse(Code::write, fmt::format("the set {} cannot be staged while another one of the group is", name),
                    "close files of the method FOREBAY in the order in which they were opened");
    begun_ = &staging;
    FOREBAY_CHECK(client_->begin(name, group.time_index, job::Client::Timeout(-1)));
    FOREBAY_TRY(std::string path, client_->path(staged_file_name(group.rank)));
    return path;
  }

  Outcome<void> take(Communicator& communicator, Staging&, const std::string& name, const ProcessGroup&,
                     Outcome<void> written) override {
    FOREBAY_CHECK(agree(communicator, written ? complete() : std::move(written)));
    last_ = name;
    return {};
  }

  void drop(Staging& staging) override {
    if (begun_ != &staging) return;
    client_->abandon();
    begun_ = nullptr;
  }

  Outcome<void> finish(Communicator&) override { return {}; }

  std::vector<std::string> waiting() const override {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(stage_, error), end; !error && at != end; at.increment(error))
      names.push_back(at->path().filename().string());
    return names;
  }

 private:
  Outcome<void> wait_for_last() {
    if (last_.empty()) return {};
    const std::string name = std::exchange(last_, std::string());
    FOREBAY_TRY(const auto news, client_->wait(name, job::Client::Timeout(-1)));
    if (news.state == job::wire::SetState::durable) return {};
    const std::string why = news.message.empty() ? "a newer one was drained instead" : news.message;
    return refuse(Code::write, fmt::format("the set {} is not in the store: {}", name, why),
                  "`forebay status` tells more about the job", {}, ErrorKind::io);
  }

  Outcome<void> complete() {
    const auto completed = client_->complete();
    // An agent that is not there now drains what is complete when it comes.
    if (!completed && completed.error().kind != ErrorKind::disconnected)
      return std::unexpected(Failure(completed.error()));
    return {};
  }

  std::string stage_;
  std::unique_ptr<job::Client> client_;
  uint32_t ranks_ = 0;
  bool may_skip_ = false;
  const Staging* begun_ = nullptr;  // agents know of one set at a time that a rank stages
  std::string last_;                // the set that was completed last, at all ranks
};

// A thread of the first rank, which reads what all ranks left in a directory that all of them see.
class ThreadTaker final : public Taker {
 public:
  explicit ThreadTaker(Settings settings) : settings_(std::move(settings)) {}

  Outcome<void> make_room(Communicator& communicator) override {
    Bytes has_place(place_ ? 1 : 0);
    FOREBAY_CHECK(communicator.broadcast(has_place, 0));
    if (has_place.empty()) FOREBAY_CHECK(settle(communicator));
    if (communicator.rank() == 0) packer_->wait_until(settings_.backlog > 0 ? settings_.backlog - 1 : 0);
    return agree(communicator, failure_so_far());
  }

  // Which name the set gets is known when its groups are.
  Outcome<Staging> begin(Communicator& communicator) override {
    Outcome<Bytes> begun;
    if (communicator.rank() == 0) {
      auto set = place_->begin("open", 0);
      if (set)
        begun = message_with(set->directory);
      else
        begun = std::unexpected(Failure(set.error()));
    }
    FOREBAY_TRY(const Bytes directory, tell(communicator, begun, 0));
    Staging staging;
    staging.set.directory = directory_in(directory);
    return staging;
  }

  Outcome<std::string> place_of(const Staging& staging, const std::string&, const ProcessGroup& group) override {
    return staging.set.directory + "/" + staged_file_name(group.rank);
  }

  Outcome<void> take(Communicator& communicator, Staging& staging, const std::string& name, const ProcessGroup& group,
                     Outcome<void> written) override {
    const bool leads = communicator.rank() == 0;
    auto all = agree(communicator, written);
    if (all) {
      staging.set.name = name;
      staging.set.step = group.time_index;
      Outcome<void> completed;
      if (leads)
        if (const auto done = place_->complete(staging.set); !done) completed = std::unexpected(Failure(done.error()));
      all = tell_failure(communicator, completed, 0);
    }
    if (all && leads) packer_->add(std::exchange(staging.set, {}));
    return all;
  }

  void drop(Staging& staging) override {
    if (place_ && !staging.set.directory.empty()) StagePlace::remove(staging.set);
  }

  Outcome<void> finish(Communicator& communicator) override {
    if (packer_) packer_->wait_until(0);
    return agree(communicator, failure_so_far());
  }

  Pacing* pacing() override { return packer_ ? &packer_->pacing() : nullptr; }
  ReusedFiles* memory() override { return memory_.get(); }
  void drop_memory() override { memory_.reset(); }

  std::vector<std::string> waiting() const override {
    std::vector<std::string> names;
    if (place_)
      for (const WaitingSet& set : place_->left_over()) names.push_back(set.name);
    return names;
  }

 private:
  // Collective: takes a place that all ranks see, where memory is or else beside the store.
  Outcome<void> settle(Communicator& communicator) {
    std::vector<std::string> roots = {settings_.stage};
    if (settings_.stage.empty()) roots = {"/dev/shm", fs::absolute(settings_.packing.store).parent_path().string()};
    Outcome<void> settled;
    for (const std::string& root : roots)
      if ((settled = settle_in(communicator, root))) break;
    return settled;
  }

  Outcome<void> settle_in(Communicator& communicator, const std::string& root) {
    Outcome<void> owned;
    if (communicator.rank() == 0) {
      auto place = StagePlace::own(root, settings_.packing.store);
      if (place)
        place_.emplace(std::move(*place));
      else
        owned = std::unexpected(Failure(place.error()));
    }
    FOREBAY_CHECK(tell_failure(communicator, owned, 0));
    Bytes directory = message_with(communicator.rank() == 0 ? place_->directory() : "");
    FOREBAY_CHECK(communicator.broadcast(directory, 0));
    Outcome<void> seen;
    if (::access((directory_in(directory) + "/lock").c_str(), R_OK | W_OK) != 0)
      seen = refuse(Code::file_open, fmt::format("rank {} does not see it", communicator.rank()),
                    "run the program by `forebay run`, or name a directory that all nodes see by the parameter 'stage'",
                    directory_in(directory), ErrorKind::not_found);
    const auto all = agree(communicator, seen);
    const std::string place = directory_in(directory);
    if (all && ReusedFiles::is_memory(place))
      memory_ = std::make_unique<ReusedFiles>(place + "/memory", staged_file_name(communicator.rank()));
    FOREBAY_TRY(const cpu_set_t processors, processors_of(communicator));
    if (communicator.rank() != 0) return all;
    if (!all) {
      place_.reset();
      return all;
    }
    PackSettings packing = settings_.packing;
    packing.processors = processors;
    packer_.emplace(std::move(packing));
    for (const WaitingSet& set : place_->left_over()) packer_->add(set);
    return {};
  }

  // Collective: at the first rank those of all ranks together.
  static Outcome<cpu_set_t> processors_of(Communicator& communicator) {
    cpu_set_t mine{}, all{};
    ::sched_getaffinity(0, sizeof mine, &mine);
    FOREBAY_TRY(const std::vector<Bytes> sets, communicator.gather(std::as_bytes(std::span(&mine, 1)), 0));
    for (const Bytes& set : sets) {
      if (set.size() != sizeof mine) continue;
      std::memcpy(&mine, set.data(), sizeof mine);
      CPU_OR(&all, &all, &mine);
    }
    return all;
  }

  Outcome<void> failure_so_far() {
    if (!packer_) return {};
    const auto failure = packer_->take_failure();
    return failure ? Outcome<void>(std::unexpected(Failure(Code::write, *failure))) : Outcome<void>();
  }

  const Settings settings_;
  // Where this rank is the first one of those that opened a file; the packer reads in the place.
  std::optional<StagePlace> place_;
  std::unique_ptr<ReusedFiles> memory_;  // that this rank stages in
  std::optional<Packer> packer_;
};

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
  explicit StoreMethod(Settings settings) : settings_(std::move(settings)) {}

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
    if (stage != nullptr && *stage != '\0') return AgentTaker::connect(communicator, stage, settings_.may_skip);
    Settings settings = settings_;
    settings.packing.store = store_of(request);
    return std::make_shared<ThreadTaker>(std::move(settings));
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

  const Settings settings_;
  std::shared_ptr<Taker> taker_;
  std::mutex mutex_;             // guards known_
  std::set<std::string> known_;  // paths that were opened where this rank was the first
};

Outcome<std::unique_ptr<Method>> make_store_method(const Parameters& parameters) {
  Settings settings;
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
