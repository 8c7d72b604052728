// What each transport costs: one worker reads a file of an agent, which is a process of its own, over the loopback
// interface; speed, and processor time of agent and worker per gigabyte (10^9 bytes). In turn, ROUNDS times, each with
// the median of its speeds at the end. Usage: forebay-transport-bench [MEGABYTES [PIECE-BYTES [ROUNDS]]]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fabric/hub.h"
#include "fabric/remote.h"

namespace {

using namespace forebay;
using namespace forebay::fabric;

constexpr std::chrono::seconds kPatience{10};
constexpr size_t kRead = 32u << 20;  // of one begin(), as large as a frame of a pack may be
constexpr size_t kParallelFor = 2;   // begin() before finish()

const Secret secret = new_secret();

double seconds(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) std::abort();
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

class Handler final : public HubHandler {
 public:
  Handler(Exposures& exposures, Hub& hub) : server_(exposures, hub, true) {}
  void connected(ConnectionId, const std::string&) override {}
  Result<void> received(ConnectionId id, const Frame& frame) override { return server_.received(id, frame); }
  void disconnected(ConnectionId id, Ending) override { server_.disconnected(id); }
  void tick(Time) override {}
  Time next_tick() const override { return Time::max(); }

 private:
  TransportServer server_;
};

ExposedFile expose(const std::string& path) { return {path, FileSource::open(path).value()->identity()}; }

// Forked before this process has used UCX.
class Agent {
 public:
  Agent(const std::string& path, bool encrypt) : credentials_{.secret = secret, .munge = false, .encrypt = encrypt} {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) serve(path, ends[1]);
    ::close(ends[1]);
    if (::read(ends[0], &said_, sizeof said_) != sizeof said_) std::abort();
    ::close(ends[0]);
  }
  ~Agent() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Link link() const {
    return Link::open({{Address::Kind::tcp, "127.0.0.1", said_.port, {}}}, credentials_, "bench", kPatience).value();
  }
  uint64_t exposure() const { return said_.exposure; }
  double processor_seconds() const {
    clockid_t clock = 0;
    if (::clock_getcpuclockid(pid_, &clock) != 0) std::abort();
    return seconds(clock);
  }

 private:
  struct Said {
    uint64_t exposure = 0;
    uint16_t port = 0;
  };

  [[noreturn]] void serve(const std::string& path, int out) const {
    Exposures exposures;
    HubOptions options;
    options.listen = {{Address::Kind::tcp, "127.0.0.1", 0, {}}};
    options.credentials = credentials_;
    options.purpose = "bench";
    const auto hub = Hub::create(std::move(options)).value();
    Handler handler(exposures, *hub);
    Said said;
    said.exposure = exposures.add({expose(path)});
    said.port = hub->addresses().front().port;
    (void)!::write(out, &said, sizeof said);
    (void)hub->run(handler);
    ::_exit(1);
  }

  const Credentials credentials_;
  pid_t pid_ = -1;
  Said said_;
};

void read_all(Transport& transport, uint64_t exposure, uint64_t size, uint64_t piece_bytes) {
  std::vector<Bytes> outs(kParallelFor, Bytes(kRead));
  size_t begun = 0;
  for (uint64_t at = 0; at < size; at += kRead) {
    std::vector<Piece> pieces;
    const uint64_t end = std::min(size, at + kRead);
    for (uint64_t from = at; from < end; from += piece_bytes)
      pieces.push_back({0, from, std::min(piece_bytes, end - from)});
    if (!transport.begin(exposure, pieces, std::span(outs[begun++ % kParallelFor]).first(end - at))) std::abort();
    if (begun % kParallelFor == 0 && !transport.finish()) std::abort();
  }
  if (!transport.finish()) std::abort();
}

double measure(const char* name, Transport& transport, const Agent& agent, uint64_t exposure, uint64_t size,
               uint64_t piece_bytes) {
  read_all(transport, exposure, std::min<uint64_t>(size, 2 * kRead), piece_bytes);  // buffers, connections
  const double agent_before = agent.processor_seconds(), worker_before = seconds(CLOCK_PROCESS_CPUTIME_ID);
  const double before = seconds(CLOCK_MONOTONIC);
  read_all(transport, exposure, size, piece_bytes);
  const double took = seconds(CLOCK_MONOTONIC) - before;
  const double gigabytes = static_cast<double>(size) / 1e9;
  fmt::print("{:16} {:6.2f} GB/s   agent {:.3f} s/GB   worker {:.3f} s/GB\n", name, gigabytes / took,
             (agent.processor_seconds() - agent_before) / gigabytes,
             (seconds(CLOCK_PROCESS_CPUTIME_ID) - worker_before) / gigabytes);
  return gigabytes / took;
}

void print_median(const char* name, std::vector<double> speeds) {
  if (speeds.empty()) return;
  std::ranges::sort(speeds);
  fmt::print("{:16} {:6.2f} GB/s in the median\n", name, speeds[speeds.size() / 2]);
}

void measure_all(const std::string& path, uint64_t size, uint64_t piece_bytes, uint64_t rounds) {
  const Agent agent(path, false), encrypting(path, true);
  const auto files = [&](uint64_t) -> Result<std::vector<ExposedFile>> { return std::vector{expose(path)}; };
  std::vector<double> node, stream, encrypted, ucx;
  for (uint64_t round = 0; round < rounds; ++round) {
    node.push_back(measure("node", *node_transport(files), agent, 0, size, piece_bytes));
    stream.push_back(
        measure("stream", *stream_transport(agent.link(), kPatience), agent, agent.exposure(), size, piece_bytes));
    encrypted.push_back(measure("stream, encrypted", *stream_transport(encrypting.link(), kPatience), encrypting,
                                encrypting.exposure(), size, piece_bytes));
    if (const auto transport = ucx_transport(agent.link(), kPatience))
      ucx.push_back(measure("ucx", **transport, agent, agent.exposure(), size, piece_bytes));
    else
      fmt::print("ucx: {}\n", transport.error().message());
  }
  print_median("node", node);
  print_median("stream", stream);
  print_median("stream, encrypted", encrypted);
  print_median("ucx", ucx);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t size = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000) * 1'000'000;
  const uint64_t piece_bytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : kRead;
  const uint64_t rounds = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 3;
  if (size == 0 || piece_bytes == 0 || rounds == 0) return 2;
  char directory[] = "/tmp/forebay-transport-bench-XXXXXX";
  if (::mkdtemp(directory) == nullptr) return 1;
  const std::string path = std::string(directory) + "/file";
  {
    const std::string block(1'000'000, 'f');
    std::ofstream file(path, std::ios::binary);
    for (uint64_t i = 0; i < size; i += block.size()) file << block;
  }
  measure_all(path, size, piece_bytes, rounds);
  std::filesystem::remove_all(directory);
  return 0;
}
