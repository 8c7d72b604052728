// The transport by which bytes come back over the connection that asks for them.
#include <deque>
#include <optional>
#include <utility>

#include "fabric/transport_link.h"

namespace forebay::fabric {
namespace {

using data_wire::Type;

class StreamTransport final : public Transport {
 public:
  StreamTransport(Link link, Link::Patience patience) : link_(std::move(link), patience) {}
  const char* name() const override { return "stream"; }

  Result<void> begin(uint64_t exposure, std::span<const Piece> pieces, std::span<std::byte> out) override {
    FOREBAY_CHECK(check_room(pieces, out));
    return link_.lasting(ask(exposure, pieces, out));
  }

  Result<void> finish() override {
    FOREBAY_CHECK(link_.lasting(receive_all()));
    if (const auto failure = std::exchange(failure_, std::nullopt)) return std::unexpected(*failure);
    return {};
  }

  Result<void> check_unchanged(uint64_t exposure) override {
    FOREBAY_CHECK(link_.lasting(receive_all()));
    FOREBAY_TRY(const auto changed, link_.lasting(link_.check(exposure)));
    if (changed) return std::unexpected(*changed);
    return {};
  }

 private:
  struct Request {
    uint64_t number = 0;
    std::span<std::byte> out;
  };

  Result<void> ask(uint64_t exposure, std::span<const Piece> pieces, std::span<std::byte> out) {
    for (auto& some : data_wire::cut(pieces)) {
      while (under_way_.size() >= data_wire::kMaxUnderWay) FOREBAY_CHECK(receive_one());
      const size_t bytes = data_wire::total(some);
      const uint64_t number = link_.new_number();
      frame_.clear();
      data_wire::encode(frame_, {number, exposure, std::move(some)});
      FOREBAY_CHECK(link_.send(frame_));
      under_way_.push_back({number, out.first(bytes)});
      out = out.subspan(bytes);
    }
    return {};
  }

  Result<void> receive_all() {
    while (!under_way_.empty()) FOREBAY_CHECK(receive_one());
    return {};
  }

  // Answers come in the order of the requests.
  Result<void> receive_one() {
    const Request request = under_way_.front();
    under_way_.pop_front();
    FOREBAY_TRY(const Link::Header header, link_.next(data_wire::kDataNumberBytes + data_wire::kMaxReadBytes));
    if (header.type == static_cast<uint8_t>(Type::data)) return receive_data(header, request);
    FOREBAY_TRY(Error error, link_.read_failure(header, request.number));
    if (!failure_) failure_ = std::move(error);
    return {};
  }

  Result<void> receive_data(const Link::Header& header, const Request& request) {
    std::byte number[data_wire::kDataNumberBytes];
    if (header.body_bytes != sizeof number + request.out.size()) return link_.broken("data of a wrong length");
    FOREBAY_CHECK(link_.read(number));
    if (load_le<uint64_t>(number) != request.number) return link_.broken("data of another request");
    return link_.read(request.out);
  }

  TransportLink link_;
  std::deque<Request> under_way_;
  std::optional<Error> failure_;  // that the agent has answered with
  Bytes frame_;
};

}  // namespace

std::unique_ptr<Transport> stream_transport(Link link, Link::Patience patience) {
  return std::make_unique<StreamTransport>(std::move(link), patience);
}

}  // namespace forebay::fabric
