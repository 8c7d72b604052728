// Streams of bytes or of unsigned integers, each coded by what makes it smallest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace forebay::codec::text {

// How much time an encoder takes: the levels of the codec.
enum class Effort : uint8_t { fast = 1, balanced, max };

// Appends a stream of bytes, or of integers that take as many bytes each as the largest one needs.
void put_bytes(Bytes& out, std::span<const std::byte> bytes, Effort effort);
void put_integers(Bytes& out, std::span<const uint64_t> integers, Effort effort);

// The most memory, in bytes, that a coder takes for streams of up to `bytes`, and of a decoder.
size_t coder_bytes(size_t bytes, Effort effort);
size_t decode_coder_bytes();

// What decoders report.
std::unexpected<Error> malformed_text();

// Takes a stream off the front of `in`, which is hostile: one of at most `most` bytes, or one of exactly
// integers.size() integers. corrupt if it is not.
Result<Bytes> take_bytes(std::span<const std::byte>& in, size_t most);
Result<void> take_integers(std::span<const std::byte>& in, std::span<uint64_t> integers);

}  // namespace forebay::codec::text
