// The road by which bytes come back over the connection that asks for them.
#include <deque>
#include <optional>

#include "fabric/data_wire.h"
#include "fabric/remote.h"

namespace forebay::fabric {
namespace {

using data_wire::Type;

class StreamRoad final : public Road {
 public:
  StreamRoad(Link link, Link::Patience patience) : link_(std::move(link)), patience_(patience) {}
  const char* name() const override { return "stream"; }

  Result<void> begin(uint64_t exposure, std::span<const Piece> pieces, std::span<std::byte> out) override {
    if (data_wire::total(pieces) != out.size())
      return fail(ErrorKind::invalid_argument, "room for another number of bytes than is asked for");
    return lasting(ask(exposure, pieces, out));
  }

  Result<void> finish() override {
    FOREBAY_CHECK(lasting(receive_all()));
    if (const auto failure = std::exchange(failure_, std::nullopt)) return std::unexpected(*failure);
    return {};
  }

  Result<void> check_unchanged(uint64_t exposure) override {
    FOREBAY_TRY(const auto failure, lasting(check(exposure)));
    if (failure) return std::unexpected(*failure);
    return {};
  }

 private:
  struct Request {
    uint64_t number = 0;
    std::span<std::byte> out;
  };

  // After an error of the connection, all calls have it.
  template <class T>
  Result<T> lasting(Result<T> result) {
    if (broken_) return std::unexpected(*broken_);
    if (!result) broken_ = result.error();
    return result;
  }

  Result<void> ask(uint64_t exposure, std::span<const Piece> pieces, std::span<std::byte> out) {
    if (broken_) return {};
    for (auto& some : data_wire::cut(pieces)) {
      while (under_way_.size() >= data_wire::kMaxUnderWay) FOREBAY_CHECK(receive_one());
      const size_t bytes = data_wire::total(some);
      frame_.clear();
      data_wire::encode(frame_, {next_number_, exposure, std::move(some)});
      FOREBAY_CHECK(link_.send(frame_, patience_));
      under_way_.push_back({next_number_++, out.first(bytes)});
      out = out.subspan(bytes);
    }
    return {};
  }

  Result<void> receive_all() {
    while (!broken_ && !under_way_.empty()) FOREBAY_CHECK(receive_one());
    return {};
  }

  // Answers come in the order of the requests, each right behind the one before.
  Result<void> receive_one() {
    const Request request = under_way_.front();
    FOREBAY_TRY(const Link::Header header,
                link_.next(data_wire::kDataNumberBytes + data_wire::kMaxReadBytes, patience_));
    if (header.type == static_cast<uint8_t>(Type::data)) {
      FOREBAY_CHECK(receive_data(header, request));
    } else {
      FOREBAY_TRY(Error error, receive_failure(header, request.number));
      if (!failure_) failure_ = std::move(error);
    }
    under_way_.pop_front();
    return {};
  }

  Result<void> receive_data(const Link::Header& header, const Request& request) {
    std::byte number[data_wire::kDataNumberBytes];
    if (header.body_bytes != sizeof number + request.out.size()) return broken("data of a wrong length");
    FOREBAY_CHECK(link_.read(number, patience_));
    if (load_le<uint64_t>(number) != request.number) return broken("data of another request");
    return link_.read(request.out, patience_);
  }

  Result<Error> receive_failure(const Link::Header& header, uint64_t number) {
    if (header.type != static_cast<uint8_t>(Type::failed) || header.body_bytes > data_wire::kMaxFailedBody)
      return broken("an answer to something else");
    Bytes body(header.body_bytes);
    FOREBAY_CHECK(link_.read(body, patience_));
    FOREBAY_TRY(data_wire::Failed failed, data_wire::decode_failed(body));
    if (failed.number != number) return broken("an answer to something else");
    return std::move(failed.error);
  }

  Result<std::optional<Error>> check(uint64_t exposure) {
    FOREBAY_CHECK(receive_all());
    if (broken_) return std::nullopt;
    const uint64_t number = next_number_++;
    frame_.clear();
    data_wire::encode(frame_, data_wire::Check{number, exposure});
    FOREBAY_CHECK(link_.send(frame_, patience_));
    FOREBAY_TRY(const Link::Header header, link_.next(data_wire::kMaxFailedBody, patience_));
    if (header.type != static_cast<uint8_t>(Type::unchanged)) return receive_failure(header, number);
    Bytes body(header.body_bytes);
    FOREBAY_CHECK(link_.read(body, patience_));
    FOREBAY_TRY(const uint64_t answered, data_wire::decode_number(body));
    if (answered != number) return broken("an answer to something else");
    return std::nullopt;
  }

  std::unexpected<Error> broken(const char* what) const { return fail(ErrorKind::corrupt, what, link_.peer()); }

  Link link_;
  const Link::Patience patience_;
  uint64_t next_number_ = 1;
  std::deque<Request> under_way_;
  std::optional<Error> failure_;  // that the agent has answered with
  std::optional<Error> broken_;   // of the connection
  Bytes frame_;
};

}  // namespace

std::unique_ptr<Road> stream_road(Link link, Link::Patience patience) {
  return std::make_unique<StreamRoad>(std::move(link), patience);
}

}  // namespace forebay::fabric
