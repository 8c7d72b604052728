// Sets that are written.
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <mutex>

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "launch/scr/flushing.h"
#include "launch/scr/set_names.h"
#include "scr/prefix_files.h"
#include "scr/session.h"
#include "store/files.h"

namespace forebay::scr {

IndexEntry Session::entry_of(const Output& output) const {
  return {.name = output.name,
          .id = output.id,
          .step = output.step,
          .is_checkpoint = output.is_checkpoint,
          .is_output = output.is_output,
          .place = output.is_bypass ? SetPlace::prefix : SetPlace::cache,
          .flushed = output.is_bypass || output.reaches_store ? std::time(nullptr) : 0,
          .ranks = ranks_->size()};
}

Result<void> Session::start_output(std::string name, bool is_checkpoint, bool is_output) {
  FOREBAY_CHECK(end_copying());
  Output output{.is_checkpoint = is_checkpoint, .is_output = is_output, .begun = Clock::now()};
  output.id = last_id_ + 1;
  output.step = std::max(last_step_ + 1, output.id);
  if (name.empty()) name = fmt::format("scr.dataset.{}", output.id);
  FOREBAY_TRY(const std::string begun, decided([&] { return store::random_token() + name; }));
  const std::string write = begun.substr(0, 16);
  output.name = begun.substr(16);
  FOREBAY_TRY(output.set, set_of_name(output.name));
  const Descriptor* descriptor = choose(descriptors_, output.id, is_output);
  const bool is_any = is_checkpoint || is_output;
  output.is_bypass = !is_any || descriptor == nullptr || descriptor->is_bypass || !client_;
  const bool is_due = is_checkpoint && flush_ > 0 && output.id % flush_ == 0;
  output.reaches_prefix = !output.is_bypass && (is_output || (is_due && flushes_to_files_));
  output.reaches_store = !output.is_bypass && is_due && !flushes_to_files_;
  output_ = std::move(output);
  Result<void> ready;
  // What is written over is no set any more.
  if (is_first() && index_.find(output_->name) != nullptr)
    ready = change_index([&](Index& index) { index.drop(output_->name); });
  if (ready && !output_->is_bypass) ready = begin_in_cache(write);
  ready = agreed(std::move(ready), "begin the set");
  if (!ready) {
    if (client_) client_->abandon();
    output_.reset();
  }
  return ready;
}

Result<void> Session::begin_in_cache(const std::string& write) {
  const Descriptor& descriptor = *choose(descriptors_, output_->id, output_->is_output);
  job::wire::SetPolicyT policy;
  policy.write = std::strtoull(write.c_str(), nullptr, 16) | 1;
  policy.scheme = descriptor.scheme;
  policy.group_size = descriptor.group_size;
  policy.losses = descriptor.losses;
  policy.failure_group = descriptor.failure_group;
  // What is not due is stored at the end, if it is the newest then, unless nothing is to be.
  policy.flush = output_->reaches_store             ? job::wire::FlushWish::always
                 : flush_ <= 0 || flushes_to_files_ ? job::wire::FlushWish::never
                                                    : job::wire::FlushWish::job;
  if (!descriptor.level.empty()) {
    policy.level = directory_on(descriptor.level, places_.stage);
    (void)make_stage_directory(policy.level);  // what cannot be used is the agent's to tell: the set lies in the stage
  }
  return client_->begin(output_->set, output_->step, timeout_, &policy);
}

Result<std::string> Session::route_output(const std::string& name) {
  FOREBAY_TRY(const std::string file, name_below(places_.prefix, name));
  std::string path = places_.prefix + "/" + file;
  if (output_->is_bypass) {
    FOREBAY_CHECK(make_directories_of(places_.prefix, file));
  } else {
    FOREBAY_TRY(path, client_->path(file));
  }
  output_->files.insert(file);
  return path;
}

Result<void> Session::complete_output(bool valid) {
  Result<void> done;
  if (!valid) done = not_valid();
  done = agreed(std::move(done), "write its part of the set, as it says");
  if (!done && client_) {
    const auto gone = client_->discard();
    if (!gone) fmt::print(stderr, "SCR: what is not valid cannot be removed: {}\n", gone.error().message());
  }
  if (done) done = output_->is_bypass ? complete_bypass() : complete_in_cache();
  if (!done) {
    if (client_) client_->abandon();
    output_.reset();
    return done;
  }
  if (!output_->is_bypass && output_->is_checkpoint) written_.insert(output_->set);
  last_id_ = output_->id;
  last_step_ = output_->step;
  if (output_->is_checkpoint) {
    last_checkpoint_ = Clock::now();
    need_.checkpoints += std::chrono::duration<double>(last_checkpoint_ - output_->begun).count();
    ++need_.count;
    last_output_ = output_;
    current_.clear();
    restart_.reset();
    if (is_first()) {
      auto halt = read_halt(places_.halt);
      if (halt && halt->checkpoints && *halt->checkpoints > 0) {
        --*halt->checkpoints;
        done = write_halt(places_.halt, *halt);
      }
    }
  }
  const bool is_bypass = output_->is_bypass;
  output_.reset();
  FOREBAY_CHECK(agreed(std::move(done), "count down its halt condition"));
  return is_bypass ? prune_prefix() : Result<void>{};  // of the others end_copying() sees to it
}

// A program does not say why; a full disk is what it mostly is.
std::unexpected<Error> Session::not_valid() const {
  const std::string place = output_->is_bypass ? places_.prefix : places_.stage;
  struct statvfs info{};
  constexpr uint64_t kLittle = 1u << 20;
  const bool is_full = ::statvfs(place.c_str(), &info) == 0 && uint64_t{info.f_bavail} * info.f_frsize < kLittle;
  const char* const what = "this rank says that its part of the set is not valid";
  if (!is_full) return fail(ErrorKind::invalid_argument, what);
  return fail(ErrorKind::no_space, fmt::format("{}, and the file system is full", what), place, {},
              output_->is_bypass ? "make room" : "lower SCR_CACHE_SIZE, or name another SCR_CACHE_BASE");
}

Result<void> Session::complete_bypass() {
  Result<std::vector<PrefixFile>> mine;
  for (const std::string& name : output_->files) {
    auto file = make_durable(places_.prefix, name, ranks_->rank());
    if (!file) {
      mine = std::unexpected(std::move(file).error());
      break;
    }
    mine->push_back(std::move(*file));
  }
  FOREBAY_CHECK(agreed(mine ? Result<void>{} : std::unexpected(mine.error()), "make its files durable"));
  FOREBAY_TRY(const auto pieces, pieces_of_bypass(*mine));
  return list_in_prefix(entry_of(*output_), read_pieces(pieces));
}

// This rank's: what it has written, and of what others have written as well a share.
Result<std::vector<Piece>> Session::pieces_of_bypass(const std::vector<PrefixFile>& mine) {
  FOREBAY_TRY(const auto texts, ranks_->to_first(print_files(mine)));
  FOREBAY_TRY(const std::string text, decided([&] {
                const auto all = files_of(texts);
                return all ? print_files(shared_of(*all)) : std::string();
              }));
  FOREBAY_TRY(auto files, parse_files(text, places_.sets));
  for (const PrefixFile& file : mine)
    if (std::ranges::find(files, file.name, &PrefixFile::name) == files.end()) files.push_back(file);
  return scr::pieces_of(files, ranks_->rank(), ranks_->size());
}

Result<std::vector<PrefixFile>> Session::read_pieces(const std::vector<Piece>& pieces) const {
  std::vector<PrefixFile> files;
  for (const Piece& piece : pieces) {
    FOREBAY_TRY(auto file, read_piece(places_.prefix, piece));
    files.push_back(std::move(file));
  }
  return files;
}

// At rank 0: those of the lists of all ranks.
Result<std::vector<PrefixFile>> Session::files_of(const std::vector<std::string>& texts) const {
  std::vector<PrefixFile> all;
  for (const std::string& text : texts) {
    FOREBAY_TRY(auto files, parse_files(text, places_.sets));
    all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

// The set is in the prefix when all ranks' files are: what it is made of first, then its entry.
Result<void> Session::list_in_prefix(const IndexEntry& entry, const Result<std::vector<PrefixFile>>& mine) {
  FOREBAY_CHECK(agreed(mine ? Result<void>{} : std::unexpected(mine.error()), "bring its files into the prefix"));
  FOREBAY_TRY(const auto texts, ranks_->to_first(print_files(*mine)));
  const auto list_all = [&]() -> Result<void> {
    FOREBAY_TRY(auto all, files_of(texts));
    return list(entry, entry.place == SetPlace::prefix ? joined(std::move(all)) : all);
  };
  return agreed(is_first() ? list_all() : Result<void>{}, "list the set");
}

// At rank 0.
Result<void> Session::list(const IndexEntry& entry, const std::vector<PrefixFile>& files) {
  if (entry.is_checkpoint) index_.current = entry.name;
  return list_in_index(places_, entry, files, index_);
}

// What is no checkpoint only passes through the cache: no restart is to find it, so that its agent never hears that it
// is complete, and it leaves when it is in the prefix (end_copying()).
Result<void> Session::complete_in_cache() {
  FromAndName files;
  for (const std::string& file : output_->files) {
    FOREBAY_TRY(std::string path, client_->path(file));
    files.emplace_back(std::move(path), file);
  }
  if (output_->is_checkpoint) FOREBAY_CHECK(keep_in_cache());
  const IndexEntry entry = entry_of(*output_);
  FOREBAY_CHECK(agreed(change_index([&](Index& index) {
                         index.add(entry);
                         if (entry.is_checkpoint) index.current = entry.name;
                       }),
                       "list the set"));
  if (!output_->reaches_prefix) return {};
  FOREBAY_CHECK(begin_copying(entry, std::move(files), is_async_));
  return is_async_ ? Result<void>{} : end_copying();
}

Result<void> Session::keep_in_cache() {
  FOREBAY_CHECK(agreed(client_->complete(), "complete the set in its cache"));
  if (!waits_) return {};
  const auto news = client_->wait(output_->set, timeout_);
  Result<void> kept;
  if (!news) {
    kept = std::unexpected(news.error());
  } else if (news->state != job::wire::SetState::cached && news->state != job::wire::SetState::durable) {
    kept = fail(ErrorKind::disconnected, fmt::format("set {} is not protected: {}", output_->name, news->message));
  }
  return agreed(std::move(kept), "see the set protected");
}

Result<void> Session::begin_copying(IndexEntry entry, FromAndName files, bool is_async) {
  std::string notes;
  if (is_async) {
    FOREBAY_TRY(const std::string set, set_of_name(entry.name));
    FOREBAY_TRY(notes, decided([&] { return flushing_path(places_.sets, set, store::random_token()); }));
    FOREBAY_CHECK(agreed(is_first() ? begin_flushing(notes, entry) : Result<void>{}, "note what is flushed"));
  }
  copying_.emplace();
  copying_->entry = std::move(entry);
  copying_->notes = std::move(notes);
  copying_->thread = std::jthread([this, files = std::move(files)](const std::stop_token& stop) {
    copying_->copied = copy(files);
    if (!copying_->copied || copying_->notes.empty()) return;
    // Where that fails, end_copying() lists the set all the same.
    const auto noted = note_flushed(copying_->notes, ranks_->rank(), *copying_->copied);
    if (noted && is_first()) list_when_whole(stop);
  });
  return {};
}

Result<std::vector<PrefixFile>> Session::copy(const FromAndName& files) const {
  std::vector<PrefixFile> copied;
  for (const auto& [from, name] : files) {
    FOREBAY_TRY(auto file, copy_file(from, places_.prefix, name, ranks_->rank()));
    copied.push_back(std::move(file));
  }
  return copied;
}

// A program may compute for hours until its next call, and be killed before.
void Session::list_when_whole(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kPause{100};
  FlushedFiles flushed;
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested() && read_flushed(copying_->notes, flushed)) {
    if (flushed.ranks == ranks_->size()) {
      copying_->is_listed = list(copying_->entry, flushed.files).has_value();
      return;
    }
    never.wait_for(lock, stop, kPause, [] { return false; });
  }
}

Result<void> Session::end_copying() {
  if (!copying_) return {};
  if (copying_->thread.joinable()) {  // not after a call that failed here
    copying_->thread.request_stop();
    copying_->thread.join();
  }
  FOREBAY_TRY(const std::string is_listed, decided([&] { return std::string(copying_->is_listed ? "1" : "0"); }));
  Result<void> done;
  if (is_listed == "0") done = list_in_prefix(copying_->entry, copying_->copied);
  if (is_first() && !copying_->notes.empty()) end_flushing(copying_->notes);
  const bool stays = copying_->entry.is_checkpoint;
  const std::string name = copying_->entry.name;
  copying_.reset();
  if (!stays) {
    // Also where it could not be copied: nobody comes back to it, and it would fill the cache.
    const Result<void> dropped =
        done ? Result<void>{} : agreed(change_index([&](Index& index) { index.drop(name); }), "list the set no more");
    Result<void> gone = agreed(client_->discard(), "remove it from its cache");
    if (done) done = std::move(gone);
    (void)dropped;  // the first error is the one that counts
  }
  return done ? prune_prefix() : done;
}

// SCR_PREFIX_SIZE: of the sets that are checkpoints only, the oldest go.
Result<void> Session::prune_prefix() {
  if (prefix_size_ <= 0) return {};
  const auto prune = [&]() -> Result<void> {
    std::vector<std::string> names;
    for (const IndexEntry& entry : index_.entries)
      if (entry.place == SetPlace::prefix && entry.is_checkpoint && !entry.is_output && entry.is_valid)
        names.push_back(entry.name);
    for (size_t i = 0; i + static_cast<size_t>(prefix_size_) < names.size(); ++i) {
      FOREBAY_CHECK(change_index([&](Index& index) { index.drop(names[i]); }));
      FOREBAY_CHECK(remove_files_of(names[i]));
    }
    return {};
  };
  return agreed(is_first() ? prune() : Result<void>{}, "remove old checkpoints");
}

// At rank 0: the files of a set in the prefix, and their list. Files that a set of the index has too stay.
Result<void> Session::remove_files_of(const std::string& name) {
  FOREBAY_TRY(const std::string set, set_of_name(name));
  const std::string path = files_path(places_.sets, set);
  const auto text = store::read_text(path, 1u << 30);
  if (!text) return {};
  FOREBAY_TRY(const auto files, parse_files(*text, path));
  std::set<std::string> kept;
  for (const IndexEntry& entry : index_.entries) {
    if (entry.place != SetPlace::prefix || entry.name == name) continue;
    const auto other_set = set_of_name(entry.name);
    const auto other =
        other_set ? store::read_text(files_path(places_.sets, *other_set), 1u << 30) : Result<std::string>("");
    if (const auto others = parse_files(other.value_or(""), path))
      for (const PrefixFile& file : *others) kept.insert(file.name);
  }
  for (const PrefixFile& file : files)
    if (!kept.contains(file.name)) FOREBAY_CHECK(remove_file(places_.prefix, file));
  if (::unlink(path.c_str()) != 0) return fail_errno(errno, "unlink", path);
  return {};
}

}  // namespace forebay::scr
