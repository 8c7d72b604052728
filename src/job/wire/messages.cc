#include "job/wire/messages.h"

#include "job/wire/check.h"

namespace forebay::job::wire {

void encode(Bytes& to, const MessageT& message) {
  flatbuffers::FlatBufferBuilder builder(1024);
  builder.Finish(Message::Pack(builder, &message));
  const size_t begin = fabric::begin_frame(to, kMessage);
  const auto* bytes = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
  to.insert(to.end(), bytes, bytes + builder.GetSize());
  fabric::end_frame(to, begin);
}

Result<MessageT> decode(const fabric::Frame& frame) {
  constexpr size_t kAlignment = alignof(uint64_t);
  constexpr flatbuffers::uoffset_t kMaxDepth = 8, kMaxTables = 4'000'000;
  if (frame.type != kMessage) return fail(ErrorKind::corrupt, "a frame of an unknown type");
  Bytes aligned;
  auto body = frame.body;
  if (reinterpret_cast<uintptr_t>(body.data()) % kAlignment != 0) {
    aligned.assign(body.begin(), body.end());
    body = aligned;
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(body.data());
  flatbuffers::Verifier verifier(bytes, body.size(), kMaxDepth, kMaxTables);
  if (!VerifyMessageBuffer(verifier)) return fail(ErrorKind::corrupt, "a message that breaks its schema");
  FOREBAY_CHECK(check(*GetMessage(bytes), body.size()));
  MessageT message;
  GetMessage(bytes)->UnPackTo(&message);
  return message;
}

}  // namespace forebay::job::wire
