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
    : hub_(hub), options_(std::move(options)), host_(host), log_(std::move(log)), gate_(std::make_shared<Gate>(this)) {
  const auto post = [&hub, gate = gate_](auto message, auto action) {
    hub.post([gate, message = std::move(message), action]() mutable {
      if (gate->session != nullptr) action(*gate->session, std::move(message));
    });
  };
  WorkerCallbacks callbacks;
  callbacks.progress = [post](wire::TaskProgressT progress) {
    post(std::move(progress), [](WorkerSession& session, wire::TaskProgressT with) {
      if (session.of_task_ == session.connection_ && session.of_task_ != 0) session.send(std::move(with));
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
  send(std::move(hello));
}

void WorkerSession::ended() {
  connection_ = 0;
  next_ping_ = Time::max();
  waiting_.reset();
  if (of_task_ != 0) worker_->cancel(task_);
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
    case wire::Body::Cancel: {
      const uint64_t id = message.body.AsCancel()->id;
      if (waiting_ && waiting_->id == id) {
        waiting_.reset();
        wire::TaskDoneT cancelled;
        cancelled.id = id;
        set_error(cancelled, {ErrorKind::cancelled, {}, {}, {}, {}});
        cancelled.side = wire::FaultSide::other;
        send(std::move(cancelled));
      } else if (of_task_ == connection_ && task_ == id) {
        worker_->cancel(id);
      }
      return {};
    }
    case wire::Body::Stop:
      stopped_ = true;
      log_(fabric::Severity::info, "the job is over: " + message.body.AsStop()->message);
      return {};
    default:
      return fail(ErrorKind::corrupt, "a message that a worker does not take");
  }
}

void WorkerSession::start(wire::TaskT task) {
  if (of_task_ != 0) {  // of an earlier connection, and cancelled
    waiting_ = std::move(task);
    return;
  }
  const uint64_t id = task.id;
  of_task_ = connection_;
  task_ = id;
  const auto started = worker_->start(std::move(task));
  if (started) return;
  wire::TaskDoneT failed;
  failed.id = id;
  set_error(failed, started.error());
  failed.side = wire::FaultSide::other;
  done(std::move(failed));
}

void WorkerSession::done(wire::TaskDoneT with) {
  const auto from = std::exchange(of_task_, 0);
  if (from == connection_ && from != 0) send(std::move(with));
  if (!waiting_) return;
  wire::TaskT next = std::move(*waiting_);
  waiting_.reset();
  start(std::move(next));
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
