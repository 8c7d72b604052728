// Encodes a set of N nodes and repairs it, with all agents in this process over loopback, stages in memory:
//   forebay-tiers-encode DIRECTORY NODES LOSSES MB_PER_NODE
// Prints what it takes for a GB of data: processor time of all agents together, wall time, bytes between agents; and
// beside it, in the same run, a plain copy of the same files, and memcpy.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "fabric/hub.h"
#include "job/cache/cache.h"
#include "job/stage/stage_notes.h"
#include "job/wire/messages.h"

using namespace forebay;
using namespace forebay::job;
namespace fs = std::filesystem;

namespace {

constexpr const char* kSet = "ckpt";
const fabric::Secret kSecret = fabric::new_secret();

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "forebay-tiers-encode: %s\n", why.c_str());
  std::exit(1);
}
template <class T>
T must(Result<T> result) {
  if (!result) give_up(result.error().message());
  return std::move(*result);
}
void must(const Result<void>& result) {
  if (!result) give_up(result.error().message());
}

double seconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

fabric::HubOptions hub_options() {
  fabric::HubOptions options;
  options.credentials.secret = kSecret;
  options.purpose = wire::kPurpose;
  options.listen = {{fabric::Address::Kind::tcp, "127.0.0.1", 0, {}}};
  return options;
}

MemberAccess access() {
  MemberAccess all;
  all.credentials.secret = kSecret;
  return all;
}

class Node final : public fabric::HubHandler {
 public:
  explicit Node(const std::string& stage)
      : stage_(stage),
        hub_(must(fabric::Hub::create(hub_options()))),
        cache_({.stage = stage, .access = access(), .log = {}}, *hub_, exposures_),
        transports_(exposures_, *hub_, false) {
    must(prepare_stage(stage));
    must(cache_.begin());
    thread_ = std::thread([this] { must(hub_->run(*this)); });
  }
  ~Node() override {
    hub_->stop();
    thread_.join();
  }

  void write(uint32_t rank, uint64_t bytes) {
    fs::create_directories(stage_ + "/" + kSet);
    std::ofstream file(path(), std::ios::binary);
    std::mt19937_64 random(bytes);
    std::vector<uint64_t> block(1 << 17);
    for (uint64_t at = 0; at < bytes; at += block.size() * 8) {
      for (auto& word : block) word = random();
      file.write(reinterpret_cast<const char*>(block.data()),
                 static_cast<std::streamsize>(std::min<uint64_t>(bytes - at, block.size() * 8)));
    }
    file.close();
    struct stat info{};
    if (::stat(path().c_str(), &info) != 0) give_up("no file");
    exposure_ = exposures_.add({{path(), FileSource::identity_of(info)}});
    own_ = {};
    own_.host = own_.node = stage_;
    own_.ranks = {rank};
    redundancy::RecordedFile recorded;
    recorded.name = "data";
    recorded.size = bytes;
    recorded.mode = 0600;
    recorded.mtime_s = info.st_mtim.tv_sec;
    recorded.mtime_ns = static_cast<uint32_t>(info.st_mtim.tv_nsec);
    own_.files.push_back(recorded);
  }
  std::string path() const { return stage_ + "/" + kSet + "/data"; }
  uint64_t exposure() const { return exposure_; }
  std::string addresses() const { return fabric::to_string(hub_->addresses().front()); }

