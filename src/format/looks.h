// What a file of which no reader knows the format looks like, for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace forebay::format {

// How many of its first bytes looks_like() can make use of.
inline constexpr size_t kLooksBytes = 4096;

// A few words, such as "text" or "a GROMACS checkpoint", that follow "looks like". A guess, from the file's first
// min(size, kLooksBytes) bytes. Pure; the bytes may be any.
std::string_view looks_like(std::span<const std::byte> head, uint64_t size);

}  // namespace forebay::format
