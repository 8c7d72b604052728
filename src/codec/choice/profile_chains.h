// The chains from which the profiles choose.
#pragma once

#include <vector>

#include "codec/chain.h"
#include "codec/codec_ids.h"

namespace forebay::codec {

inline const Stage kZstd1{kZstdId, 1, {}}, kZstd3{kZstdId, 3, {}}, kZstd9{kZstdId, 9, {}}, kDeflate6{kDeflateId, 6, {}};

// `chain` with one more stage.
Chain join(Chain chain, const Stage& coder);

// The ways of turning elements into something that an LZ coder likes, in the order of preference.
std::vector<Chain> transforms(const DataType& type);

// The coder of `balanced` after a transform.
Stage balanced_coder(const DataType& type);

// The chain of `paper`.
Chain paper_chain(const DataType& type);

// What `balanced` chooses from, and what `max` adds to that, where `transform` is the best transform; without a look
// for cells that copy others.
std::vector<Chain> balanced_chains(const DataType& type, const Chain& transform);
std::vector<Chain> max_chains(const DataType& type, const Chain& transform);

// What `max` adds for frames that may be predicted from others: `parameters` are of the relation codec.
std::vector<Chain> related_chains(const Bytes& parameters);

// What `fast`, `balanced` and `max` choose from where a frame is predicted from the same variable of another set.
std::vector<Chain> fast_difference_chains();
std::vector<Chain> balanced_difference_chains(const DataType& type);
std::vector<Chain> max_difference_chains(const DataType& type);

// Whether the chain predicts from other frames.
bool refers(const Chain& chain);

// With a look for cells that copy others, before anything else that works on the cells of this frame alone. It finds
// none in a sample, and leaves itself out where it finds none in the frame. Unchanged for types that have no cells, and
// if it has that look.
Chain with_halo(Chain chain, const DataType& type);

}  // namespace forebay::codec
