// Sets that are read.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "job/scr/set_names.h"
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
  if (has_restarted_) return std::nullopt;
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
  found->name = name_of_set(answer->found->set);
  found->step = answer->found->step.value_or(0);
  found->id = found->step;
  found->ranks = answer->found->ranks;
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

// Each rank reads a part of the files.
Result<void> Session::check_in_prefix(const Restart& restart) {
  Result<void> mine;
  if (restart.files.empty())
    mine = fail(ErrorKind::corrupt, "the list of its files is not there, or damaged",
                files_path(places_.sets, restart.set));
  for (const PrefixFile& file : restart.files)
    if (mine && file.rank % ranks_->size() == ranks_->rank()) mine = check_file(places_.prefix, file);
  return agreed(std::move(mine), "find its files as they were written");
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
  has_restarted_ = true;
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
  if (done && client_ && is_first()) done = client_->reject(restart.set, restart.stored_as, reason);
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
  std::vector<std::pair<std::string, std::string>> files;
  if (leads_node_) {
    std::error_code fault;
    const std::string directory = client_->restart_directory();
    for (fs::recursive_directory_iterator at(directory, fault), end; !fault && at != end; at.increment(fault))
      if (at->is_regular_file(fault))
        files.emplace_back(at->path().string(), at->path().string().substr(directory.size() + 1));
  }
  FOREBAY_CHECK(begin_copying(entry, std::move(files)));
  return end_copying();
}

Result<void> Session::set_current(const std::string& name) {
  FOREBAY_CHECK(set_of_name(name));
  current_ = name;
  restart_.reset();
  FOREBAY_TRY(const std::string id, decided([&] {
                const IndexEntry* entry = index_.find(name);
                return std::to_string(entry != nullptr ? entry->id : 0);
              }));
  if (id != "0") last_id_ = std::atoll(id.c_str());
  return agreed(change_index([&](Index& index) { index.current = name; }), "note the current checkpoint");
}

Result<void> Session::drop(const std::string& name) {
  FOREBAY_CHECK(set_of_name(name));
  FOREBAY_CHECK(end_copying());
  restart_.reset();
  return agreed(change_index([&](Index& index) { index.drop(name); }), "drop the set");
}

Result<void> Session::remove(const std::string& name) {
  FOREBAY_TRY(const std::string set, set_of_name(name));
  FOREBAY_CHECK(end_copying());
  restart_.reset();
  const auto remove = [&]() -> Result<void> {
    FOREBAY_CHECK(change_index([&](Index& index) { index.drop(name); }));
    FOREBAY_CHECK(remove_files_of(name));
    return client_ ? client_->reject(set, {}, "the application has deleted it") : Result<void>{};
  };
  return agreed(is_first() ? remove() : Result<void>{}, "delete the set");
}

}  // namespace forebay::scr
