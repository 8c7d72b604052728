#include "launch/scr/stored_sets.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include <sys/stat.h>

#include "store/names.h"
#include "store/series.h"
#include "store/store.h"

namespace forebay::scr {
namespace {

constexpr std::string_view kDropped = "it was dropped from the index of SCR";
constexpr std::string_view kDeleted = "it was deleted by SCR, and another set needs frames of it";

// Of the prefix, the newest first, for the newer ones may need the older ones; `set` empty: all.
Result<std::vector<store::SetInfo>> sets_of(const Places& places, const store::Store& store, std::string_view set) {
  FOREBAY_TRY(const auto all, store.list());
  std::vector<store::SetInfo> found = store::of_series(all, places.series);
  std::erase_if(found, [&](const store::SetInfo& one) {  // those that cannot be read may be another series'
    return !one.manifest || (!set.empty() && store::application_name(*one.manifest) != set);
  });
  std::ranges::reverse(found);
  return found;
}

Result<std::optional<store::Store>> store_of(const Places& places) {
  struct stat info{};
  if (::stat(places.store.c_str(), &info) != 0 && errno == ENOENT) return std::nullopt;
  FOREBAY_TRY(auto store, store::Store::open(places.store));
  return std::optional(std::move(store));
}

}  // namespace

Result<void> remove_stored(const Places& places, std::string_view set) {
  FOREBAY_TRY(const auto store, store_of(places));
  if (!store) return {};
  FOREBAY_TRY(const auto sets, sets_of(places, *store, set));
  for (const store::SetInfo& one : sets) {
    const auto removed = store->remove(one.name);
    if (removed || removed.error().kind == ErrorKind::not_found) continue;
    if (removed.error().kind != ErrorKind::invalid_argument) return std::unexpected(removed.error());
    FOREBAY_CHECK(store->set_aside(one.name, kDeleted));
  }
  return {};
}

Result<void> remove_all_stored(const Places& places) { return remove_stored(places, {}); }

Result<void> drop_stored(const Places& places, std::string_view set) {
  FOREBAY_TRY(const auto store, store_of(places));
  if (!store) return {};
  FOREBAY_TRY(const auto sets, sets_of(places, *store, set));
  for (const store::SetInfo& one : sets)
    if (!one.refused) FOREBAY_CHECK(store->set_aside(one.name, kDropped));
  return {};
}

Result<void> take_back_stored(const Places& places, std::string_view set) {
  FOREBAY_TRY(const auto store, store_of(places));
  if (!store) return {};
  FOREBAY_TRY(const auto sets, sets_of(places, *store, set));
  for (const store::SetInfo& one : sets) FOREBAY_CHECK(store->take_back(one.name, kDropped));
  return {};
}

}  // namespace forebay::scr
