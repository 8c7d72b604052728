// What --json prints: one document on standard output (docs/json.md).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace forebay::cli {

using Json = nlohmann::ordered_json;

// A name or message: a string if its bytes are UTF-8, else {"base64": the bytes, "text": as printable() has them}.
Json json_text(std::string_view text);
// Null for an empty one.
Json json_text_or_null(std::string_view text);
Json json_texts(const std::vector<std::string>& texts);

// raw / stored, or null if nothing is stored.
Json json_ratio(double raw, double stored);

// {"error": {"kind", "message", "path", "offset", "hint"}}; path, offset and hint are null where not known.
Json json_error(const Error& error);

// What print_json() prints.
std::string json_lines(const Json& document);

// Prints `document` and a line feed to standard output.
void print_json(const Json& document);

}  // namespace forebay::cli
