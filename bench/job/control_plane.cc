// What a coordinator costs: sets of 1,000 to 100,000 ranks, 16 on a node, with so many files of each, through the state
// machines, their messages encoded and decoded as they are between processes; then a restart of all ranks. Agents,
// workers and the store answer at once. Times are of the processor, on one core. With SCHEME (as --redundancy has it)
// sets are protected between nodes, and stay in the caches; there is no restart then. Usage: forebay-control-bench
// [RANKS [FILES [SETS [SCHEME [RANKS-PER-NODE]]]]]
#include <chrono>
#include <cstdlib>
#include <deque>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include "engine/pack/group_report.h"
#include "job/coordinator/coordinator.h"

namespace {

using namespace forebay;
using namespace forebay::job;
using Clock = std::chrono::steady_clock;

uint32_t ranks_per_node = 16;
redundancy::Protection protection;
constexpr uint32_t kWorkers = 32;

// Other jobs on the machine do not count.
std::chrono::nanoseconds processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

size_t heap_bytes() { return ::mallinfo2().uordblks; }

// Everybody but the coordinator. The coordinator's time is that of its calls, and of its side of the coding.
class Job {
 public:
  Job(uint32_t ranks, uint32_t files_per_rank) : ranks_(ranks), files_per_rank_(files_per_rank) {
    const uint32_t nodes = (ranks + ranks_per_node - 1) / ranks_per_node;
    for (uint32_t node = 0; node < nodes; ++node) {
      wire::AgentHelloT hello;
      hello.host = hello.node = fmt::format("node{:05}", node);
      hello.addresses = fmt::format("tcp:10.0.{}.{}:40000", node / 256, node % 256);
      hello.stage = "/dev/shm/stage";
      join(std::move(hello));
    }
    for (uint32_t worker = 0; worker < kWorkers; ++worker) {
      wire::WorkerHelloT hello;
      hello.host = hello.node = fmt::format("transfer{:02}", worker);
      join(std::move(hello));
    }
    nodes_ = nodes;
    reset();
  }

  void drain(uint64_t number) {
    for (uint32_t node = 0; node < nodes_; ++node) send(node + 1, offer(node, number));
    serve();
  }

  // All ranks ask for the newest set, and are told.
  void restart() {
    for (uint32_t node = 0; node < nodes_; ++node) {
      wire::RestartRequestT request;
      request.total = ranks_;
      for (uint32_t rank = node * ranks_per_node; rank < std::min((node + 1) * ranks_per_node, ranks_); ++rank)
        request.ranks.push_back(rank);
      send(node + 1, std::move(request));
    }
    serve();
  }
  uint64_t restarted() const { return restarted_; }

  void serve() {
    while (!commands_.empty() || !tasks_.empty() || !answers_.empty()) {
      while (!answers_.empty()) {
        auto [from, answer] = std::move(answers_.front());
        answers_.pop_front();
        std::visit([&, id = from](auto& table) { send(id, std::move(table)); }, answer);
      }
      while (!commands_.empty()) {
        const StoreCommand command = std::move(commands_.front());
        commands_.pop_front();
        std::visit([this](const auto& one) { perform(one); }, command);
      }
      while (!tasks_.empty()) {
        const auto [worker, task] = std::move(tasks_.front());
        tasks_.pop_front();
        send(worker, report(task));
      }
    }
  }

  void reset() {
    spent_ = {};
    longest_ = {};
    messages_ = bytes_ = 0;
    peak_ = 0;
  }
  double seconds() const { return std::chrono::duration<double>(spent_).count(); }
  double longest() const { return std::chrono::duration<double>(longest_).count(); }
  uint64_t messages() const { return messages_; }
  uint64_t bytes() const { return bytes_; }
  size_t peak() const { return peak_; }
  uint64_t durable() const { return durable_; }

 private:
  template <class Table>
  SessionId join(Table hello) {
    coordinator_.connected(++last_session_, "bench", Clock::now());
    send(last_session_, std::move(hello));
    return last_session_;
  }

