#ifdef FOREBAY_WITH_UCX

#include "fabric/ucx_server.h"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sodium.h>

#include "base/buffer.h"
#include "fabric/request_files.h"
#include "fabric/ucx_worker.h"

namespace forebay::fabric {
namespace {

using data_wire::Token;
using data_wire::Type;

// The agent's memory for transports by UCX is this number of buffers, and of each transport that many of them, so that
// workers which are stopped do not keep all. Files are read into them, never mapped: one that shrinks is an error then,
// not a signal.
constexpr size_t kChunk = 1u << 20, kMaxChunks = 64, kMaxChunksOfOne = 4;
constexpr size_t kMaxUnwired = 64;    // endpoints whose other side has gone before they were of use
constexpr int kRoundsInATurn = 1000;  // of progress, before others have theirs

// A part of a request's bytes on its way.
struct Chunk {
  Buffer bytes{kChunk};
  std::array<std::byte, data_wire::kTokenBytes + 8> header;
};

class Transfer {
 public:
  Transfer(uint64_t number, const Token& token, std::vector<Piece> pieces, RequestFiles files)
      : number_(number), token_(token), pieces_(std::move(pieces)), files_(std::move(files)) {}

  uint64_t number() const { return number_; }
  bool at_end() const { return piece_ == pieces_.size(); }
  size_t under_way = 0;
  bool given_up = false;

  Result<void> check_all() {
    for (const Piece& piece : pieces_) FOREBAY_CHECK(files_.of(piece));
    skip_finished();
    return {};
  }

  Result<void> fill(Chunk& chunk) {
    std::ranges::copy(token_, chunk.header.begin());
    store_le(chunk.header.data() + token_.size(), offset_);
    chunk.bytes.resize(kChunk);
    std::span<std::byte> room = chunk.bytes.span();
    while (!at_end() && !room.empty()) {
      Piece& piece = pieces_[piece_];
      const size_t size = std::min<uint64_t>(piece.length, room.size());
      FOREBAY_TRY(const auto file, files_.of(piece));
      FOREBAY_CHECK(file->read_at(piece.offset, room.first(size)));
      piece.offset += size;
      piece.length -= size;
      room = room.subspan(size);
      skip_finished();
    }
    chunk.bytes.resize(kChunk - room.size());
    offset_ += chunk.bytes.size();
    return {};
  }

 private:
  void skip_finished() {
    while (!at_end() && pieces_[piece_].length == 0) ++piece_;
  }

  uint64_t number_;
  Token token_;
  std::vector<Piece> pieces_;  // those before piece_ are done; that one may be, in part
  size_t piece_ = 0;
  uint64_t offset_ = 0;  // in the request's bytes
  RequestFiles files_;
};

struct Peer {
  std::unique_ptr<UcxEndpoint> endpoint;
  Token greeting;
  std::deque<std::shared_ptr<Transfer>> transfers;  // that are not all handed over
  size_t chunks = 0;                                // under way
};

class Server final : public UcxServer, public std::enable_shared_from_this<Server> {
 public:
  Server(Exposures& exposures, Hub& hub, std::unique_ptr<UcxWorker> worker)
      : exposures_(exposures), hub_(hub), worker_(std::move(worker)) {}

  Result<void> start() {
    FOREBAY_TRY(address_, worker_->address());
    FOREBAY_CHECK(worker_->on(ActiveMessage::answer, &Server::on_answer, this));
    FOREBAY_CHECK(hub_.watch(worker_->efd(), [this] { drive(); }));
    drive();
    return {};
  }

  ~Server() override {
    hub_.forget(worker_->efd());
    for (auto& [connection, peer] : peers_) unwired_.push_back(std::move(peer));
    peers_.clear();
    reap();
    for (int i = 0; i < kRoundsInATurn && (worker_->progress() > 0 || free_.size() < chunks_); ++i) {
    }
    // Neither can be ended before the other side answers.
    if (!unwired_.empty()) {
      for (Peer& peer : unwired_) (void)peer.endpoint.release();
      (void)worker_.release();
    }
    worker_.reset();  // may call what still waits, which uses the rest
  }

  Result<void> open(ConnectionId connection, const data_wire::UcxAddress& address) override {
    if (peers_.contains(connection)) return fail(ErrorKind::invalid_argument, "a transport by UCX is there already");
    if (unwired_.size() >= kMaxUnwired) return fail(ErrorKind::limit, "too many endpoints of UCX that nobody answers");
    Peer peer;
    FOREBAY_TRY(peer.endpoint, UcxEndpoint::create(*worker_, address));
    randombytes_buf(peer.greeting.data(), peer.greeting.size());
    Bytes frame;
    data_wire::encode(frame, Type::ucx_opened, address_);
    hub_.send(connection, frame);
    const auto token = std::make_shared<Token>(peer.greeting);
    peer.endpoint->send(ActiveMessage::greeting, *token, {}, [this, connection, token](bool sent) {
      if (!sent) hub_.close(connection);
    });
    peers_.emplace(connection, std::move(peer));
    drive();
    return {};
  }

