// Sets that are read.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "launch/scr/set_names.h"
#include "launch/scr/stored_sets.h"
#include "scr/prefix_files.h"
#include "scr/session.h"
#include "store/files.h"

namespace forebay::scr {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostListBytes = 1u << 30;

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

// The one file below `directory` that is called `name`; nothing if there is none, or there are several.
std::optional<std::string> only_file(const std::string& directory, const std::string& name) {
  std::optional<std::string> found;
  std::error_code fault;
  for (fs::recursive_directory_iterator at(directory, fault), end; !fault && at != end; at.increment(fault)) {
    if (at->path().filename() != name || !at->is_regular_file(fault)) continue;
    if (found) return std::nullopt;
    found = at->path().string();
  }
  return found;
}

}  // namespace

Result<std::optional<std::string>> Session::have_restart() {
  FOREBAY_CHECK(end_copying());
  if (!restart_) {
    FOREBAY_TRY(restart_, find_restart());
  }
  return restart_ ? std::optional(restart_->entry.name) : std::nullopt;
}

Result<std::optional<Session::Restart>> Session::find_restart() {
  // The index's mark counts only where somebody has set it: a newer set may be in the caches alone.
  FOREBAY_TRY(const std::string newest, decided([&] {
                const IndexEntry* marked = index_.find(index_.current);
                const bool is_old = marked != nullptr && marked->step < index_.newest_step();
                return current_.empty() && is_old ? index_.current : current_;
              }));
  for (;;) {
    FOREBAY_TRY(const auto cached, look_in_caches(newest));
    FOREBAY_TRY(auto found, newest_of(cached, newest));
    if (!found || found->entry.place == SetPlace::cache) return found;
    const auto checked = check_in_prefix(*found);
    if (checked) return found;
    if (checked.error().kind != ErrorKind::cancelled)
      fmt::print(stderr, "SCR: set {} is passed over: {}\n", found->entry.name, checked.error().message());
    FOREBAY_CHECK(set_aside(*found, "it was damaged in the prefix"));
  }
}

// What the agents offer, no newer than the set `newest` if that is not empty.
Result<std::optional<IndexEntry>> Session::look_in_caches(const std::string& newest) {
  std::optional<IndexEntry> found;
  if (!client_) return found;
  const std::string limit = newest.empty() ? newest : set_of_name(newest).value_or("");
  auto answer = client_->restart(timeout_, any_ranks_, limit);
  Result<void> mine;
  if (!answer) {
    mine = std::unexpected(answer.error());
  } else if (answer->other_ranks != 0) {
    mine = fail(
        ErrorKind::invalid_argument, answer->message, {}, {},
        fmt::format("start {} ranks, or set SCR_GLOBAL_RESTART=1 if the program can read files of any number of ranks",
                    answer->other_ranks));
  }
  FOREBAY_CHECK(agreed(std::move(mine), "ask for a restart"));
  // Where there was nothing yet, that is nothing to tell.
  const bool knows_sets =
      std::ranges::any_of(index_.entries, [](const IndexEntry& entry) { return entry.place == SetPlace::cache; });
  if (!answer->message.empty() && is_first() && (answer->found || knows_sets))
    fmt::print(stderr, "SCR: {}\n", answer->message);
  if (!answer->found) return found;
  stored_as_ = answer->found->stored_as;
  found.emplace();
  FOREBAY_TRY(found->name, decided([&] { return index_.name_of(answer->found->set); }));
  found->step = answer->found->step.value_or(0);
  found->id = found->step;
  found->ranks = answer->found->ranks;
  FOREBAY_TRY(const std::string is_deleted,
              decided([&] { return std::string(index_.is_deleted(found->name, found->step) ? "1" : "0"); }));
  if (is_deleted == "1" && passed_over_.insert(found->name).second) {
    FOREBAY_CHECK(remove_copies(answer->found->set));
    return look_in_caches(newest);
  }
  // Whoever has refused it would get it for ever.
  if (passed_over_.contains(found->name))
    return fail(ErrorKind::internal, fmt::format("set {} was set aside, and is offered again", found->name));
  return found;
}

