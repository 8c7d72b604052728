#include "fabric/framing.h"

#include <algorithm>

#include <fmt/format.h>

#include "fabric/protocol.h"

namespace forebay::fabric {

// A buffer that one large frame has blown up is given back.
static constexpr size_t kKeptBytes = 256u << 10;

size_t begin_frame(Bytes& to, uint8_t type) {
  const size_t begin = to.size();
  to.resize(begin + kFrameHeaderBytes);
  to[begin + 4] = std::byte{kProtocolVersion};
  to[begin + 5] = std::byte{type};
  return begin;
}

void end_frame(Bytes& to, size_t begin) {
  store_le(to.data() + begin, static_cast<uint32_t>(to.size() - begin - kFrameHeaderBytes));
}

std::span<std::byte> FrameParser::room(size_t size) {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (buffer_.size() > kKeptBytes) {
      buffer_.clear();
      buffer_.shrink_to_fit();
    }
  }
  if (buffer_.size() - end_ < size && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < size) buffer_.resize(std::max(end_ + size, 2 * end_));
  return std::span(buffer_).subspan(end_);
}

Result<std::optional<Frame>> FrameParser::next() {
  if (end_ - begin_ < kFrameHeaderBytes) return std::nullopt;
  const std::byte* header = buffer_.data() + begin_;
  FOREBAY_TRY(const uint32_t length,
              check_frame_header(std::span<const std::byte, kFrameHeaderBytes>(header, kFrameHeaderBytes), max_body_));
  if (end_ - begin_ - kFrameHeaderBytes < length) return std::nullopt;
  begin_ += kFrameHeaderBytes + length;
  return Frame{std::to_integer<uint8_t>(header[5]), {header + kFrameHeaderBytes, length}};
}

Result<uint32_t> check_frame_header(std::span<const std::byte, kFrameHeaderBytes> header, size_t max_body) {
  const auto length = load_le<uint32_t>(header.data());
  if (header[4] != std::byte{kProtocolVersion})
    return fail(ErrorKind::unsupported,
                fmt::format("the other side speaks version {} of Forebay's protocol, and this is version {}",
                            std::to_integer<unsigned>(header[4]), kProtocolVersion),
                {}, {}, "run the commands and libraries of one release of Forebay in a job");
  if (length > max_body)
    return fail(ErrorKind::corrupt, fmt::format("a frame of {} bytes, where {} are the most", length, max_body));
  return length;
}

}  // namespace forebay::fabric
