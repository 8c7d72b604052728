#include "job/worker/transport_source.h"

#include <algorithm>
#include <utility>

namespace forebay::job {

static constexpr uint64_t kReadAhead = 64 << 10;  // a request's way there and back costs as much as so many bytes

Result<void> TransportSource::read_at(uint64_t offset, std::span<std::byte> out) const {
  if (offset > size() || out.size() > size() - offset)
    return fail(ErrorKind::invalid_argument, "read past the end", name(), offset);
  if (out.size() >= kReadAhead) return fetch(offset, out);
  const std::lock_guard lock(mutex_);
  if (offset < kept_at_ || offset + out.size() > kept_at_ + kept_.size()) {
    Bytes fresh(std::min(kReadAhead, size() - offset));
    FOREBAY_CHECK(fetch(offset, fresh));
    kept_ = std::move(fresh);
    kept_at_ = offset;
  }
  std::ranges::copy(std::span(kept_).subspan(offset - kept_at_, out.size()), out.begin());
  return {};
}

Result<void> TransportSource::fetch(uint64_t offset, std::span<std::byte> out) const {
  if (out.empty()) return {};
  const engine::SourcePiece piece{.file = index_, .offset = offset, .length = out.size()};
  return sources_.read({&piece, 1}, out);
}

}  // namespace forebay::job
