#include "job/wire/messages.h"

#include "base/directory.h"

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
  if (frame.type != kMessage) return fail(ErrorKind::corrupt, "a frame of an unknown type");
  const auto* bytes = reinterpret_cast<const uint8_t*>(frame.body.data());
  flatbuffers::Verifier verifier(bytes, frame.body.size(), 8, 4'000'000);
  if (!VerifyMessageBuffer(verifier)) return fail(ErrorKind::corrupt, "a message that breaks its schema");
  MessageT message;
  GetMessage(bytes)->UnPackTo(&message);
  return message;
}

}  // namespace forebay::job::wire