  Result<void> read(ConnectionId connection, data_wire::UcxRead request) override {
    const auto peer = peers_.find(connection);
    if (peer == peers_.end() || !peer->second.endpoint->is_wired())
      return fail(ErrorKind::invalid_argument, "there is no transport by UCX");
    if (peer->second.transfers.size() >= data_wire::kMaxUnderWay)
      return fail(ErrorKind::corrupt, "more requests than may be under way");
    data_wire::Read& read = request.read;
    RequestFiles files([this, exposure = read.exposure](uint32_t file) { return exposures_.open(exposure, file); });
    auto transfer = std::make_shared<Transfer>(read.number, request.token, std::move(read.pieces), std::move(files));
    FOREBAY_CHECK(transfer->check_all());
    if (transfer->at_end()) {
      finished(connection, *transfer);
      return {};
    }
    if (peer->second.transfers.empty()) turns_.push_back(connection);
    peer->second.transfers.push_back(std::move(transfer));
    drive();
    return {};
  }

  void disconnected(ConnectionId connection) override {
    const auto peer = peers_.find(connection);
    if (peer == peers_.end()) return;
    peer->second.transfers.clear();
    unwired_.push_back(std::move(peer->second));
    peers_.erase(peer);
    drive();
  }

 private:
  static ucs_status_t on_answer(void* self, const void* header, size_t size, void*, size_t,
                                const ucp_am_recv_param_t*) {
    if (size == data_wire::kTokenBytes) static_cast<Server*>(self)->answered(static_cast<const std::byte*>(header));
    return UCS_OK;
  }

  void answered(const std::byte* token) {
    const auto is_meant = [&](const Peer& peer) {
      return sodium_memcmp(peer.greeting.data(), token, sizeof(Token)) == 0;
    };
    for (auto& [connection, peer] : peers_) {
      if (!is_meant(peer) || peer.endpoint->is_wired()) continue;
      peer.endpoint->set_wired();
      Bytes frame;
      data_wire::encode_number(frame, Type::ucx_ready, 0);
      hub_.send(connection, frame);
    }
    for (Peer& peer : unwired_)
      if (is_meant(peer)) peer.endpoint->set_wired();
  }

  // Until there is nothing to do, or others have waited long enough.
  void drive() {
    for (int i = 0; i < kRoundsInATurn; ++i) {
      send_chunks();
      if (worker_->progress() > 0) continue;
      reap();
      if (worker_->arm()) return;
    }
    if (std::exchange(posted_, true)) return;
    hub_.post([self = weak_from_this()] {
      const auto server = self.lock();
      if (!server) return;
      server->posted_ = false;
      server->drive();
    });
  }

  void reap() {
    std::erase_if(unwired_, [](const Peer& peer) { return peer.endpoint->may_be_closed(); });
  }

  // One for each connection in turn.
  void send_chunks() {
    for (size_t passed = 0; passed < turns_.size() && (!free_.empty() || chunks_ < kMaxChunks);) {
      const ConnectionId connection = turns_.front();
      turns_.pop_front();
      const auto peer = peers_.find(connection);
      if (peer == peers_.end()) continue;
      const bool has_its_share = peer->second.chunks == kMaxChunksOfOne;
      passed = has_its_share ? passed + 1 : 0;
      if (!has_its_share) send_chunk(connection, peer->second);
      if (!peer->second.transfers.empty()) turns_.push_back(connection);
    }
  }

  std::shared_ptr<Chunk> take_chunk() {
    if (free_.empty()) return ++chunks_, std::make_shared<Chunk>();
    auto chunk = std::move(free_.back());
    free_.pop_back();
    return chunk;
  }

  void send_chunk(ConnectionId connection, Peer& peer) {
    const std::shared_ptr<Transfer> transfer = peer.transfers.front();
    const std::shared_ptr<Chunk> chunk = take_chunk();
    const auto filled = transfer->fill(*chunk);
    if (!filled || transfer->at_end()) peer.transfers.pop_front();
    if (!filled) {
      free_.push_back(chunk);
      transfer->given_up = true;
      Bytes frame;
      data_wire::encode(frame, data_wire::Failed{transfer->number(), filled.error()});
      return hub_.send(connection, frame);
    }
    ++transfer->under_way;
    ++peer.chunks;
    peer.endpoint->send(ActiveMessage::data, chunk->header, chunk->bytes, [=, this](bool sent) {
      free_.push_back(chunk);
      --transfer->under_way;
      if (const auto found = peers_.find(connection); found != peers_.end()) --found->second.chunks;
      if (!sent) hub_.close(connection);
      if (sent && !transfer->given_up && transfer->at_end() && transfer->under_way == 0)
        finished(connection, *transfer);
    });
  }

  void finished(ConnectionId connection, const Transfer& transfer) {
    Bytes frame;
    data_wire::encode_number(frame, Type::ucx_sent, transfer.number());
    hub_.send(connection, frame);
  }

  Exposures& exposures_;
  Hub& hub_;
  std::unique_ptr<UcxWorker> worker_;
  data_wire::UcxAddress address_;
  std::unordered_map<ConnectionId, Peer> peers_;
  std::vector<Peer> unwired_;       // whose connection is gone; kept for as long as they must not be closed
  std::deque<ConnectionId> turns_;  // with transfers
  std::vector<std::shared_ptr<Chunk>> free_;
  size_t chunks_ = 0;    // free or under way
  bool posted_ = false;  // drive() comes again without a cause
};

}  // namespace

Result<std::shared_ptr<UcxServer>> UcxServer::create(Exposures& exposures, Hub& hub) {
  FOREBAY_TRY(auto worker, UcxWorker::create());
  auto server = std::make_shared<Server>(exposures, hub, std::move(worker));
  FOREBAY_CHECK(server->start());
  return server;
}

}  // namespace forebay::fabric

#endif
