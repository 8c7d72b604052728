// How a rank group's bytes are merged: the few numbers from which, with a Catalogue, the plan is recomputed.
#pragma once

#include <cstdint>
#include <vector>

namespace forebay {

// The merge schemes of mcrEngine section 3.2. `agnostic` concatenates whole files and `agnostic_block` interleaves them
// in blocks; `aware` concatenates the variables of one group and `aware_block` interleaves them in blocks.
enum class Scheme : uint8_t { agnostic = 0, agnostic_block = 1, aware = 2, aware_block = 3 };

inline const char* to_string(Scheme scheme) {
  constexpr const char* kNames[] = {"agnostic", "agnostic-block", "aware", "aware-block"};
  return kNames[static_cast<int>(scheme)];
}

struct PlanSpec {
  Scheme scheme = Scheme::aware;
  uint64_t block_bytes = 64 << 10;  // of the block schemes, 1 at least
  uint64_t frame_bytes = 4 << 20;   // the raw bytes that a frame aims at; frames never exceed twice this
  uint64_t share_bytes = 64 << 10;  // variable groups smaller than this share frames with others of their datatype
  std::vector<uint64_t> key_block_bytes;  // scheme aware only: per Catalogue key, the block size to interleave that
                                          // group with, or 0 to concatenate it. Empty: concatenate all.
};

}  // namespace forebay
