// How fast a file system takes bytes.
#pragma once

#include <optional>
#include <string>

namespace forebay::cli {

// Bytes per second that one writer gets into the file system of the directory, made durable: measured with a file
// without a name, which is gone afterwards, of at most 256 MiB, for about two seconds, on bytes that do not compress.
// None if that cannot be done: no permission, no room, or a file system without such files.
std::optional<double> measure_rate(const std::string& directory);

}  // namespace forebay::cli
