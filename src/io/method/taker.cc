#include "io/method/taker.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "base/bytes.h"
#include "io/method/agreement.h"
#include "io/method/staged_file.h"
#include "job/client/client.h"

namespace forebay::io {
namespace {
namespace fs = std::filesystem;

Bytes message_with(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string directory_in(const Bytes& message) {
  return {reinterpret_cast<const char*>(message.data()), message.size()};
}

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
  explicit ThreadTaker(StoreSettings settings) : settings_(std::move(settings)) {}

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

  const StoreSettings settings_;
  // Where this rank is the first one of those that opened a file; the packer reads in the place.
  std::optional<StagePlace> place_;
  std::unique_ptr<ReusedFiles> memory_;  // that this rank stages in
  std::optional<Packer> packer_;
};

}  // namespace

Outcome<std::shared_ptr<Taker>> agent_taker(Communicator& communicator, const std::string& stage, bool may_skip) {
  return AgentTaker::connect(communicator, stage, may_skip);
}

std::shared_ptr<Taker> thread_taker(StoreSettings settings) {
  return std::make_shared<ThreadTaker>(std::move(settings));
}

}  // namespace forebay::io
