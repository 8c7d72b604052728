#include "codec/choice/contest.h"

#include <algorithm>
#include <utility>

#include "codec/codec_ids.h"
#include "codec/entries/entries.h"

namespace forebay::codec {

namespace {

bool copies_cells(const Chain& chain) { return !chain.empty() && chain.front().id == kHaloId; }

// Of these a frame is never cut: what makes it small lies all over it.
bool wants_whole_frame(const Chain& chain) {
  return copies_cells(chain) || (!chain.empty() && chain.front().id == kTextId);
}

uint64_t size_of(const Encoded& encoded) { return encoded.payload.size() + encoded.recipe.size(); }

}  // namespace

// Whether so many cells are copies that the frame is worth being decoded as a whole.
bool Contest::has_copies(const Bytes& halo) const {
  constexpr uint64_t kLeast = 100;  // one cell in so many
  if (halo.empty() || entry_bytes_ == 0) return !halo.empty();
  const auto left = find_codec(kHaloId)->output_shape({shape_, 0, halo});
  return left && left->element_total() <= shape_.element_total() - shape_.element_total() / kLeast;
}

// The search for copies is made once, and so is the fit of a stencil.
Chain Contest::resolved(Chain chain) {
  chain = without_copies_if_there_are_none(std::move(chain));
  const Codec& fitted = *find_codec(kFittedId);
  if (chain.empty() || chain.front().id != kFittedId || !fitted.accepts(shape_)) return chain;
  if (!fit_) fit_ = fitted.fit({shape_}, raw_);
  chain.front().parameters = *fit_;
  return chain;
}

Chain Contest::without_copies_if_there_are_none(Chain chain) {
  if (chain.empty() || chain.front().id != kHaloId) return chain;
  const Codec& halo = *find_codec(kHaloId);
  if (!halo_) {
    halo_ = halo.accepts(shape_) ? halo.fit({shape_, chain.front().level, {}, {}}, raw_) : Bytes{};
    if (!has_copies(*halo_)) halo_->clear();
  }
  if (halo_->empty())
    chain.erase(chain.begin());
  else
    chain.front().parameters = *halo_;
  return chain;
}

void Contest::enter(const Chain& chain) {
  Chain entry = resolved(chain);
  if (std::ranges::count(entered_, entry) != 0) return;
  Encoded encoded = whole_ || entry_bytes_ == 0 || wants_whole_frame(entry)
                        ? encode(entry, shape_, raw_, references_)
                        : encode_entries(entry, entry_bytes_, shape_, raw_, references_);
  const uint64_t size = size_of(encoded);
  const bool is_first = entered_.empty();
  entered_.push_back(std::move(entry));
  if (!is_first && size >= best_size_) return;
  best_ = {chain, std::move(encoded)};
  best_size_ = size;
}

void Contest::compare_whole() {
  whole_ = true;
  const std::vector<Chain> cut = std::exchange(entered_, {});
  if (!cut.empty()) enter(Chain(best_.chain));
}

bool Contest::is_cut() const { return has_entries(best_.encoded.recipe); }

// The leader may be smaller uncut, or need not be as large as it is. Where it was not compared with others uncut, only
// frames that shrink to little are looked at: there repetition over a distance may be what makes them small.
void Contest::reconsider_entries() {
  constexpr uint64_t kLittle = 4;   // one part in so many
  constexpr uint64_t kPrice = 100;  // what entries may cost: one part in so many of the encoded bytes,
  // or of the raw ones; of a frame with references more, because uncut all of these have to be decoded, too.
  const uint64_t least_price = references_.empty() ? 1400 : 600;
  const Chain chain = resolved(best_.chain);
  if (entry_bytes_ == 0 || raw_.size() <= entry_bytes_ || wants_whole_frame(chain)) return;
  if (is_cut() ? best_size_ > raw_.size() / kLittle : !whole_) return;
  Encoded other = is_cut() ? encode(chain, shape_, raw_, references_)
                           : encode_entries(chain, entry_bytes_, shape_, raw_, references_);
  const uint64_t whole = is_cut() ? size_of(other) : best_size_, cut = is_cut() ? best_size_ : size_of(other);
  const uint64_t price = std::max(whole / kPrice, raw_.size() / least_price);
  if ((cut > whole + price) == is_cut()) best_.encoded = std::move(other);
}

Chosen Contest::take() {
  reconsider_entries();
  return std::move(best_);
}

}  // namespace forebay::codec