  wire::OfferT offer(uint32_t node, uint64_t number) const {
    wire::OfferT offer;
    offer.set = fmt::format("ckpt_{:06}", number);
    offer.step = static_cast<int64_t>(number);
    offer.exposure = number;
    offer.ranks = ranks_;
    for (uint32_t rank = node * ranks_per_node; rank < std::min((node + 1) * ranks_per_node, ranks_); ++rank)
      for (uint32_t i = 0; i < files_per_rank_; ++i) {
        auto& file = *offer.files.emplace_back(std::make_unique<wire::FileT>());
        file.name = fmt::format("rank{:06}/state{:02}.h5", rank, i);
        file.mode = 0644;
        file.mtime_s = 1'700'000'000 + static_cast<int64_t>(number);
        file.size = 1 << 20;
        file.rank = static_cast<int32_t>(rank);
      }
    return offer;
  }

  static wire::TaskDoneT report(const wire::TaskT& task) {
    wire::TaskDoneT done;
    done.id = task.id;
    if (task.kind == wire::TaskKind::deliver) return done;
    engine::GroupReport report;
    report.entry = {.name = task.container, .bytes = 1 << 20, .files = task.files.size()};
    for (const auto& file : task.files) report.entry.raw_bytes += file->file->size;
    done.report = engine::to_text(report);
    return done;
  }

  template <class Call>
  void spend(Call call) {
    const auto start = processor_time();
    call();
    const auto time = processor_time() - start;
    spent_ += time;
    longest_ = std::max(longest_, time);
    peak_ = std::max(peak_, heap_bytes());
  }

  template <class Table>
  void send(SessionId from, Table body) {
    Bytes frame;
    wire::encode(frame, std::move(body));
    count(frame);
    spend([&] {
      auto message = wire::decode({wire::kMessage, std::span(frame).subspan(fabric::kFrameHeaderBytes)});
      if (!message || !coordinator_.received(from, *std::move(message), Clock::now())) std::abort();
      collect();
    });
    receive();
    tick();
  }

  void answer(StoreAnswer with) {
    spend([&] {
      coordinator_.answered(std::move(with), Clock::now());
      collect();
    });
    receive();
    tick();
  }

  // What is done a slice at a time: each slice is a call.
  void tick() {
    while (coordinator_.next_tick() <= Clock::now()) {
      spend([&] {
        coordinator_.tick(Clock::now());
        collect();
      });
      receive();
    }
  }

  // The log needs no time.
  void collect() {
    for (bool again = true; again;) {
      CoordinatorOutput out = coordinator_.take_output();
      for (auto& one : out.messages) wire::encode(frames_.emplace_back(one.to, Bytes()).second, one.message);
      for (StoreCommand& command : out.commands) commands_.push_back(std::move(command));
      again = !out.decisions.empty();
      if (again) coordinator_.logged(out.decisions.size(), Clock::now());
    }
  }

  void receive() {
    for (const auto& [to, frame] : frames_) {
      count(frame);
      auto message = wire::decode({wire::kMessage, std::span(frame).subspan(fabric::kFrameHeaderBytes)});
      if (!message) std::abort();
      if (message->body.type == wire::Body::Task) tasks_.emplace_back(to, std::move(*message->body.AsTask()));
      if (message->body.type == wire::Body::SetNews && message->body.AsSetNews()->state != wire::SetState::failed)
        ++durable_;
      if (const auto* protect = message->body.AsProtect()) {
        wire::ProtectedT done;
        done.id = protect->id;
        answers_.emplace_back(to, std::move(done));
      }
      if (const auto* seal = message->body.AsSeal()) {
        wire::SealedT done;
        done.id = seal->id;
        answers_.emplace_back(to, std::move(done));
      }
      if (const auto* settle = message->body.AsSettle()) {
        wire::SettledT settled;
        settled.number = settle->number;
        answers_.emplace_back(to, std::move(settled));
      }
      if (const auto* ready = message->body.AsRestartReady()) {
        if (!ready->found) std::abort();
        wire::RestartPublishedT published;
        published.round = ready->round;
        answers_.emplace_back(to, std::move(published));
      }
      if (message->body.type == wire::Body::RestartDone) ++restarted_;
    }
    frames_.clear();
  }
  void count(const Bytes& frame) {
    ++messages_;
    bytes_ += frame.size();
  }

