// Small text files that notice every flipped bit: "TAG HASH\n" and a JSON object, where HASH is hash128_hex() of
// everything after the first line and the object has a whole number "version". (docs/store.md)
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"

namespace forebay::store {

// What of a sealed object is read unless more is asked for, the object itself counting as 0: members that are known do
// not nest deeper, and of others what is deeper is dropped, so that a text cannot make the parser hold more than its
// size accounts for.
inline constexpr int kMaxJsonDepth = 4;

std::string seal(std::string_view tag, const nlohmann::json& body);

// corrupt if `text` is not sealed with `tag` and its hash; unsupported if the version is above `newest_version`.
Result<nlohmann::json> unseal(std::string_view tag, std::string_view text, uint64_t newest_version,
                              const std::string& path, int most_depth = kMaxJsonDepth);

}  // namespace forebay::store
