#include "job/cache/piece_server.h"

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "job/thread/serial_worker.h"
#include "job/wire/convert.h"

namespace forebay::job {
namespace {

constexpr uint64_t kTellTaken = kPieceWindow / 8;

Bytes pieces_taken(uint64_t bytes) {
  Bytes frame;
  const size_t begin = fabric::begin_frame(frame, kPiecesTaken);
  frame.resize(frame.size() + sizeof bytes);
  store_le(frame.data() + fabric::kFrameHeaderBytes, bytes);
  fabric::end_frame(frame, begin);
  return frame;
}

}  // namespace

struct PieceServer::Impl {
  explicit Impl(fabric::Hub& its_hub)
      : hub(its_hub), worker([&its_hub](auto what) { its_hub.post(std::move(what)); }) {}

  struct Target {
    std::shared_ptr<PieceSink> sink;  // null: it is expected
    Ended ended;
  };
  // What a leader sends.
  struct Sender {
    EncodingKey to;
    uint32_t from = 0;
    std::deque<Bytes> held;  // bodies
    uint64_t waiting = 0;    // bytes of bodies that are not dealt with
    uint64_t taken = 0, told = 0;
    bool says_end = false, is_over = false;  // PiecesEnd has come; it was answered, or the position was forgotten
    std::optional<Error> failed;
  };

  const std::shared_ptr<PieceSink>* sink_of(const EncodingKey& key) const {
    const auto found = targets.find(key);
    return found == targets.end() || !found->second.sink ? nullptr : &found->second.sink;
  }

  // The one sender of the connection, who always means the same.
  Result<Sender*> sender(fabric::ConnectionId id, const EncodingKey& to, uint32_t from) {
    const auto [at, is_new] = senders.try_emplace(id);
    if (is_new) {
      at->second.to = to;
      at->second.from = from;
    }
    if (at->second.to != to || at->second.from != from || at->second.says_end)
      return fail(ErrorKind::corrupt, "pieces for two positions over one connection, or after their end");
    return &at->second;
  }

  void refuse(fabric::ConnectionId id, const Error& error) {
    Bytes frame;
    wire::encode(frame, wire::refusal_of(error));
    hub.send(id, frame);
  }

  // Hands on what is held, if somebody takes it.
  void flush(fabric::ConnectionId id, Sender& sender) {
    const auto* sink = sink_of(sender.to);
    if (sink == nullptr || sender.is_over) return;
    for (Bytes& body : std::exchange(sender.held, {})) write(id, *sink, std::move(body));
    if (sender.says_end && sender.waiting == 0) end(id, sender);
  }

  void write(fabric::ConnectionId id, std::shared_ptr<PieceSink> sink, Bytes body) {
    const size_t bytes = body.size();
    worker.add(
        [sink = std::move(sink), body = std::move(body)]() -> Result<void> {
          FOREBAY_TRY(const PieceFrame frame, parse_piece(body));
          return sink->take(frame.row, frame.piece, frame.sum, frame.bytes);
        },
        [this, id, bytes](const Result<void>& taken) {
          const auto found = senders.find(id);
          if (found == senders.end()) return;
          Sender& sender = found->second;
          sender.waiting -= bytes;
          sender.taken += bytes;
          if (!taken && !sender.failed) sender.failed = taken.error();
          if (sender.taken - sender.told >= kTellTaken) hub.send(id, pieces_taken(sender.told = sender.taken));
          if (sender.says_end && sender.waiting == 0 && !sender.is_over) end(id, sender);
        });
  }

  void end(fabric::ConnectionId id, Sender& sender) {
    sender.is_over = true;
    const Result<void> result = sender.failed ? std::unexpected(*sender.failed) : Result<void>();
    if (result) {
      Bytes frame;
      wire::encode(frame, wire::PiecesTakenT{});
      hub.send(id, frame);
    } else {
      refuse(id, result.error());
    }
    tell(sender, result);
  }

  void tell(const Sender& sender, const Result<void>& result) {
    const auto found = targets.find(sender.to);
    if (found == targets.end() || !found->second.ended) return;
    const Ended ended = found->second.ended;  // it may forget the target
    ended(sender.from, result);
  }

  fabric::Hub& hub;
  std::map<EncodingKey, Target> targets;
  std::map<fabric::ConnectionId, Sender> senders;
  SerialWorker worker;  // the last: it uses the rest
};

PieceServer::PieceServer(fabric::Hub& hub) : impl_(std::make_unique<Impl>(hub)) {}
PieceServer::~PieceServer() = default;

void PieceServer::expect(const EncodingKey& key) { impl_->targets[key]; }

void PieceServer::accept(const EncodingKey& key, std::shared_ptr<PieceSink> sink, Ended ended) {
  impl_->targets[key] = {std::move(sink), std::move(ended)};
  std::vector<fabric::ConnectionId> ids;
  for (const auto& [id, sender] : impl_->senders)
    if (sender.to == key) ids.push_back(id);
  for (const auto id : ids)
    if (const auto found = impl_->senders.find(id); found != impl_->senders.end()) impl_->flush(id, found->second);
}

void PieceServer::forget(const EncodingKey& key) {
  impl_->targets.erase(key);
  for (auto& [id, sender] : impl_->senders) {
    if (sender.to != key || sender.is_over) continue;
    sender.is_over = true;
    sender.held.clear();
    impl_->refuse(id, {ErrorKind::not_found, "the pieces are not wanted any more", {}, {}, {}});
  }
}

Result<void> PieceServer::received(fabric::ConnectionId id, const fabric::Frame& piece) {
  FOREBAY_TRY(const PieceFrame frame, parse_piece(piece.body));
  FOREBAY_TRY(Impl::Sender* const sender, impl_->sender(id, frame.to, frame.from));
  if (sender->is_over) return {};
  sender->waiting += piece.body.size();
  if (sender->waiting > kPieceWindow) return fail(ErrorKind::corrupt, "pieces that do not wait to be taken");
  sender->held.emplace_back(piece.body.begin(), piece.body.end());
  impl_->flush(id, *sender);
  return {};
}

Result<void> PieceServer::received(fabric::ConnectionId id, const wire::PiecesEndT& end) {
  FOREBAY_TRY(Impl::Sender* const sender, impl_->sender(id, {end.id, end.group, end.position}, end.from));
  sender->says_end = true;
  impl_->flush(id, *sender);
  return {};
}

void PieceServer::disconnected(fabric::ConnectionId id) {
  const auto node = impl_->senders.extract(id);
  if (!node || node.mapped().is_over) return;
  impl_->tell(node.mapped(), fail(ErrorKind::disconnected, "the leader is gone before all its pieces had come"));
}

void PieceServer::ping() {
  Bytes frame;
  wire::encode(frame, wire::PingT{});
  for (const auto& [id, sender] : impl_->senders)
    if (!sender.is_over && impl_->targets.contains(sender.to)) impl_->hub.send(id, frame);
}

bool PieceServer::is_busy() const { return !impl_->senders.empty(); }

}  // namespace forebay::job
