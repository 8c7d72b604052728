// What a process shows to be let in, and asks of others: MUNGE where the site has it, else the job's secret.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "base/error.h"

namespace forebay::fabric {

inline constexpr size_t kSecretBytes = 32;
using Secret = std::array<std::byte, kSecretBytes>;

struct Credentials {
  std::optional<Secret> secret;  // known to all processes of the job, and to nobody else
  bool munge = false;            // MUNGE credentials of this process's user
  bool encrypt = false;          // what is sent over TCP, with keys from `secret`; peers that do not are refused
};

// From the system's source of randomness. libsodium ends a process that has none.
Secret new_secret();

// Reads a secret from a file of 64 hexadecimal digits and a line feed. permission if the file belongs to another user
// or if others than its owner can read or write it; corrupt if it holds something else.
Result<Secret> read_secret(const std::string& path);

// Writes a new file that only its owner can read. exists if there is one.
Result<void> write_secret(const std::string& path, const Secret& secret);

}  // namespace forebay::fabric
