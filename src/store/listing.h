// The sets of a store, as they are read together: from all manifests, or from a file of the store that tells what these
// said (docs/store.md, "The listing"). That file is a cache: without it, or when it is damaged or old, all is read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/store.h"

namespace forebay::store {

// Of fewer sets nothing is kept: reading them takes no longer.
inline constexpr size_t kFewestListed = 32;

// The manifests of the sets of a store, by name. Those that cannot be read have their error.
using SetTable = std::map<std::string, SetInfo, std::less<>>;

// The names of the sets of a store, sorted. Errors as of Backend::set_names().
Result<std::vector<std::string>> names_of_sets(const Backend& backend);

// Reads the manifest of one set. not_found if there is no such set.
Result<SetInfo> read_set(const std::shared_ptr<const Backend>& backend, const std::string& name);

// Brings `table` up to date: reads, many at once, the manifests of sets that are new, were replaced since, or cannot be
// read, and forgets those that are gone. Returns how many it read. Errors as of Backend::set_names().
Result<size_t> refresh(const std::shared_ptr<const Backend>& backend, SetTable& table);

// The sets as their manifests tell, but for the containers and what else only people or who reads the set wants to
// know. From the listing, if the store has one that is up to date; and makes one, if that is worth it. With `is_fresh`,
// nothing is taken from a listing.
Result<SetTable> outline(const std::shared_ptr<const Backend>& backend, bool is_fresh);

// A listing as a file's content, and back. Every flipped bit is noticed, as in a manifest: corrupt.
struct Listing {
  Stamp sets_stamp;         // when it was made
  bool is_settled = false;  // Backend::is_settled(), then
  SetTable sets;            // outlines
};
std::string serialise(const Listing& listing);
Result<Listing> parse_listing(std::string_view text, const std::shared_ptr<const Backend>& backend);

}  // namespace forebay::store
