// Agents with files to read and workers to read them, for the tests of workers.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/pack/headers.h"
#include "engine/pack/source_pool.h"
#include "engine/pack/tree.h"
#include "fabric/remote.h"
#include "fabric/test_hub.h"
#include "job/delivery/delivery.h"
#include "job/test_agent.h"
#include "job/worker/worker.h"

namespace forebay::job::testing_support {

// What a worker needs of an agent. Answers by the hub's thread alone.
class TestAgent {
 public:
  explicit TestAgent(const std::string& stage)
      : stage_(stage), transports_(exposures_, hub_.hub(), true), deliveries_(stage, hub_.hub()) {}
  ~TestAgent() { hub_.stop(); }
  TestAgent(const TestAgent&) = delete;
  TestAgent& operator=(const TestAgent&) = delete;

  void serve() {
    hub_.serve([this](fabric::ConnectionId id, const fabric::Frame& frame) { return received(id, frame); },
               [this](fabric::ConnectionId id) {
                 transports_.disconnected(id);
                 deliveries_.disconnected(id);
               },
               [this] { deliveries_.ping(); });
  }

  // Exposes all regular files of a set, in the order of scan_tree(). Before serve().
  uint64_t expose(const std::string& set) {
    const std::vector<std::string> roots{stage_ + "/" + set};
    for (auto& file : value(engine::scan_tree(roots)).files)
      if (file.row.kind == FileKind::regular) files_.push_back(std::move(file));
    std::vector<fabric::ExposedFile> exposed;
    for (const auto& file : files_) exposed.push_back({file.path, value(FileSource::open(file.path))->identity()});
    return exposures_.add(std::move(exposed));
  }

  std::string addresses() const { return hub_.addresses(); }

 private:
  Result<void> received(fabric::ConnectionId id, const fabric::Frame& frame) {
    if (fabric::TransportServer::handles(frame.type)) return transports_.received(id, frame);
    if (DeliveryServer::handles(frame.type)) return deliveries_.received(id, frame);
    FOREBAY_TRY(auto message, wire::decode(frame));
    if (DeliveryServer::handles(message.body.type)) return deliveries_.received(id, std::move(message));
    if (const auto* asked = message.body.AsLayoutRequest()) {
      answer(id, *asked);
      return {};
    }
    return fail(ErrorKind::corrupt, "a message that no worker sends");
  }

  void answer(fabric::ConnectionId id, const wire::LayoutRequestT& asked) {
    std::vector<engine::SourceFile> files;
    for (const uint32_t file : asked.files) files.push_back(files_[file]);
    engine::SourcePool pool(files);
    const auto headers = engine::read_headers(files, pool, {}, 64 << 20, 1);
    wire::BodyUnion body;
    if (headers) {
      const Bytes encoded = engine::encode_headers(*headers).value();
      wire::LayoutsT layouts;
      for (const std::byte byte : encoded) layouts.headers.push_back(std::to_integer<uint8_t>(byte));
      body.Set(std::move(layouts));
    } else {
      wire::RefusedT refused;
      refused.error_kind = static_cast<uint8_t>(headers.error().kind);
      refused.message = headers.error().message();
      body.Set(std::move(refused));
    }
    send(hub_.hub(), id, std::move(body));
  }

  const std::string stage_;
  std::vector<engine::SourceFile> files_;
  HubThread hub_;
  fabric::Exposures exposures_;
  fabric::TransportServer transports_;
  DeliveryServer deliveries_;
};

using Child = fabric::testing_support::ChildServer;

// A worker and what it has said.
class TestWorker {
 public:
  explicit TestWorker(WorkerOptions options)
      : worker_(std::move(options), {[this](const wire::TaskProgressT& progress) { note(progress); },
                                     [this](wire::TaskDoneT done) { note(std::move(done)); }}) {}

  Worker& worker() { return worker_; }

  wire::TaskDoneT run(const wire::TaskT& task) {
    check(worker_.start(task));
    return wait();
  }

  // For the end of a task under way.
  wire::TaskDoneT wait() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 60s, [&] { return !done_.empty(); })) throw std::runtime_error("a task without end");
    wire::TaskDoneT first = std::move(done_.front());
    done_.pop_front();
    return first;
  }

  // The most steps that it has told of.
  uint64_t steps() {
    const std::lock_guard lock(mutex_);
    return steps_;
  }

  // For so many bytes.
  void wait_for_progress(uint64_t raw_bytes) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 60s, [&] { return raw_bytes_ >= raw_bytes || !done_.empty(); }))
      throw std::runtime_error("a task without progress");
  }

 private:
  void note(const wire::TaskProgressT& progress) {
    const std::lock_guard lock(mutex_);
    raw_bytes_ = progress.raw_bytes;
    steps_ = std::max(steps_, progress.steps);
    changed_.notify_all();
  }
  void note(wire::TaskDoneT done) {
    const std::lock_guard lock(mutex_);
    done_.push_back(std::move(done));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t raw_bytes_ = 0, steps_ = 0;
  std::deque<wire::TaskDoneT> done_;
  Worker worker_;
};

}  // namespace forebay::job::testing_support
