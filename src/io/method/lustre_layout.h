// On how many storage targets Lustre spreads a file, as its layout says: the extended attribute "lustre.lov".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace forebay::io {

// The stripe count of a layout, in the byte order of this machine; of one that changes along the file, the largest.
// Nothing if the bytes are no layout that is understood, or leave the number to the file system: its default, or all.
// Pure; the bytes may be anything.
std::optional<uint32_t> stripe_count(std::span<const std::byte> layout);

// The same of the layout that new files in a directory get. Nothing outside of Lustre, or if none was set for it.
std::optional<uint32_t> lustre_stripe_count(const std::string& directory);

}  // namespace forebay::io
