// The transport by which bytes come as active messages of UCX, by rendezvous: the worker's side fetches them straight
// to where they are wanted.
#ifdef FOREBAY_WITH_UCX

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sodium.h>

#include "fabric/transport_link.h"
#include "fabric/ucx_worker.h"

namespace forebay::fabric {
namespace {

using Clock = std::chrono::steady_clock;
using data_wire::Token;
using data_wire::Type;

constexpr unsigned kBusyRounds = 64;  // of progress, before the connection has its turn

// To close an endpoint that was never wired up ends the process; and without it the worker cannot go.
void keep_for_ever(std::unique_ptr<UcxWorker> worker, std::unique_ptr<UcxEndpoint> endpoint) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<std::pair<std::unique_ptr<UcxWorker>, std::unique_ptr<UcxEndpoint>>>;
  const std::lock_guard lock(mutex);
  kept.emplace_back(std::move(worker), std::move(endpoint));
}

class UcxTransport final : public Transport {
 public:
  UcxTransport(Link link, Link::Patience patience, std::unique_ptr<UcxWorker> worker)
      : link_(std::move(link), patience), worker_(std::move(worker)) {}
  ~UcxTransport() override { let_go(); }
  const char* name() const override { return "ucx"; }

  // Connects with the agent's worker. A message goes each way before the endpoint is used.
  Result<void> open() {
    FOREBAY_CHECK(worker_->on(ActiveMessage::greeting, &UcxTransport::on_greeting, this));
    FOREBAY_CHECK(worker_->on(ActiveMessage::data, &UcxTransport::on_data, this));
    FOREBAY_TRY(const auto mine, worker_->address());
    Bytes frame;
    data_wire::encode(frame, Type::ucx_open, mine);
    FOREBAY_CHECK(link_.send(frame));
    FOREBAY_TRY(const Link::Header header, link_.next(data_wire::kMaxAnswerBody));
    if (header.type != static_cast<uint8_t>(Type::ucx_opened)) {
      FOREBAY_TRY(Error error, link_.read_failure(header, 0));
      return std::unexpected(std::move(error));
    }
    FOREBAY_TRY(const Bytes body, link_.read_body(header));
    FOREBAY_TRY(const auto theirs, data_wire::decode_address(body));
    FOREBAY_TRY(endpoint_, UcxEndpoint::create(*worker_, theirs));
    FOREBAY_CHECK(wait_until([this] { return greeting_.has_value(); }));
    endpoint_->send(ActiveMessage::answer, *greeting_, {}, [](bool) {});
    return wait_until([this] { return endpoint_->is_wired(); });
  }

  Result<void> begin(uint64_t exposure, std::span<const Piece> pieces, std::span<std::byte> out) override {
    FOREBAY_CHECK(check_room(pieces, out));
    return lasting(ask(exposure, pieces, out));
  }

  Result<void> finish() override {
    FOREBAY_CHECK(lasting(wait_for_all()));
    if (const auto failure = std::exchange(failure_, std::nullopt)) return std::unexpected(*failure);
    return {};
  }

  Result<void> check_unchanged(uint64_t exposure) override {
    FOREBAY_CHECK(lasting(wait_for_all()));
    FOREBAY_TRY(const auto changed, lasting(link_.check(exposure)));
    if (changed) return std::unexpected(*changed);
    return {};
  }

 private:
  struct Request {
    uint64_t number = 0;
    Token token;
    std::span<std::byte> out;
    uint64_t received = 0;
    size_t under_way = 0;  // messages that are being fetched
    bool sent = false, refused = false;
    bool done() const { return under_way == 0 && (refused || (sent && received == out.size())); }
  };
  struct Fetching {
    const Ucx* ucx;  // the worker may be going
    UcxTransport* transport;
    Request* request;
    size_t length;
  };

  // After an error of the connection nothing is written to anybody's memory any more.
  template <class T>
  Result<T> lasting(Result<T> result) {
    result = link_.lasting(std::move(result));
    if (link_.failed()) let_go();
    return result;
  }

  void let_go() {
    if (!worker_) return;
    if (endpoint_ && !endpoint_->may_be_closed()) {
      keep_for_ever(std::move(worker_), std::move(endpoint_));
      return;
    }
    endpoint_.reset();
    while (worker_->progress() > 0) {
    }
    worker_.reset();
  }

  Result<void> ask(uint64_t exposure, std::span<const Piece> pieces, std::span<std::byte> out) {
    for (auto& some : data_wire::cut(pieces)) {
      FOREBAY_CHECK(wait_for_room());
      const size_t bytes = data_wire::total(some);
      Request& request = requests_.emplace_back();
      request.number = link_.new_number();
      request.out = out.first(bytes);
      randombytes_buf(request.token.data(), request.token.size());
      out = out.subspan(bytes);
      Bytes frame;
      data_wire::encode(frame, {request.number, exposure, std::move(some)}, request.token);
      FOREBAY_CHECK(link_.send(frame));
    }
    return {};
  }

  Result<void> wait_for_room() {
    return wait_until([this] { return count_under_way() < data_wire::kMaxUnderWay; });
  }
  Result<void> wait_for_all() {
    return wait_until([this] { return count_under_way() == 0; });
  }
  size_t count_under_way() {
    std::erase_if(requests_, [](const Request& request) { return request.done(); });
    return requests_.size();
  }

