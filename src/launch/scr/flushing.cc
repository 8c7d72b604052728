#include "launch/scr/flushing.h"

#include <algorithm>
#include <ctime>

#include <fcntl.h>
#include <fmt/format.h>

#include "launch/scr/set_names.h"
#include "store/files.h"
#include "store/may_replace.h"

namespace forebay::scr {
namespace {

constexpr std::string_view kFlushing = ".flushing";
constexpr const char* kEntryName = "entry";
constexpr uint64_t kMostListBytes = 1u << 30;

bool is_digits(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

// Also what a writer left that died in the midst of it: ".NAME.TOKEN".
bool is_name_of_flushing(std::string_view name) {
  if (name.starts_with('.')) name = name.substr(1, name.rfind('.') - 1);
  return name == kEntryName || is_digits(name);
}

Result<void> write_durably(const std::string& directory, const std::string& name, const std::string& text) {
  FOREBAY_CHECK(store::write_text(directory, name, text));
  return store::sync_directory(directory);
}

// The entry of the set as the index has it, if it waits for its files still.
Result<IndexEntry> awaited_entry(const std::string& path, const Index& index) {
  const std::string file = path + "/" + kEntryName;
  FOREBAY_TRY(const std::string text, store::read_text(file, kMostListBytes));
  FOREBAY_TRY(const Index one, parse_index(text, file));
  const IndexEntry* const known = one.entries.size() == 1 ? index.find(one.entries[0].name) : nullptr;
  if (known == nullptr || known->place == SetPlace::prefix || known->step != one.entries[0].step ||
      known->ranks != one.entries[0].ranks)
    return fail(ErrorKind::not_found, "the index does not wait for the set", path);
  return *known;
}

}  // namespace

std::string flushing_path(const std::string& sets, std::string_view set, std::string_view write) {
  return fmt::format("{}/{}.{}{}", sets, set, write, kFlushing);
}

Result<void> begin_flushing(const std::string& path, const IndexEntry& entry) {
  FOREBAY_CHECK(store::make_directory(path));
  Index one;
  one.add(entry);
  FOREBAY_CHECK(write_durably(path, kEntryName, print_index(one)));
  return store::sync_parent(path);
}

Result<void> note_flushed(const std::string& path, uint32_t rank, const std::vector<PrefixFile>& files) {
  return write_durably(path, std::to_string(rank), print_files(files));
}

Result<void> read_flushed(const std::string& path, FlushedFiles& so_far) {
  for (;; ++so_far.ranks) {
    const std::string file = fmt::format("{}/{}", path, so_far.ranks);
    const auto text = store::read_text(file, kMostListBytes);
    if (!text && text.error().kind == ErrorKind::not_found) return {};
    FOREBAY_CHECK(text);
    FOREBAY_TRY(const auto files, parse_files(*text, file));
    so_far.files.insert(so_far.files.end(), files.begin(), files.end());
  }
}

void end_flushing(const std::string& path) {
  const store::Replacement wish{.right = store::Right::own, .is_own = is_name_of_flushing};
  if (store::may_replace(path, wish)) (void)store::remove_tree(AT_FDCWD, path, path);
}

Result<void> list_in_index(const Places& places, IndexEntry entry, const std::vector<PrefixFile>& files, Index& index) {
  FOREBAY_TRY(const std::string set, set_of_name(entry.name));
  FOREBAY_CHECK(write_durably(places.sets, set + ".json", print_files(files)));
  entry.place = SetPlace::prefix;
  entry.flushed = std::time(nullptr);
  index.add(std::move(entry));
  return write_index(places.index, index);
}

Result<void> adopt_flushed(const Places& places, Index& index) {
  FOREBAY_TRY(const auto names, store::names_in(places.sets));
  for (const std::string& name : names) {
    if (!name.ends_with(kFlushing)) continue;
    const std::string path = places.sets + "/" + name;
    FlushedFiles flushed;
    const auto entry = awaited_entry(path, index);
    if (entry && read_flushed(path, flushed) && flushed.ranks == entry->ranks)
      FOREBAY_CHECK(list_in_index(places, *entry, flushed.files, index));
    end_flushing(path);
  }
  return {};
}

}  // namespace forebay::scr
