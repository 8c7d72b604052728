// The agent's end of deliveries. The hub's thread queues what arrives; one thread works it off, in order, and answers
// through the hub.
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "job/delivery/delivery.h"
#include "job/delivery/delivery_session.h"

namespace forebay::job {
namespace {

// So much is taken before the other side is told: small against its window, large against a message.
constexpr uint64_t kTellEvery = kWindow / 8;

// A worker waits for each answer before it asks for more.
constexpr size_t kMaxUnanswered = 16;

struct Gone {};

struct Item {
  fabric::ConnectionId id;
  std::variant<Bytes, wire::MessageT, Gone> what;  // Bytes: the body of a kWrite
};

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
  if (done) {
    wire::encode(frame, wire::TargetDoneT{});
    return frame;
  }
  wire::RefusedT refused;
  refused.error_kind = static_cast<uint8_t>(done.error().kind);
  refused.message = done.error().message();
  wire::encode(frame, std::move(refused));
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
  Impl(std::string stage_path, fabric::Hub& its_hub) : stage(std::move(stage_path)), hub(its_hub) {
    thread = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }

  void push(Item item) {
    {
      const std::lock_guard lock(mutex);
      queue.push_back(std::move(item));
    }
    filled.notify_one();
  }

  void work(const std::stop_token& stop) {
    while (auto item = next(stop)) process(*item);
  }

  std::optional<Item> next(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    if (!filled.wait(lock, stop, [&] { return !queue.empty(); }) || stop.stop_requested()) return std::nullopt;
    Item item = std::move(queue.front());
    queue.pop_front();
    return item;
  }

  void process(Item& item) {
    if (std::holds_alternative<Gone>(item.what)) {
      deliveries.erase(item.id);
      return;
    }
    Delivery& delivery = deliveries.try_emplace(item.id, stage).first->second;
    if (const auto* message = std::get_if<wire::MessageT>(&item.what))
      answer(item.id, delivery, *message);
    else
      take(item.id, delivery, std::get<Bytes>(item.what));
  }

  void answer(fabric::ConnectionId id, Delivery& delivery, const wire::MessageT& message) {
    Bytes frame = answer_frame(delivery.session.handle(message.body));
    done(id, {.messages = 1});
    send(id, std::move(frame));
  }

  void take(fabric::ConnectionId id, Delivery& delivery, const Bytes& body) {
    // What arrives was parsed before it was queued.
    if (const auto write = parse_write(body)) delivery.session.write(*write);
    delivery.taken += body.size();
    done(id, {.write_bytes = body.size()});
    if (delivery.taken - delivery.told < kTellEvery) return;
    delivery.told = delivery.taken;
    send(id, taken_frame(delivery.taken));
  }

  void done(fabric::ConnectionId id, const Backlog& by) {
    const std::lock_guard lock(mutex);
    const auto found = backlogs.find(id);
    if (found == backlogs.end()) return;
    found->second.write_bytes -= by.write_bytes;
    found->second.messages -= by.messages;
  }

  void send(fabric::ConnectionId id, Bytes frame) {
    hub.post([&to = hub, id, bytes = std::move(frame)] { to.send(id, bytes); });
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

  std::mutex mutex;
  std::condition_variable_any filled;
  std::deque<Item> queue;
  std::unordered_map<fabric::ConnectionId, Backlog> backlogs;

  std::map<fabric::ConnectionId, Delivery> deliveries;  // the writing thread's
  std::jthread thread;                                  // the last: it uses the rest
};

DeliveryServer::DeliveryServer(std::string stage, fabric::Hub& hub)
    : impl_(std::make_unique<Impl>(std::move(stage), hub)) {}

DeliveryServer::~DeliveryServer() = default;

Result<void> DeliveryServer::received(fabric::ConnectionId id, const fabric::Frame& write) {
  FOREBAY_CHECK(parse_write(write.body));
  FOREBAY_CHECK(impl_->count(id, {.write_bytes = write.body.size()}));
  impl_->push({id, Bytes(write.body.begin(), write.body.end())});
  return {};
}

Result<void> DeliveryServer::received(fabric::ConnectionId id, wire::MessageT message) {
  FOREBAY_CHECK(impl_->count(id, {.messages = 1}));
  impl_->push({id, std::move(message)});
  return {};
}

void DeliveryServer::disconnected(fabric::ConnectionId id) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->backlogs.erase(id) == 0) return;
  }
  impl_->push({id, Gone{}});
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