// Of what the caches offer and what the index has in the prefix the newest; with it the list of its files.
Result<std::optional<Session::Restart>> Session::newest_of(const std::optional<IndexEntry>& cached,
                                                           const std::string& newest) {
  std::string files;
  FOREBAY_TRY(const std::string text, decided([&] {
                Index one;
                const IndexEntry* limit = newest.empty() ? nullptr : index_.find(newest);
                const IndexEntry* best = nullptr;
                for (const IndexEntry& entry : index_.entries)
                  if (fetches_ && entry.place == SetPlace::prefix && entry.is_checkpoint && entry.is_valid &&
                      !passed_over_.contains(entry.name) && (limit == nullptr || entry.step <= limit->step) &&
                      (any_ranks_ || entry.ranks == ranks_->size()))
                    best = &entry;
                if (cached && (best == nullptr || cached->step >= best->step)) {
                  IndexEntry entry = *cached;
                  if (const IndexEntry* known = index_.find(cached->name);
                      known != nullptr && known->step == cached->step)
                    entry = *known;
                  entry.place = SetPlace::cache;
                  one.add(entry);
                } else if (best != nullptr) {
                  one.add(*best);
                  const auto set = set_of_name(best->name);
                  if (set) files = store::read_text(files_path(places_.sets, *set), kMostListBytes).value_or("");
                }
                return print_index(one);
              }));
  FOREBAY_TRY(const Index one, parse_index(text, places_.index));
  if (one.entries.empty()) return std::nullopt;
  Restart restart{.entry = one.entries.front(), .set = {}, .files = {}};
  FOREBAY_TRY(restart.set, set_of_name(restart.entry.name));
  if (restart.entry.place == SetPlace::cache) {
    restart.stored_as = stored_as_;
    return restart;
  }
  FOREBAY_TRY(files, ranks_->of_first(files));
  // A list that cannot be read is told by check_in_prefix().
  if (auto list = parse_files(files, files_path(places_.sets, restart.set))) restart.files = std::move(*list);
  return restart;
}

// Each byte is read once: a file by the rank that wrote it, one of several ranks by all of these.
Result<void> Session::check_in_prefix(const Restart& restart) {
  Result<void> mine;
  if (restart.files.empty())
    mine = fail(ErrorKind::corrupt, "the list of its files is not there, or damaged",
                files_path(places_.sets, restart.set));
  std::vector<Piece> shares;
  for (const Piece& piece : pieces_of(restart.files, ranks_->rank(), ranks_->size())) {
    if (piece.is_shared)
      shares.push_back(piece);
    else if (mine)
      mine = check_file(places_.prefix, piece.file);
  }
  const auto read = read_pieces(shares);
  if (mine && !read) mine = std::unexpected(read.error());
  const char* const what = "find its files as they were written";
  FOREBAY_CHECK(agreed(std::move(mine), what));
  if (shared_of(restart.files).empty()) return {};
  FOREBAY_TRY(const auto texts, ranks_->to_first(print_files(*read)));
  const auto check = [&]() -> Result<void> {
    FOREBAY_TRY(const auto files, files_of(texts));
    std::map<std::string_view, const PrefixFile*> written;
    for (const PrefixFile& file : restart.files) written[file.name] = &file;
    for (const PrefixFile& file : joined(files))
      FOREBAY_CHECK(check_same(places_.prefix, file, *written.at(file.name)));
    return {};
  };
  return agreed(is_first() ? check() : Result<void>{}, what);
}

Result<std::string> Session::start_restart() {
  FOREBAY_TRY(const auto name, have_restart());
  if (!name) return fail(ErrorKind::not_found, "there is no checkpoint to restart from");
  last_id_ = restart_->entry.id;
  return *name;
}

Result<std::string> Session::route_restart(const std::string& name) {
  const bool is_bare = name.find('/') == std::string::npos;
  const auto file = name_below(places_.prefix, name);
  std::string path;
  if (restart_->entry.place == SetPlace::cache) {
    const auto found = file ? client_->restart_path(*file) : Result<std::string>(std::unexpected(file.error()));
    if (found) {
      path = *found;
    } else if (const auto only = is_bare ? only_file(client_->restart_directory(), name) : std::nullopt) {
      path = *only;
    } else {
      return found;
    }
  } else {
    const PrefixFile* match = nullptr;
    for (const PrefixFile& one : restart_->files)
      if ((file && one.name == *file) || (match == nullptr && is_bare && last_part(one.name) == name)) match = &one;
    if (match == nullptr)
      return fail(ErrorKind::not_found, fmt::format("set {} has no file {}", restart_->entry.name, name));
    path = places_.prefix + "/" + match->name;
  }
  if (::access(path.c_str(), R_OK) != 0) return fail_errno(errno, "access", path);
  return path;
}

Result<void> Session::complete_restart(bool valid) {
  FOREBAY_TRY(const bool all, ranks_->all(valid));
  const Restart restart = std::move(*restart_);
  restart_.reset();
  if (!all) {
    FOREBAY_CHECK(set_aside(restart, "the application could not use it"));
    return fail(ErrorKind::corrupt,
                fmt::format("set {} is not used: {}", restart.entry.name,
                            valid ? "another rank could not load it" : "this rank could not load it"));
  }
  last_id_ = restart.entry.id;
  last_step_ = std::max(last_step_, restart.entry.step);
  return flush_restarted(restart);
}

