// Whether what a set holds can lie in a directory: the one answer that verify and restore give.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalogue.h"

namespace forebay::engine {

// A file, directory or link of a set. The texts are somebody else's.
struct Entry {
  std::string_view name;         // as is_safe_name() wants it
  std::string_view link_target;  // of a link
  FileKind kind = FileKind::regular;
  size_t container = 0;  // which one of the set holds it
};

// What keeps an entry from being restored with the others.
struct Misfit {
  Entry entry;
  std::string what;
};

// The entries that no directory can hold: two of one name, one below a file or a link, a link that leads nowhere
// because it has no target. In order of names; the first hundred. Pure.
std::vector<Misfit> find_misfits(std::vector<Entry> entries);

}  // namespace forebay::engine
