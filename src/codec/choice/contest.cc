#include "codec/choice/contest.h"

#include <algorithm>

#include "codec/codec_ids.h"

namespace forebay::codec {

// The search for copies is made once.
Chain Contest::resolved(Chain chain) {
  if (chain.empty() || chain.front().id != kHaloId) return chain;
  const Codec& halo = *find_codec(kHaloId);
  if (!halo_) halo_ = halo.accepts(shape_) ? halo.fit({shape_, chain.front().level, {}, {}}, raw_) : Bytes{};
  if (halo_->empty())
    chain.erase(chain.begin());
  else
    chain.front().parameters = *halo_;
  return chain;
}

void Contest::enter(const Chain& chain) {
  Chain entry = resolved(chain);
  if (std::ranges::count(entered_, entry) != 0) return;
  Encoded encoded = encode(entry, shape_, raw_, references_);
  const uint64_t size = encoded.payload.size() + encoded.recipe.size();
  const bool is_first = entered_.empty();
  entered_.push_back(std::move(entry));
  if (!is_first && size >= best_size_) return;
  best_ = {chain, std::move(encoded)};
  best_size_ = size;
}

}  // namespace forebay::codec
