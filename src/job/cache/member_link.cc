#include "job/cache/member_link.h"

#include <utility>

#include "fabric/address.h"
#include "job/wire/convert.h"

namespace forebay::job {
namespace {

constexpr size_t kMostAnswer = 64 << 10;

Result<void> check_wanted(const std::stop_token& stop) {
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "it is not wanted any more");
  return {};
}

}  // namespace

Result<fabric::Link> MemberAccess::connect(const std::string& addresses) const {
  if (addresses.empty()) return fail(ErrorKind::disconnected, "nobody serves this member any more");
  FOREBAY_TRY(const auto parsed, fabric::parse_addresses(addresses));
  return fabric::Link::open(parsed, credentials, wire::kPurpose, patience);
}

Result<std::unique_ptr<fabric::Transport>> MemberAccess::transport(const std::string& addresses) const {
  FOREBAY_TRY(fabric::Link link, connect(addresses));
  if (ucx) return fabric::ucx_transport(std::move(link), patience);
  return fabric::stream_transport(std::move(link), patience);
}

Result<std::string> ask_record(const MemberAccess& access, const std::string& addresses, const EncodingKey& key,
                               wire::RecordPart part, const std::stop_token& stop) {
  FOREBAY_TRY(fabric::Link link, access.connect(addresses));
  wire::RecordRequestT request;
  request.id = key.id;
  request.group = key.group;
  request.position = key.position;
  request.part = part;
  Bytes frame;
  wire::encode(frame, std::move(request));
  FOREBAY_CHECK(link.send(frame, access.patience));
  for (;;) {
    FOREBAY_CHECK(check_wanted(stop));
    FOREBAY_TRY(const fabric::Frame answer, link.receive(wire::kMaxBody, access.patience));
    FOREBAY_TRY(const wire::MessageT message, wire::decode(answer));
    if (message.body.type == wire::Body::Ping) continue;
    if (const auto* refused = message.body.AsRefused()) return std::unexpected(error_of(*refused));
    const auto* record = message.body.AsRecord();
    if (record == nullptr) return fail(ErrorKind::corrupt, "an answer that was not asked for", link.peer());
    return std::string(as_text(std::as_bytes(std::span(record->record))));
  }
}

Result<PieceSender> PieceSender::open(const MemberAccess& access, const std::string& addresses) {
  FOREBAY_TRY(fabric::Link link, access.connect(addresses));
  return PieceSender(std::move(link), access.patience);
}

Result<void> PieceSender::send(std::span<const std::byte> frame, const std::stop_token& stop) {
  const uint64_t bytes = frame.size() - fabric::kFrameHeaderBytes;
  while (sent_ + bytes - taken_ > kPieceWindow) {
    FOREBAY_TRY(const bool ended, receive(stop));
    if (ended) return fail(ErrorKind::corrupt, "an answer without a question", link_.peer());
  }
  sent_ += bytes;
  return link_.send(frame, patience_);
}

Result<void> PieceSender::end(const EncodingKey& to, uint32_t from, const std::stop_token& stop) {
  wire::PiecesEndT message;
  message.id = to.id;
  message.group = to.group;
  message.position = to.position;
  message.from = from;
  Bytes frame;
  wire::encode(frame, std::move(message));
  FOREBAY_CHECK(link_.send(frame, patience_));
  for (bool ended = false; !ended;) {
    FOREBAY_TRY(ended, receive(stop));
  }
  return {};
}

Result<bool> PieceSender::receive(const std::stop_token& stop) {
  FOREBAY_CHECK(check_wanted(stop));
  FOREBAY_TRY(const fabric::Frame frame, link_.receive(kMostAnswer, patience_));
  if (frame.type == kPiecesTaken) {
    const uint64_t taken = frame.body.size() == sizeof taken_ ? load_le<uint64_t>(frame.body.data()) : 0;
    if (taken < taken_ || taken > sent_)
      return fail(ErrorKind::corrupt, "the agent has taken what was not sent", link_.peer());
    taken_ = taken;
    return false;
  }
  FOREBAY_TRY(const wire::MessageT message, wire::decode(frame));
  if (message.body.type == wire::Body::Ping) return false;
  if (message.body.type == wire::Body::PiecesTaken) return true;
  if (const auto* refused = message.body.AsRefused()) return std::unexpected(error_of(*refused));
  return fail(ErrorKind::corrupt, "an answer that was not asked for", link_.peer());
}

}  // namespace forebay::job