// Never offered again; nothing of it is removed.
Result<void> Session::set_aside(const Restart& restart, const std::string& reason) {
  const std::string& name = restart.entry.name;
  passed_over_.insert(name);
  Result<void> done = change_index([&](Index& index) {
    if (IndexEntry* entry = index.find(name)) entry->is_valid = false;
    if (index.current == name) index.current.clear();
  });
  if (current_ == name) current_.clear();
  if (done && client_ && is_first()) done = client_->reject(restart.set, restart.stored_as, reason, timeout_);
  return agreed(std::move(done), "set the checkpoint aside");
}

// A flush that was interrupted, and SCR_FLUSH_ON_RESTART.
Result<void> Session::flush_restarted(const Restart& restart) {
  const IndexEntry& entry = restart.entry;
  if (entry.place != SetPlace::cache || entry.flushed != 0 || !(entry.is_output || flushes_restarts_)) return {};
  const Index* index = is_first() ? &index_ : nullptr;
  FOREBAY_TRY(const std::string is_there, decided([&] {
                const IndexEntry* known = index->find(entry.name);
                return std::string(known != nullptr && known->place == SetPlace::prefix ? "1" : "0");
              }));
  if (is_there == "1" || client_->restart_directory().empty() || entry.ranks != ranks_->size()) return {};
  // Every rank of a node sees all of its files: the first of them copies them.
  FromAndName files;
  if (leads_node_) {
    std::error_code fault;
    const std::string directory = client_->restart_directory();
    for (fs::recursive_directory_iterator at(directory, fault), end; !fault && at != end; at.increment(fault))
      if (at->is_regular_file(fault))
        files.emplace_back(at->path().string(), at->path().string().substr(directory.size() + 1));
  }
  FOREBAY_CHECK(begin_copying(entry, std::move(files), false));
  return end_copying();
}

Result<void> Session::set_current(const std::string& name) {
  FOREBAY_CHECK(set_of_name(name));
  FOREBAY_CHECK(end_copying());
  current_ = name;
  restart_.reset();
  FOREBAY_TRY(const std::string id, decided([&] {
                const IndexEntry* entry = index_.find(name);
                return std::to_string(entry != nullptr ? entry->id : 0);
              }));
  if (id != "0") last_id_ = std::atoll(id.c_str());
  return agreed(change_index([&](Index& index) { index.current = name; }), "note the current checkpoint");
}

// What is on its way to the store, or being protected, would come there after it was deleted. Where that fails there is
// nothing to delete.
void Session::wait_until_safe(const std::string& set) {
  if (client_ && written_.erase(set) > 0) (void)client_->wait(set, timeout_);
}

// Those in the caches of all nodes, and those in the store, where one may be on its way to.
Result<void> Session::remove_copies(const std::string& set) {
  const auto remove = [&]() -> Result<void> {
    wait_until_safe(set);
    if (client_) FOREBAY_CHECK(client_->remove(set, timeout_));
    return remove_stored(places_, set);
  };
  FOREBAY_CHECK(agreed(is_first() ? remove() : Result<void>{}, "delete the set"));
  constexpr job::Client::Timeout kPatience{60'000};
  const bool waits = client_ && leads_node_;
  return agreed(waits ? client_->wait_until_gone(set, std::min(timeout_, kPatience)) : Result<void>{},
                "see the set leave its cache");
}

Result<void> Session::drop(const std::string& name) {
  FOREBAY_TRY(const std::string set, set_of_name(name));
  FOREBAY_CHECK(end_copying());
  restart_.reset();
  const auto drop = [&]() -> Result<void> {
    FOREBAY_CHECK(change_index([&](Index& index) { index.drop(name); }));
    wait_until_safe(set);
    return drop_stored(places_, set);
  };
  return agreed(is_first() ? drop() : Result<void>{}, "drop the set");
}

Result<void> Session::remove(const std::string& name) {
  FOREBAY_TRY(const std::string set, set_of_name(name));
  FOREBAY_CHECK(end_copying());
  restart_.reset();
  if (last_output_ && last_output_->name == name) last_output_->is_deleted = true;
  const auto remove = [&]() -> Result<void> {
    FOREBAY_CHECK(change_index([&](Index& index) { index.remove(name); }));
    return remove_files_of(name);
  };
  FOREBAY_CHECK(agreed(is_first() ? remove() : Result<void>{}, "delete the set's files"));
  return remove_copies(set);
}

}  // namespace forebay::scr
