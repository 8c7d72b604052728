#include "base/hash_stream.h"

#include <new>

#include "base/xxh3.h"

namespace forebay {

HashStream::HashStream() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(state_.get());
}

void HashStream::add(std::span<const std::byte> bytes) { XXH3_64bits_update(state_.get(), bytes.data(), bytes.size()); }

uint64_t HashStream::value() const { return XXH3_64bits_digest(state_.get()); }

void HashStream::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

}  // namespace forebay
