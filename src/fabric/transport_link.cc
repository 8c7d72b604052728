#include "fabric/transport_link.h"

namespace forebay::fabric {

using data_wire::Type;

Result<Bytes> TransportLink::read_body(const Link::Header& header) {
  if (header.body_bytes > data_wire::kMaxAnswerBody) return broken("an answer that is too long");
  Bytes body(header.body_bytes);
  FOREBAY_CHECK(read(body));
  return body;
}

Result<Error> TransportLink::read_failure(const Link::Header& header, uint64_t number) {
  if (header.type != static_cast<uint8_t>(Type::failed)) return broken("an answer to something else");
  FOREBAY_TRY(const Bytes body, read_body(header));
  FOREBAY_TRY(data_wire::Failed failed, data_wire::decode_failed(body));
  if (failed.number != number) return broken("an answer to something else");
  return std::move(failed.error);
}

Result<std::optional<Error>> TransportLink::check(uint64_t exposure) {
  const uint64_t number = new_number();
  Bytes frame;
  data_wire::encode(frame, data_wire::Check{number, exposure});
  FOREBAY_CHECK(send(frame));
  FOREBAY_TRY(const Link::Header header, next(data_wire::kMaxAnswerBody));
  if (header.type != static_cast<uint8_t>(Type::unchanged)) return read_failure(header, number);
  FOREBAY_TRY(const Bytes body, read_body(header));
  FOREBAY_TRY(const uint64_t answered, data_wire::decode_number(body));
  if (answered != number) return broken("an answer to something else");
  return std::nullopt;
}

Result<void> check_room(std::span<const Piece> pieces, std::span<const std::byte> out) {
  if (data_wire::total(pieces) == out.size()) return {};
  return fail(ErrorKind::invalid_argument, "room for another number of bytes than is asked for");
}

}  // namespace forebay::fabric
