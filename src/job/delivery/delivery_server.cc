// The agent's end of deliveries. The hub's thread queues what arrives; one thread works it off, in order, and answers
// through the hub.
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "job/delivery/delivery.h"
#include "job/delivery/delivery_session.h"
#include "job/thread/serial_worker.h"
#include "job/wire/convert.h"

namespace forebay::job {
namespace {

// So much is taken before the other side is told: small against its window, large against a message.
constexpr uint64_t kTellEvery = kWindow / 8;

// A worker waits for each answer before it asks for more.
constexpr size_t kMaxUnanswered = 16;

// What is queued of a connection.
struct Backlog {
  uint64_t write_bytes = 0;
  size_t messages = 0;
};

// What the writing thread knows of a connection.
struct Delivery {
  explicit Delivery(const std::string& stage) : session(stage) {}
  DeliverySession session;
  uint64_t taken = 0, told = 0;  // bytes of bodies
};

Bytes taken_frame(uint64_t bytes) {
  Bytes frame;
  const size_t begin = fabric::begin_frame(frame, kTaken);
  frame.resize(frame.size() + sizeof bytes);
  store_le(frame.data() + fabric::kFrameHeaderBytes, bytes);
  fabric::end_frame(frame, begin);
  return frame;
}

Bytes answer_frame(const Result<void>& done) {
  Bytes frame;
  if (done)
    wire::encode(frame, wire::TargetDoneT{});
  else
    wire::encode(frame, wire::refusal_of(done.error()));
  return frame;
}

}  // namespace

bool DeliveryServer::handles(wire::Body message) {
  switch (message) {
    case wire::Body::TargetOpen:
    case wire::Body::TargetFile:
    case wire::Body::TargetCommit:
    case wire::Body::TargetDirectory:
    case wire::Body::TargetSymlink:
    case wire::Body::TargetFinish:
      return true;
    default:
      return false;
  }
}

struct DeliveryServer::Impl {
  Impl(std::string stage_path, fabric::Hub& its_hub)
      : stage(std::move(stage_path)), hub(its_hub), worker([&its_hub](auto what) { its_hub.post(std::move(what)); }) {}

  // `work` is done by the writing thread, and what it returns is sent; empty: nothing.
  template <class Work>
  void add(fabric::ConnectionId id, Work work) {
    worker.add(std::move(work), [&to = hub, id](const Result<Bytes>& frame) {
      if (!frame)
        to.close(id);
      else if (!frame->empty())
        to.send(id, *frame);
    });
  }

  Delivery& delivery_of(fabric::ConnectionId id) { return deliveries.try_emplace(id, stage).first->second; }

  Result<Bytes> answer(fabric::ConnectionId id, const wire::MessageT& message) {
    Bytes frame = answer_frame(delivery_of(id).session.handle(message.body));
    done(id, {.messages = 1});
    return frame;
  }

  Result<Bytes> take(fabric::ConnectionId id, const Bytes& body) {
    Delivery& delivery = delivery_of(id);
    // What arrives was parsed before it was queued.
    if (const auto write = parse_write(body)) delivery.session.write(*write);
    delivery.taken += body.size();
    done(id, {.write_bytes = body.size()});
    if (delivery.taken - delivery.told < kTellEvery) return Bytes();
    delivery.told = delivery.taken;
    return taken_frame(delivery.taken);
  }

  void done(fabric::ConnectionId id, const Backlog& by) {
    const std::lock_guard lock(mutex);
    const auto found = backlogs.find(id);
    if (found == backlogs.end()) return;
    found->second.write_bytes -= by.write_bytes;
    found->second.messages -= by.messages;
  }

  // Counts what is to be queued. corrupt if it passes what the other side may have under way.
  Result<void> count(fabric::ConnectionId id, const Backlog& by) {
    const std::lock_guard lock(mutex);
    Backlog& backlog = backlogs[id];
    backlog.write_bytes += by.write_bytes;
    backlog.messages += by.messages;
    if (backlog.write_bytes > kWindow || backlog.messages > kMaxUnanswered)
      return fail(ErrorKind::corrupt, "a delivery that does not wait for its answers");
    return {};
  }

  const std::string stage;
  fabric::Hub& hub;

  std::mutex mutex;  // of the next one
  std::unordered_map<fabric::ConnectionId, Backlog> backlogs;

  std::map<fabric::ConnectionId, Delivery> deliveries;  // the writing thread's
  SerialWorker worker;                                  // the last: it uses the rest
};

DeliveryServer::DeliveryServer(std::string stage, fabric::Hub& hub)
    : impl_(std::make_unique<Impl>(std::move(stage), hub)) {}

DeliveryServer::~DeliveryServer() = default;

Result<void> DeliveryServer::received(fabric::ConnectionId id, const fabric::Frame& write) {
  FOREBAY_CHECK(parse_write(write.body));
  FOREBAY_CHECK(impl_->count(id, {.write_bytes = write.body.size()}));
  impl_->add(id, [impl = impl_.get(), id, body = Bytes(write.body.begin(), write.body.end())] {
    return impl->take(id, body);
  });
  return {};
}

Result<void> DeliveryServer::received(fabric::ConnectionId id, wire::MessageT message) {
  FOREBAY_CHECK(impl_->count(id, {.messages = 1}));
  impl_->add(id, [impl = impl_.get(), id, its = std::make_shared<const wire::MessageT>(std::move(message))] {
    return impl->answer(id, *its);
  });
  return {};
}

void DeliveryServer::disconnected(fabric::ConnectionId id) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->backlogs.erase(id) == 0) return;
  }
  impl_->add(id, [impl = impl_.get(), id]() -> Result<Bytes> {
    impl->deliveries.erase(id);
    return Bytes();
  });
}

void DeliveryServer::ping() {
  Bytes frame;
  wire::encode(frame, wire::PingT{});
  std::vector<fabric::ConnectionId> busy;
  {
    const std::lock_guard lock(impl_->mutex);
    for (const auto& [id, backlog] : impl_->backlogs)
      if (backlog.write_bytes > 0 || backlog.messages > 0) busy.push_back(id);
  }
  for (const fabric::ConnectionId id : busy) impl_->hub.send(id, frame);
}

}  // namespace forebay::job
