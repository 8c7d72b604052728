#include "job/worker/worker_session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "job/wire/convert.h"

namespace forebay::job {

// Used by the hub's thread; others only hold it.
struct WorkerSession::Gate {
  WorkerSession* session = nullptr;
};

WorkerSession::WorkerSession(fabric::Hub& hub, WorkerOptions options, const std::string& host, Log log)
    : hub_(hub),
      options_(std::move(options)),
      host_(host),
      log_(std::move(log)),
      streams_(most_streams(options_)),
      gate_(std::make_shared<Gate>(this)) {
  const auto post = [&hub, gate = gate_](auto message, auto action) {
    hub.post([gate, message = std::move(message), action]() mutable {
      if (gate->session != nullptr) action(*gate->session, std::move(message));
    });
  };
  WorkerCallbacks callbacks;
  callbacks.progress = [post](wire::TaskProgressT progress) {
    post(std::move(progress), [](WorkerSession& session, wire::TaskProgressT with) {
      const auto task = session.tasks_.find(with.id);
      if (task != session.tasks_.end() && task->second == session.connection_) session.send(std::move(with));
    });
  };
  callbacks.streams = [post](uint32_t streams) {
    post(streams, [](WorkerSession& session, uint32_t with) {
      session.streams_ = with;
      if (session.is_connected()) session.send(wire::WorkerStreamsT{.streams = with});
    });
  };
  callbacks.done = [post](wire::TaskDoneT done) {
    post(std::move(done), [](WorkerSession& session, wire::TaskDoneT with) { session.done(std::move(with)); });
  };
  worker_ = std::make_unique<Worker>(options_, std::move(callbacks));
}

WorkerSession::~WorkerSession() { gate_->session = nullptr; }

template <class Table>
void WorkerSession::send(Table body) {
  Bytes bytes;
  wire::encode(bytes, std::move(body));
  hub_.send(connection_, bytes);
}

void WorkerSession::began(fabric::ConnectionId id, uint64_t generation) {
  connection_ = id;
  is_welcome_ = false;
  generation_ = generation;
  last_heard_ = std::chrono::steady_clock::now();
  next_ping_ = last_heard_ + ping_interval_;
  wire::WorkerHelloT hello;
  hello.host = host_;
  hello.node = options_.node;
  hello.pid = static_cast<uint64_t>(::getpid());
  hello.profile = options_.pack.profile.name();
  hello.scheme = options_.pack.scheme.name();
  hello.memory_bytes = options_.resources.resolved().memory_bytes;
  hello.streams = most_streams(options_);
  const bool fewer_pay = streams_ != hello.streams;
  send(std::move(hello));
  if (fewer_pay) send(wire::WorkerStreamsT{.streams = streams_});
}

void WorkerSession::ended() {
  connection_ = 0;
  next_ping_ = Time::max();
  waiting_.clear();
  for (const auto& [id, from] : tasks_) worker_->cancel(id);
}

Result<void> WorkerSession::welcome(const wire::WelcomeT& welcome) {
  if (welcome.generation != generation_)
    return fail(ErrorKind::disconnected,
                fmt::format("coordinator {} answers for coordinator {}", welcome.generation, generation_));
  ping_interval_ = std::chrono::milliseconds(std::max<uint32_t>(welcome.ping_ms, 10));
  lost_ = std::chrono::milliseconds(std::max<uint32_t>(welcome.lost_ms, 100));
  next_ping_ = std::chrono::steady_clock::now() + ping_interval_;
  is_welcome_ = true;
  log_(fabric::Severity::info, fmt::format("this worker works for coordinator {}", generation_));
  return {};
}

Result<void> WorkerSession::received(const fabric::Frame& frame) {
  last_heard_ = std::chrono::steady_clock::now();
  FOREBAY_TRY(wire::MessageT message, wire::decode(frame));
  switch (message.body.type) {
    case wire::Body::Ping:
      return {};
    case wire::Body::Welcome:
      return welcome(*message.body.AsWelcome());
    case wire::Body::Task:
      start(std::move(*message.body.AsTask()));
      return {};
    case wire::Body::Cancel:
      cancel(message.body.AsCancel()->id);
      return {};
    case wire::Body::Stop:
      stopped_ = true;
      log_(fabric::Severity::info, "the job is over: " + message.body.AsStop()->message);
      return {};
    default:
      return fail(ErrorKind::corrupt, "a message that a worker does not take");
  }
}

bool WorkerSession::has_earlier() const {
  return std::ranges::any_of(tasks_, [this](const auto& one) { return one.second != connection_; });
}

void WorkerSession::cancel(uint64_t id) {
  const auto waiting = std::ranges::find(waiting_, id, &wire::TaskT::id);
  if (waiting != waiting_.end()) {
    waiting_.erase(waiting);
    wire::TaskDoneT cancelled;
    cancelled.id = id;
    set_error(cancelled, {ErrorKind::cancelled, {}, {}, {}, {}});
    cancelled.side = wire::FaultSide::other;
    send(std::move(cancelled));
  } else if (const auto task = tasks_.find(id); task != tasks_.end() && task->second == connection_) {
    worker_->cancel(id);
  }
}

void WorkerSession::start(wire::TaskT task) {
  if (has_earlier()) {
    waiting_.push_back(std::move(task));
    return;
  }
  const uint64_t id = task.id;
  const auto started = worker_->start(std::move(task));
  if (started) {
    tasks_[id] = connection_;
    return;
  }
  wire::TaskDoneT failed;
  failed.id = id;
  set_error(failed, started.error());
  failed.side = wire::FaultSide::other;
  send(std::move(failed));
}

void WorkerSession::done(wire::TaskDoneT with) {
  const auto task = tasks_.find(with.id);
  if (task == tasks_.end()) return;
  const fabric::ConnectionId from = task->second;
  tasks_.erase(task);
  if (from == connection_) send(std::move(with));
  if (has_earlier()) return;
  for (wire::TaskT& next : std::exchange(waiting_, {})) start(std::move(next));
}

void WorkerSession::tick(Time now) {
  if (connection_ == 0 || now < next_ping_) return;
  // A process that was stopped has heard nobody: what has arrived meanwhile was received before this.
  const bool slept = now - next_ping_ > lost_ / 2;
  if (slept) last_heard_ = now;
  next_ping_ = now + ping_interval_;
  if (now - last_heard_ > lost_) {
    log_(fabric::Severity::warning, fmt::format("coordinator {} is silent", generation_));
    hub_.close(connection_);
    return;
  }
  send(wire::PingT{});
}

WorkerSession::Time WorkerSession::next_tick() const { return next_ping_; }

}  // namespace forebay::job