  template <class Answer, class Begin>
  std::future<Answer> ask(Begin begin) {
    auto promise = std::make_shared<std::promise<Answer>>();
    auto future = promise->get_future();
    hub_->post([promise, begin = std::move(begin)] {
      begin([promise](auto answer, const auto&...) { promise->set_value(std::move(answer)); });
    });
    return future;
  }
  std::future<wire::ProtectedT> protect(wire::ProtectT order) {
    Cache::Part part;
    part.exposure = exposure_;
    part.record.set = kSet;
    part.record.ranks = 1000;
    part.record.members = {own_};
    return ask<wire::ProtectedT>([this, order, part](auto done) { cache_.protect(order, part, done); });
  }
  std::future<wire::CachedCheckedT> check(uint64_t id) {
    wire::CheckCachedT order;
    order.number = order.id = id;
    order.set = kSet;
    return ask<wire::CachedCheckedT>([this, order](auto done) { cache_.check(order, done); });
  }
  std::future<wire::RepairedT> repair(wire::RepairT order) {
    return ask<wire::RepairedT>([this, order](auto done) { cache_.repair(order, false, done); });
  }
  std::vector<std::unique_ptr<wire::EncodingT>> offer() {
    using Offer = std::vector<std::unique_ptr<wire::EncodingT>>;
    return ask<Offer>([this](auto done) { done(cache_.offer(kSet, 0)); }).get();
  }

  void connected(fabric::ConnectionId, const std::string&) override {}
  Result<void> received(fabric::ConnectionId id, const fabric::Frame& frame) override {
    if (fabric::TransportServer::handles(frame.type)) return transports_.received(id, frame);
    if (Cache::handles(frame.type)) return cache_.received(id, frame);
    FOREBAY_TRY(const auto message, wire::decode(frame));
    return Cache::handles(message.body.type) ? cache_.received(id, message) : Result<void>();
  }
  void disconnected(fabric::ConnectionId id, Ending) override {
    cache_.disconnected(id);
    transports_.disconnected(id);
  }
  void tick(Time now) override {
    next_ = now + std::chrono::seconds(1);
    cache_.ping();
  }
  Time next_tick() const override { return next_; }

 private:
  const std::string stage_;
  std::unique_ptr<fabric::Hub> hub_;
  fabric::Exposures exposures_;
  Cache cache_;
  fabric::TransportServer transports_;
  redundancy::MemberRecord own_;
  uint64_t exposure_ = 0;
  Time next_{};
  std::thread thread_;
};

class Group {
 public:
  Group(std::string directory, unsigned nodes, unsigned losses, uint64_t bytes)
      : directory_(std::move(directory)), losses_(losses), bytes_(bytes) {
    for (unsigned i = 0; i < nodes; ++i) {
      nodes_.push_back(std::make_unique<Node>(stage(i)));
      nodes_.back()->write(i, bytes);
    }
  }
  double gigabytes() const { return static_cast<double>(bytes_ * nodes_.size()) * 1e-9; }
  std::string stage(unsigned i) const { return directory_ + "/stage" + std::to_string(i); }

