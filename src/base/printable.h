// Text of foreign origin, made safe to show: the one function that everything that prints names goes through,
// Error::message() among it. Pure.
#pragma once

#include <string>
#include <string_view>

namespace forebay {

// `text` for people: control characters, bytes that are not UTF-8, and characters that nobody sees or that reorder a
// line (U+202E and its like) are written as \xNN or \u{NNNN}, so that no name can drive a terminal, or look like
// another one. What it returns it leaves as it is.
std::string printable(std::string_view text);

// `document`, which is JSON, with such characters in its texts written as \uNNNN: it says the same.
std::string printable_json(std::string_view document);

bool is_utf8(std::string_view text);

}  // namespace forebay
