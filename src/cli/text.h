// Names of foreign origin, made safe to print. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/printable.h"

namespace forebay::cli {

using forebay::is_utf8;
using forebay::printable;

// The columns that `text`, as printable() returned it, takes on a terminal; wide and combining characters count as one.
size_t columns(std::string_view text);

// `text` broken between words into lines of at most 80 columns, of which `indent` are at the beginning of each: before
// the first they are taken for printed, before the others they are blanks. A word that is too long has a line of its
// own. There is no line feed at the end.
std::string wrapped(std::string_view text, size_t indent);

std::string base64(std::string_view bytes);

// `path` as a file name: everything but letters, digits, '.', '-' and '_' becomes '_', and it neither starts with '.'
// nor is empty or longer than 120 bytes.
std::string as_file_name(std::string_view path);

// `text` as one word of a POSIX shell command line.
std::string shell_word(std::string_view text);

}  // namespace forebay::cli