  // UCX does not notice an agent that is silent: who sends neither bytes nor answers for the patience is lost.
  template <class Condition>
  Result<void> wait_until(const Condition& holds) {
    auto deadline = Clock::now() + link_.patience();
    uint64_t seen = moved_;
    for (unsigned round = 1; !link_.failed() && !holds(); ++round) {
      const bool idle = worker_->progress() == 0 && worker_->arm();
      if (!idle && round % kBusyRounds != 0) continue;
      if (moved_ != seen) deadline = Clock::now() + link_.patience();
      seen = moved_;
      FOREBAY_CHECK(listen(idle ? deadline : Clock::now()));
      if (Clock::now() >= deadline && moved_ == seen) return silent();
    }
    return {};
  }

  // Takes an answer from the connection, if there is one by `until`, or returns when UCX has something to do.
  Result<void> listen(Clock::time_point until) {
    pollfd both[] = {{link_.fd(), POLLIN, 0}, {worker_->efd(), POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    const int ready = ::poll(both, 2, static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30)));
    if (ready < 0 && errno != EINTR) return fail_errno(errno, "poll", {});
    if (ready <= 0 || both[0].revents == 0) return {};
    ++moved_;
    FOREBAY_TRY(const Link::Header header, link_.next(data_wire::kMaxAnswerBody));
    return receive(header);
  }

  Result<void> receive(const Link::Header& header) {
    if (header.type == static_cast<uint8_t>(Type::failed)) return receive_failure(header);
    FOREBAY_TRY(const Bytes body, link_.read_body(header));
    FOREBAY_TRY(const uint64_t number, data_wire::decode_number(body));
    if (header.type == static_cast<uint8_t>(Type::ucx_ready) && greeting_) {
      endpoint_->set_wired();
      return {};
    }
    const auto request = std::ranges::find(requests_, number, &Request::number);
    if (header.type != static_cast<uint8_t>(Type::ucx_sent) || request == requests_.end())
      return link_.broken("an answer to something else");
    request->sent = true;
    return {};
  }

  Result<void> receive_failure(const Link::Header& header) {
    FOREBAY_TRY(const Bytes body, link_.read_body(header));
    FOREBAY_TRY(data_wire::Failed failed, data_wire::decode_failed(body));
    const auto request = std::ranges::find(requests_, failed.number, &Request::number);
    if (request == requests_.end()) return link_.broken("an answer to something else");
    request->refused = true;
    if (!failure_) failure_ = std::move(failed.error);
    return {};
  }

  std::unexpected<Error> silent() const {
    auto error = link_.silent();
    if (dropped_ > 0) error.error().what += fmt::format("; {} messages of strangers were dropped", dropped_);
    return error;
  }

  static ucs_status_t on_greeting(void* self, const void* header, size_t size, void*, size_t,
                                  const ucp_am_recv_param_t*) {
    auto& transport = *static_cast<UcxTransport*>(self);
    if (size != sizeof(Token) || transport.greeting_) return UCS_OK;
    transport.greeting_.emplace();
    std::copy_n(static_cast<const std::byte*>(header), size, transport.greeting_->begin());
    ++transport.moved_;
    return UCS_OK;
  }

  static ucs_status_t on_data(void* self, const void* header, size_t size, void* data, size_t length,
                              const ucp_am_recv_param_t* param) {
    auto& transport = *static_cast<UcxTransport*>(self);
    const std::span bytes(static_cast<const std::byte*>(header), size);
    const bool fetchable = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    if (fetchable && bytes.size() == sizeof(Token) + sizeof(uint64_t) && transport.fetch(bytes, data, length))
      return UCS_INPROGRESS;
    ++transport.dropped_;
    return UCS_OK;
  }

  // False if it is nobody's.
  bool fetch(std::span<const std::byte> header, void* data, size_t length) {
    const auto meant = std::ranges::find_if(requests_, [&](const Request& request) {
      return !request.refused && sodium_memcmp(request.token.data(), header.data(), sizeof(Token)) == 0;
    });
    if (meant == requests_.end()) return false;
    const auto offset = load_le<uint64_t>(header.data() + sizeof(Token));
    if (offset > meant->out.size() || length > meant->out.size() - offset) return false;
    auto fetching = std::make_unique<Fetching>(&worker_->ucx(), this, &*meant, length);
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.user_data = fetching.get();
    param.cb.recv_am = [](void* request, ucs_status_t status, size_t, void* arg) {
      const std::unique_ptr<Fetching> finished(static_cast<Fetching*>(arg));
      finished->ucx->call.request_free(request);
      finished->transport->fetched(*finished, status == UCS_OK);
    };
    ++meant->under_way;
    const auto request =
        worker_->ucx().call.am_recv_data_nbx(worker_->get(), data, meant->out.data() + offset, length, &param);
    if (UCS_PTR_IS_PTR(request))
      (void)fetching.release();  // the callback's
    else
      fetched(*fetching, request == nullptr);
    return true;
  }

  // The other side's end of the connection tells more about a failure.
  void fetched(const Fetching& fetching, bool ok) {
    --fetching.request->under_way;
    if (!ok) return;
    fetching.request->received += fetching.length;
    ++moved_;
  }

  TransportLink link_;
  std::unique_ptr<UcxWorker> worker_;
  std::unique_ptr<UcxEndpoint> endpoint_;
  std::optional<Token> greeting_;
  std::list<Request> requests_;   // under way
  uint64_t moved_ = 0;            // grows with each sign of life
  uint64_t dropped_ = 0;          // messages whose token is not known
  std::optional<Error> failure_;  // that the agent has answered with
};

}  // namespace

Result<std::unique_ptr<Transport>> ucx_transport(Link link, Link::Patience patience) {
  FOREBAY_TRY(auto worker, UcxWorker::create());
  auto transport = std::make_unique<UcxTransport>(std::move(link), patience, std::move(worker));
  FOREBAY_CHECK(transport->open());
  return transport;
}

}  // namespace forebay::fabric

#endif
