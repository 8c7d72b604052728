// Sets of a store: what ranks write is staged in the memory of their node as it is, and packed, merged over ranks,
// while the program goes on: by the agent and the aggregators of the job that it runs in (`forebay run`), else by a
// thread of the first rank.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/bytes.h"
#include "io/method/agreement.h"
#include "io/method/joined.h"
#include "io/method/methods.h"
#include "io/method/staged_file.h"
#include "io/staging/packer.h"
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

// Where ranks leave what they wrote, and who takes it from there.
class Taker {
 public:
  virtual ~Taker() = default;
  // Collective, before a file is open.
  virtual Outcome<void> make_room(Communicator& communicator) = 0;
  // Collective. The groups are of the same steps at all ranks.
  virtual Outcome<void> take(Communicator& communicator, const std::string& path, const ProcessGroup& group) = 0;
  // Collective.
  virtual Outcome<void> finish(Communicator& communicator) = 0;
  virtual Pacing* pacing() { return nullptr; }
};

// The agent of the node, which has the set drained also when the program has ended.
class AgentTaker final : public Taker {
 public:
  static Outcome<std::unique_ptr<Taker>> connect(Communicator& communicator, const std::string& stage, bool may_skip) {
    auto taker = std::make_unique<AgentTaker>();
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

  Outcome<void> take(Communicator& communicator, const std::string& path, const ProcessGroup& group) override {
    return agree(communicator, take_mine(path, group));
  }

  Outcome<void> finish(Communicator&) override { return {}; }

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

  Outcome<void> take_mine(const std::string& path, const ProcessGroup& group) {
    const std::string name = staged_set_name(path, group.time_index);
    last_ = name;
    FOREBAY_CHECK(client_->begin(name, group.time_index, job::Client::Timeout(-1)));
    FOREBAY_TRY(const std::string file, client_->path(staged_file_name(group.rank)));
    FOREBAY_CHECK(write_staged(file, {&group, 1}));
    const auto completed = client_->complete();
    // An agent that is not there now drains what is complete when it comes.
    if (!completed && completed.error().kind != ErrorKind::disconnected)
      return std::unexpected(Failure(completed.error()));
    return {};
  }

  std::unique_ptr<job::Client> client_;
  uint32_t ranks_ = 0;
  bool may_skip_ = false;
  std::string last_;  // the set that was completed last
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

  Outcome<void> take(Communicator& communicator, const std::string& path, const ProcessGroup& group) override {
    WaitingSet set;
    const bool leads = communicator.rank() == 0;
    Outcome<void> begun;
    if (leads) begun = begin(path, group.time_index, set);
    FOREBAY_CHECK(tell_failure(communicator, begun, 0));
    Bytes directory = message_with(set.directory);
    FOREBAY_CHECK(communicator.broadcast(directory, 0));
    const auto written = write_staged(directory_in(directory) + "/" + staged_file_name(group.rank), {&group, 1});
    auto all = agree(communicator, written);
    if (all) {
      Outcome<void> completed;
      if (leads)
        if (const auto done = place_->complete(set); !done) completed = std::unexpected(Failure(done.error()));
      all = tell_failure(communicator, completed, 0);
    }
    if (!leads) return all;
    if (!all) {
      StagePlace::remove(set);
      return all;
    }
    packer_->add(std::move(set));
    return {};
  }

  Outcome<void> finish(Communicator& communicator) override {
    if (packer_) packer_->wait_until(0);
    return agree(communicator, failure_so_far());
  }

  Pacing* pacing() override { return packer_ ? &packer_->pacing() : nullptr; }

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
    if (communicator.rank() != 0) return all;
    if (!all) {
      place_.reset();
      return all;
    }
    packer_.emplace(settings_.packing);
    for (const WaitingSet& set : place_->left_over()) packer_->add(set);
    return {};
  }

  Outcome<void> begin(const std::string& path, uint64_t time_index, WaitingSet& set) const {
    FOREBAY_TRY(set, place_->begin(staged_set_name(path, time_index), time_index));
    return {};
  }

  Outcome<void> failure_so_far() {
    if (!packer_) return {};
    const auto failure = packer_->take_failure();
    return failure ? Outcome<void>(std::unexpected(Failure(Code::write, *failure))) : Outcome<void>();
  }

  const Settings settings_;
  // Where this rank is the first one of those that opened a file; the packer reads in the place.
  std::optional<StagePlace> place_;
  std::optional<Packer> packer_;
};

class StoreFile final : public OpenFile {
 public:
  StoreFile(OpenRequest request, Taker& taker, Standing standing)
      : request_(std::move(request)), taker_(taker), standing_(standing) {}

  const Standing& standing() const override { return standing_; }

  Outcome<void> close(std::span<ProcessGroup> groups) override {
    FOREBAY_CHECK(join_blocks(*request_.communicator, *request_.group, groups));
    Outcome<void> all;
    for (const ProcessGroup& group : groups) {
      auto taken = taker_.take(*request_.communicator, request_.path, group);
      if (all && !taken) all = std::move(taken);
    }
    return all;
  }

 private:
  const OpenRequest request_;
  Taker& taker_;
  const Standing standing_;
};

class StoreMethod final : public Method {
 public:
  explicit StoreMethod(Settings settings) : settings_(std::move(settings)) {}

  Traits traits() const override { return {}; }

  Outcome<std::unique_ptr<OpenFile>> open(const OpenRequest& request) override {
    if (request.mode == OpenMode::update || request.mode == OpenMode::read)
      return refuse(Code::invalid_mode, "a set of a store cannot be changed, and this method does not read",
                    "open it with the mode w or a, or take the method MPI", request.path, ErrorKind::unsupported);
    Communicator& communicator = *request.communicator;
    if (!taker_) {
      FOREBAY_TRY(taker_, make_taker(communicator, request));
    }
    FOREBAY_CHECK(taker_->make_room(communicator));
    return std::make_unique<StoreFile>(request, *taker_, Standing{});
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
    taker_.reset();
    return agree(communicator, mine);
  }

 private:
  Outcome<std::unique_ptr<Taker>> make_taker(Communicator& communicator, const OpenRequest& request) {
    const char* stage = std::getenv("FOREBAY_STAGE");
    if (stage != nullptr && *stage != '\0') return AgentTaker::connect(communicator, stage, settings_.may_skip);
    Settings settings = settings_;
    if (settings.packing.store.empty())
      settings.packing.store = (fs::path(request.path).parent_path() / (request.group->name + ".store")).string();
    return std::make_unique<ThreadTaker>(std::move(settings));
  }

  const Settings settings_;
  std::unique_ptr<Taker> taker_;
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
