// The numbers of the codecs in the container format. A number is never reused; new codecs take new numbers.
// docs/codecs.md describes the encoding of each.
#pragma once

#include <cstdint>

namespace forebay::codec {

enum : uint16_t {
  // 0 is never a codec.

  // Transforms: as many bytes out as in.
  kShuffleId = 1,     // byte planes
  kBitshuffleId = 2,  // bit planes
  kLorenzoId = 3,     // integer N-D Lorenzo residuals; level: dimensions used
  kDifferenceId = 4,  // from the elements of another frame
  kColumnsId = 5,     // records of a few elements, column by column

  // Coders of our own.
  kFpcId = 16,     // FPC; level: exponent of the table size
  kLchId = 17,     // context-modelled bit lengths and raw low bits of residuals
  kPlanesId = 18,  // each plane of bytes by itself; level 1: the top bit moves to the lowest place
  kTextId = 19,    // columns of numbers in text; level: effort

  // Coders of libraries.
  kZstdId = 32,
  kDeflateId = 33,
  kLz4Id = 34,
  kFpzip1dId = 35,  // fpzip over the whole frame as one line
  kFpzipId = 36,    // fpzip with the true shapes

  // From here on codecs have parameters (kFirstParametricId). Transforms of our own.
  kFittedId = 64,     // residuals of a stencil fitted by least squares
  kRelationId = 65,   // residuals of a prediction from other variables
  kHaloId = 66,       // cells that copy other cells of the frame are left out
  kMultiplesId = 67,  // floating-point numbers that are multiples of a base, as integers

  // Coders of libraries with parameters.
  kZfpId = 96,  // zfp with an error bound

  // No codec: the frame lies in another set of the store, which the engine knows.
  kParentFrameId = 128,
  // No codec either: the frame consists of entries, each with a recipe (codec/entries).
  kEntriesId = 129,
  // Nor this one: the last reference of the stages behind it lies in another set of the store.
  kFrameBeforeId = 130,
};

}  // namespace forebay::codec