  void perform(const LookUp& command) { answer(LookedUp{command.set, std::vector<StoredSet>{}}); }
  void perform(const Stage& command) {
    answer(Staged{command.set, StagedPlace{.name = command.name, .staged = "staged-" + command.name}});
  }
  void perform(const Commit& command) { answer(Committed{command.set, {}}); }
  void perform(const Abandon&) {}
  void perform(const SetAside&) {}
  void perform(const Prune&) {}
  void perform(const ListSets&) {
    store::Manifest manifest;
    manifest.name = "ckpt";
    manifest.ranks = ranks_;
    manifest.group_size = options().group_size;
    for (uint64_t i = 0; i * manifest.group_size < manifest.ranks; ++i)
      manifest.containers.push_back({.name = fmt::format("{:05}.fbc", i), .bytes = 1, .files = 1});
    answer(ListedSets{std::vector<store::SetInfo>{{"ckpt", {}, manifest}}});
  }

  static CoordinatorOptions options() {
    CoordinatorOptions with;
    with.group_size = 64;
    with.protection = protection;
    with.flush_every = protection.scheme == redundancy::Scheme::none ? 1 : 0;
    with.peer_timeout = std::chrono::hours(24);  // nobody pings
    return with;
  }

  const uint32_t ranks_, files_per_rank_;
  uint32_t nodes_ = 0;
  Coordinator coordinator_{options(), 1, Clock::now()};
  SessionId last_session_ = 0;
  std::deque<StoreCommand> commands_;
  std::deque<std::pair<SessionId, wire::TaskT>> tasks_;
  std::deque<
      std::pair<SessionId, std::variant<wire::SettledT, wire::RestartPublishedT, wire::ProtectedT, wire::SealedT>>>
      answers_;  // of agents
  std::vector<std::pair<SessionId, Bytes>> frames_;
  std::chrono::nanoseconds spent_{}, longest_{};
  uint64_t messages_ = 0, bytes_ = 0, durable_ = 0, restarted_ = 0;
  size_t peak_ = 0;
};

void measure(uint32_t ranks, uint32_t files_per_rank, uint32_t sets) {
  const size_t before = heap_bytes();
  Job job(ranks, files_per_rank);
  const size_t idle = heap_bytes();
  for (uint32_t number = 1; number <= sets; ++number) job.drain(number);
  const double per_rank = 1.0 / (static_cast<double>(sets) * ranks);
  fmt::print("{:>7} {:>6} {:>10.2f} {:>10.3f} {:>10.3f} {:>9.0f} {:>9.1f} {:>9.1f} {:>8.1f}", ranks, files_per_rank,
             job.seconds() * 1e6 * per_rank, job.longest() * 1e3, static_cast<double>(job.messages()) * per_rank,
             static_cast<double>(job.bytes()) * per_rank, static_cast<double>(idle - before) / 1e6,
             static_cast<double>(job.peak() - before) / 1e6, static_cast<double>(heap_bytes() - idle) / 1e6);
  const uint64_t nodes = (ranks + ranks_per_node - 1) / ranks_per_node;
  if (job.durable() != sets * nodes) std::abort();
  if (protection.scheme != redundancy::Scheme::none) {
    fmt::print("\n");
    return;
  }
  job.reset();
  job.restart();
  if (job.restarted() != nodes) std::abort();
  fmt::print(" {:>10.2f} {:>10.3f}\n", job.seconds() * 1e6 / ranks, job.longest() * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, uint32_t otherwise) {
    return argc > i ? static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)) : otherwise;
  };
  const uint32_t files = argument(2, 1), sets = argument(3, 5);
  ranks_per_node = std::max(1u, argument(5, ranks_per_node));
  if (const auto scheme = redundancy::parse_protection(argc > 4 ? argv[4] : "none"))
    protection = *scheme;
  else
    return fmt::print(stderr, "{}\n", scheme.error().message()), 2;
  fmt::print("{:>7} {:>6} {:>10} {:>10} {:>10} {:>9} {:>9} {:>9} {:>8} {:>10} {:>10}\n", "ranks", "files", "us/rank",
             "longest", "messages", "bytes", "idle", "peak", "after", "restart,", "longest");
  fmt::print("{:>7} {:>6} {:>10} {:>10} {:>10} {:>9} {:>9} {:>9} {:>8} {:>10} {:>10}\n", "", "a rank", "and set",
             "call, ms", "a rank", "a rank", "MB", "MB", "MB", "us/rank", "call, ms");
  if (argc > 1) {
    measure(argument(1, 0), files, sets);
    return 0;
  }
  for (const uint32_t ranks : {1'000u, 10'000u, 100'000u}) measure(ranks, files, sets);
}
