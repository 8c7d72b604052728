// Files that a failed append left damaged, as far as this process knows.
#pragma once

#include <string>

namespace forebay::hdf5 {

inline constexpr const char* kDamaged =
    "an append failed, and the file could not be put back as it was: it may be damaged";

// Thread-safe.
void note_damage(const std::string& path);
void forget_damage(const std::string& path);  // another file has the name now
bool is_damaged(const std::string& path);

}  // namespace forebay::hdf5
