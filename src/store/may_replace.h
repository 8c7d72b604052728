// What Forebay may remove, or put something else in the place of: nothing but what it made itself, or what somebody
// named to be written over. All that removes or replaces asks here; tests/removals.py lists who does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace forebay::store {

enum class Thing : uint8_t { nothing, file, directory, link, other };

// Why a path might be taken.
enum class Right : uint8_t {
  marked,  // Forebay made what lies there, as its mark says, and nobody has changed it since
  named,   // the user, or his program, named this very file to be written over
  own,     // it has a name that Forebay alone gives, in a place of Forebay's
};

// What is known of a path.
struct Standing {
  Thing is = Thing::nothing;       // what lies there; no link is followed
  Thing becomes = Thing::nothing;  // what is to lie there then; nothing: it is removed
  Right right = Right::marked;
  bool is_marked = false, is_changed = false;  // since it was marked
  bool is_store = false;                       // it is a store
  bool holds_store = false;                    // one lies somewhere in it
  bool in_store = false;                       // it is a part of one, or lies in one
  std::string foreign;                         // a name in the directory that Forebay does not give there
};

// exists, with what is in the way and what the user can do, if the path must stay as it is. Pure.
Result<void> may_replace(const Standing& standing, const std::string& path);

struct Replacement {
  Thing becomes = Thing::nothing;
  Right right = Right::marked;
  std::string_view begins = {};                            // a text file that begins so, or is empty, is marked as well
  std::function<bool(std::string_view name)> is_own = {};  // of a directory: whether a name in it is Forebay's; empty:
                                                           // it is not looked at
};

// Looks at `path` and decides; nothing is followed or changed. Errors of looking, too.
Result<void> may_replace(const std::string& path, const Replacement& wish);

// The same of a name in a directory that is open, of which the caller knows that it lies in no part of a store.
Result<void> may_replace_at(int directory, const std::string& name, const std::string& path, const Replacement& wish);

// Marks the file or the tree as made by Forebay, as it is now: by an extended attribute, which holds how many entries
// and bytes there are, and when the last one was changed. Where the file system keeps none, nothing is marked, and
// nobody will replace it.
void mark_as_made(const std::string& path);

// Whether an open directory is a store, and `name` in it one of the things that a store is made of.
bool is_store_part(int directory, std::string_view name);

// Whether `path`, which need not be there, is a store, a part of one, or lies in one; links on the way are followed.
bool lies_in_store(const std::string& path);

}  // namespace forebay::store
