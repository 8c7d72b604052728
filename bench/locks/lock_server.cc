// What a lock server can do: client processes that lock and unlock small regions, over each transport; the processor
// time of the server's thread per pair of lock and unlock; and the bytes of the paper's FLASH request on the wire.
// Usage: forebay-lock-server-bench [CLIENTS [SECONDS]]
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lock/client.h"
#include "lock/server.h"
#include "lock/wire.h"

namespace {

using namespace forebay;
using namespace forebay::lock;

constexpr uint64_t kBatch = 64;  // pairs between looks at the clock

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Pipe {
  Pipe() {
    if (::pipe(ends) != 0) std::abort();
  }
  int ends[2];
};

// Locks and unlocks 64 bytes of its own again and again, and writes how often.
[[noreturn]] void be_client(const std::vector<fabric::Address>& server, const fabric::Secret& secret, uint64_t number,
                            double duration, int out) {
  ClientOptions options;
  options.servers = {server};
  options.credentials.secret = secret;
  const auto client = Client::create(options).value();
  Region region;
  if (!region.add(number * 4096, 64)) std::abort();
  uint64_t pairs = 0;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(duration));
  while (Clock::now() < end)
    for (uint64_t i = 0; i < kBatch; ++i, ++pairs) {
      auto lock = client->lock("/scratch/file", region, Access::exclusive);
      if (!lock || !lock->unlock()) std::abort();
    }
  (void)!::write(out, &pairs, sizeof pairs);
  ::_exit(0);
}

void measure(const char* transport, const fabric::Address& listen, uint64_t clients, double duration) {
  ServerOptions options;
  options.listen = {listen};
  options.credentials.secret = fabric::new_secret();
  const auto server = Server::start(options);
  if (!server) {
    fmt::print(stderr, "{}\n", server.error().message());
    return;
  }
  const Pipe results;
  for (uint64_t i = 0; i < clients; ++i)
    if (::fork() == 0) be_client((*server)->addresses(), *options.credentials.secret, i, duration, results.ends[1]);
  // This process does nothing but serve meanwhile.
  const double before = processor_seconds();
  uint64_t pairs = 0;
  for (uint64_t i = 0, some = 0; i < clients; ++i)
    if (::read(results.ends[0], &some, sizeof some) == sizeof some) pairs += some;
  const double used = processor_seconds() - before;
  while (::wait(nullptr) > 0) {
  }
  const auto count = static_cast<double>(pairs);
  fmt::print("{:<5} {} clients: {:8.0f} pairs/s, {:8.0f} pairs per second of the server's processor ({:.2f} us each)\n",
             transport, clients, count / duration, count / used, used / count * 1e6);
}

// 80 blocks of 24 variables of one rank of 64 (paper 004, section 4.3): each variable has all blocks of all ranks.
void measure_flash() {
  constexpr uint64_t kBlock = 8 * 8 * 8 * 8, kVariable = 64 * 80 * kBlock;
  Region region;
  const std::vector<Level> levels{{24, kVariable}, {80, 2 * kBlock}};
  if (!region.add(17 * 80 * kBlock, kBlock, levels)) std::abort();
  Bytes bytes;
  wire::encode(bytes, 0, "/gpfs/scratch/project/user/flash_hdf5_chk_0000");
  const size_t name = bytes.size();
  wire::encode(bytes, 1000, 0, Access::exclusive, {}, region);
  fmt::print("FLASH request of {} segments: {} bytes, {} more with the file's name at its first use\n",
             region.segment_count(), bytes.size() - name, name);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t clients = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 8;
  const double duration = argc > 2 ? std::strtod(argv[2], nullptr) : 3;
  const std::string name = fmt::format("@forebay-lock-bench-{}", ::getpid());
  measure_flash();
  measure("unix", {fabric::Address::Kind::unix_socket, {}, 0, name}, clients, duration);
  measure("tcp", {fabric::Address::Kind::tcp, "127.0.0.1", 0, {}}, clients, duration);
}