  template <class Work>
  void measure(const char* what, double gigabytes, const Work& work) const {
    const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    const uint64_t moved = work();
    std::printf("%-28s %8.3f %8.3f %8.3f\n", what, (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / gigabytes,
                (seconds(CLOCK_MONOTONIC) - wall) / gigabytes, static_cast<double>(moved) * 1e-9 / gigabytes);
    std::fflush(stdout);
  }

  uint64_t copy() const {
    for (const auto& node : nodes_)
      fs::copy_file(node->path(), directory_ + "/copy", fs::copy_options::overwrite_existing);
    fs::remove(directory_ + "/copy");
    return 0;
  }
  uint64_t copy_memory() const {
    std::vector<std::byte> from(64 << 20, std::byte{1}), to(64 << 20);
    for (uint64_t done = 0; done < bytes_ * nodes_.size(); done += from.size()) {
      std::memcpy(to.data(), from.data(), from.size());
      from[done % from.size()] = to[0];
    }
    return 0;
  }
  uint64_t encode() {
    std::vector<std::future<wire::ProtectedT>> answers;
    for (unsigned i = 0; i < nodes_.size(); ++i) {
      wire::ProtectT order;
      order.id = kId;
      order.set = kSet;
      order.scheme = losses_ > 1 ? wire::Scheme::rs : wire::Scheme::xor_;
      order.groups = 1;
      order.position = i;
      order.losses = losses_;
      order.chunk = chunk();
      order.members = members();
      answers.push_back(nodes_[i]->protect(std::move(order)));
    }
    uint64_t moved = 0;
    for (auto& answer : answers) {
      const auto done = answer.get();
      if (done.failed) give_up(done.error);
      moved += done.sent_bytes;
    }
    return moved;
  }
  uint64_t check() const {
    std::vector<std::future<wire::CachedCheckedT>> answers;
    for (const auto& node : nodes_) answers.push_back(node->check(kId));
    for (auto& answer : answers)
      if (const auto done = answer.get(); done.failed || !done.bad.empty()) give_up("bad pieces: " + done.error);
    return 0;
  }
  void lose() {
    for (unsigned i = 0; i < losses_; ++i) {
      nodes_[i].reset();
      fs::remove_all(stage(i));
      nodes_[i] = std::make_unique<Node>(stage(i));
    }
  }
  uint64_t repair() {
    wire::RepairT order;
    order.number = 1;
    order.id = kId;
    order.set = kSet;
    order.groups = 1;
    order.losses = losses_;
    order.chunk = chunk();
    order.members = members();
    for (unsigned i = 0; i < nodes_.size(); ++i) {
      if (i < losses_) order.lost.push_back(i);
      for (const auto& encoding : nodes_[i]->offer()) {
        order.members[i]->data = encoding->members[i]->data;
        order.members[i]->parity = encoding->members[i]->parity;
      }
    }
    std::vector<std::future<wire::RepairedT>> answers;
    for (unsigned i = 0; i < nodes_.size(); ++i) {
      order.self = {i};
      answers.push_back(nodes_[i]->repair(order));
    }
    uint64_t moved = 0;
    for (auto& answer : answers) {
      const auto done = answer.get();
      if (done.failed) give_up(done.error);
      moved += done.bytes;
    }
    return moved;
  }

 private:
  static constexpr uint64_t kId = 77;
  uint64_t chunk() const {
    return must(redundancy::Geometry::make(std::vector<uint64_t>(nodes_.size(), bytes_), losses_)).chunk();
  }
  std::vector<std::unique_ptr<wire::MemberT>> members() const {
    std::vector<std::unique_ptr<wire::MemberT>> all;
    for (unsigned i = 0; i < nodes_.size(); ++i) {
      auto member = std::make_unique<wire::MemberT>();
      member->host = member->node = stage(i);
      member->addresses = nodes_[i]->addresses();
      member->data = nodes_[i]->exposure();
      member->bytes = bytes_;
      all.push_back(std::move(member));
    }
    return all;
  }
  const std::string directory_;
  const unsigned losses_;
  const uint64_t bytes_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) give_up("forebay-tiers-encode DIRECTORY NODES LOSSES MB_PER_NODE");
  const std::string directory = std::string(argv[1]) + "/forebay-tiers-" + std::to_string(::getpid());
  const auto nodes = static_cast<unsigned>(std::atoi(argv[2])), losses = static_cast<unsigned>(std::atoi(argv[3]));
  fs::create_directories(directory);
  {
    Group group(directory, nodes, losses, static_cast<uint64_t>(std::atoll(argv[4])) * 1'000'000);
    std::printf("%u nodes, %u losses, %.2f GB      s of processors, s, GB between agents, for a GB\n", nodes, losses,
                group.gigabytes());
    group.measure("memcpy", group.gigabytes(), [&] { return group.copy_memory(); });
    group.measure("copy of the files", group.gigabytes(), [&] { return group.copy(); });
    group.measure("encode", group.gigabytes(), [&] { return group.encode(); });
    group.measure("check", group.gigabytes(), [&] { return group.check(); });
    group.lose();
    const double lost = group.gigabytes() * losses / nodes;
    group.measure("repair, for a GB lost", lost, [&] { return group.repair(); });
  }
  fs::remove_all(directory);
  return 0;
}
