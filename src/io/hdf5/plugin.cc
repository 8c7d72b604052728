// The methods PHDF5 and NC4, as a plug-in: ranks tell rank 0 what they wrote, rank 0 makes the file's structure, and
// all ranks write the bytes of their blocks into it at once. The HDF5 library need not know of MPI for this.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "forebay/forebay_method.h"
#include "io/hdf5/damaged.h"
#include "io/hdf5/file.h"
#include "io/hdf5/guarded_file.h"
#include "io/hdf5/lock.h"
#include "io/hdf5/placed_blocks.h"
#include "io/hdf5/plan.h"
#include "io/hdf5/put_held.h"

namespace forebay::hdf5 {
namespace {

#ifdef FOREBAY_NETCDF
constexpr bool kNetcdf = true;
constexpr const char *kName = "NC4", *kFileName = "nc4";
#else
constexpr bool kNetcdf = false;
constexpr const char *kName = "PHDF5", *kFileName = "phdf5";
#endif

struct File {
  std::string path;     // as it will be called
  std::string written;  // as it is called until it is complete
  bool is_new = false;
  bool is_first = false;  // rank 0, which makes the file
  bool is_whole = false;  // its structure is
  forebay_method_standing standing{};

  // At rank 0:
  FileLock lock;                       // of what is written
  FileLock replaced;                   // of what a new file is to replace
  uint64_t old_size = 0;               // of a file that gets more
  std::optional<GuardedFile> guarded;  // which holds the changes of the structure
};

int answer(const Fault& fault, char* message) {
  std::snprintf(message, FOREBAY_METHOD_MESSAGE, "%s", fault.what.c_str());
  return fault.code;
}

// Rank 0 tells all others the same: a code, then a text or two numbers. Everybody gets it.
Outcome<forebay_method_standing> tell(const forebay_method_ranks& ranks, const Outcome<forebay_method_standing>& mine) {
  if (ranks.rank == 0) {
    std::string message(sizeof(int64_t), '\0');
    const int64_t code = mine ? 0 : mine.error().code;
    std::memcpy(message.data(), &code, sizeof code);
    if (mine) {
      message.append(reinterpret_cast<const char*>(&*mine), sizeof *mine);
    } else {
      message += mine.error().what;
    }
    for (uint32_t to = 1; to < ranks.size; ++to)
      if (const int failed = ranks.send(ranks.self, message.data(), message.size(), to))
        return std::unexpected(Fault{failed, "another rank cannot be reached"});
    return mine;
  }
  const void* message = nullptr;
  uint64_t length = 0;
  if (const int failed = ranks.receive(ranks.self, 0, &message, &length))
    return std::unexpected(Fault{failed, "rank 0 cannot be reached"});
  int64_t code = FOREBAY_METHOD_INVALID_DATA;
  const auto* bytes = static_cast<const char*>(message);
  if (length >= sizeof code) std::memcpy(&code, bytes, sizeof code);
  if (code != 0)
    return std::unexpected(Fault{static_cast<int>(code), std::string(bytes + sizeof code, length - sizeof code)});
  forebay_method_standing standing{};
  if (length != sizeof code + sizeof standing)
    return std::unexpected(Fault{FOREBAY_METHOD_INVALID_DATA, "rank 0 said nothing"});
  std::memcpy(&standing, bytes + sizeof code, sizeof standing);
  return standing;
}

// Of rank 0: what is there, or a new file. Nobody else writes it from here on.
Outcome<forebay_method_standing> begin(File& file, int32_t mode) {
  Outcome<FileLock> there = FileLock::of_file(file.path);
  if (!there) return std::unexpected(std::move(there).error());
  if (mode != FOREBAY_METHOD_MODE_WRITE) {
    if (is_damaged(file.path))
      return std::unexpected(Fault{FOREBAY_METHOD_FILE_OPEN, file.path + ": " + kDamaged + ", and gets no more steps"});
    Outcome<forebay_method_standing> found = inspect(file.path);
    if (found) file.lock = std::move(*there);
    if (found && !file.lock)
      found = std::unexpected(Fault{FOREBAY_METHOD_FILE_OPEN, file.path + ": this file cannot be written"});
    const bool may_be_new = mode == FOREBAY_METHOD_MODE_APPEND;
    if (found || found.error().code != FOREBAY_METHOD_NOT_FOUND || !may_be_new) return found;
  }
  Outcome<FileLock> made = FileLock::of_new_file(file.path + ".part");
  if (!made) return std::unexpected(std::move(made).error());
  file.lock = std::move(*made);
  file.replaced = std::move(*there);
  return forebay_method_standing{};
}

int open_file(void*, const forebay_method_open_request* request, void** opened, forebay_method_standing* standing,
              char* message) try {
  auto file = std::make_unique<File>();
  file->path = request->path;
  file->is_first = request->ranks->rank == 0;
  Outcome<forebay_method_standing> found;
  if (file->is_first) found = begin(*file, request->mode);
  found = tell(*request->ranks, found);
  if (!found) return answer(found.error(), message);
  file->standing = *standing = *found;
  file->is_new = found->steps == 0;
  file->written = file->is_new ? file->path + ".part" : file->path;
  *opened = file.release();
  return 0;
} catch (const std::exception& error) {
  return answer({FOREBAY_METHOD_NO_MEMORY, error.what()}, message);
}

// What rank 0 answers to each rank: where the bytes of its blocks go, and why some go nowhere.
struct Places {
  int code = 0;
  uint64_t old_size = 0;  // of the file: places before this hold bytes of earlier steps
  std::string why;
  std::vector<uint64_t> of_blocks;
};

std::string to_text(const Places& places) {
  std::string text;
  const int64_t head[] = {places.code, static_cast<int64_t>(places.old_size),
                          static_cast<int64_t>(places.of_blocks.size())};
  text.append(reinterpret_cast<const char*>(head), sizeof head);
  text.append(reinterpret_cast<const char*>(places.of_blocks.data()), places.of_blocks.size() * sizeof(uint64_t));
  return text + places.why;
}

bool from_text(const char* bytes, uint64_t length, Places& places) {
  int64_t head[3];
  if (length < sizeof head) return false;
  std::memcpy(head, bytes, sizeof head);
  const uint64_t count = static_cast<uint64_t>(head[2]);
  if (count > (length - sizeof head) / sizeof(uint64_t)) return false;
  places.code = static_cast<int>(head[0]);
  places.old_size = static_cast<uint64_t>(head[1]);
  places.of_blocks.resize(count);
  if (count > 0) std::memcpy(places.of_blocks.data(), bytes + sizeof head, count * sizeof(uint64_t));
  const uint64_t used = sizeof head + count * sizeof(uint64_t);
  places.why.assign(bytes + used, length - used);
  return true;
}

// Of rank 0: what all ranks told, from their messages.
Outcome<std::vector<std::vector<Told>>> listen(const forebay_method_ranks& ranks, const std::string& own) {
  std::vector<std::vector<Told>> told(ranks.size);
  from_message(own, told[0]);
  for (uint32_t from = 1; from < ranks.size; ++from) {
    const void* message = nullptr;
    uint64_t length = 0;
    if (const int failed = ranks.receive(ranks.self, from, &message, &length))
      return std::unexpected(Fault{failed, "rank " + std::to_string(from) + " cannot be reached"});
    if (!from_message({static_cast<const char*>(message), length}, told[from]))
      return std::unexpected(Fault{FOREBAY_METHOD_INVALID_DATA, "rank " + std::to_string(from) + " is not understood"});
  }
  return told;
}

std::vector<Places> places_of(const Plan& plan, const Outcome<Structure>& written, uint64_t old_size) {
  std::vector<Places> all(plan.of_blocks.size());
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (!written) {
      all[rank] = {written.error().code, old_size, written.error().what, {}};
      continue;
    }
    all[rank].old_size = old_size;
    if (!plan.refusals[rank].empty()) all[rank] = {FOREBAY_METHOD_INVALID_DATA, old_size, plan.refusals[rank], {}};
    for (const Dataset* dataset : plan.of_blocks[rank]) {
      const auto place = dataset ? written->places.find(dataset) : written->places.end();
      all[rank].of_blocks.push_back(place == written->places.end() ? kNowhere : place->second);
    }
  }
  if (written && !written->refused.empty() && all[0].code == 0) {
    all[0].code = FOREBAY_METHOD_UNSUPPORTED;
    all[0].why = written->refused;
  }
  return all;
}

Fault put_fault(const File& file, const PutHeld& put) {
  errno = put.failure;
  Fault fault = system_fault("write", file.written);
  if (put.is_damaged) fault.what += std::string("; ") + kDamaged;
  return fault;
}

// Of rank 0: the structure of the file as it is to be. That of a new file is put into it; the changes of another one
// are held until the bytes of all ranks are there.
Outcome<Structure> make_structure(File& file, const Plan& plan, std::span<const forebay_method_step> steps) {
  forebay_method_standing standing = file.standing;
  standing.steps = std::max(standing.steps, plan.steps);
  for (const forebay_method_step& step : steps)
    standing.last_time_index = std::max(standing.last_time_index, step.time_index);
  if (Outcome<void> kept_out = file.lock.keep_readers_out(); !kept_out)
    return std::unexpected(std::move(kept_out).error());
  const GuardedFile& guarded = file.guarded.emplace(file.lock.fd(), Writes::held);
  file.old_size = guarded.size();
  Outcome<Structure> made = write_structure(guarded, file.written, file.is_new, kNetcdf, plan, standing, steps);
  if (!made || !file.is_new) return made;
  if (const PutHeld put = put_held(file.lock.fd(), guarded.held(), 0, guarded.size()); put.failure != 0)
    return std::unexpected(put_fault(file, put));
  return made;
}

// Of rank 0: makes the structure of the file, and tells the other ranks where to write. Returns its own places.
Places structure(File& file, const forebay_method_ranks& ranks, std::span<const forebay_method_step> steps,
                 const std::string& own) {
  const Outcome<std::vector<std::vector<Told>>> told = listen(ranks, own);
  if (!told) return {told.error().code, 0, told.error().what, {}};
  const Plan plan = hdf5::plan(*told);
  const Outcome<Structure> made = make_structure(file, plan, steps);
  file.is_whole = made.has_value();
  const std::vector<Places> all = places_of(plan, made, file.old_size);
  for (uint32_t to = 1; to < ranks.size; ++to) {
    const std::string text = to_text(all[to]);
    ranks.send(ranks.self, text.data(), text.size(), to);
  }
  return all[0];
}

Places ask(const forebay_method_ranks& ranks, const std::string& own) {
  const void* message = nullptr;
  uint64_t length = 0;
  int failed = ranks.send(ranks.self, own.data(), own.size(), 0);
  if (!failed) failed = ranks.receive(ranks.self, 0, &message, &length);
  Places places;
  if (failed) return {failed, 0, "rank 0 cannot be reached", {}};
  if (!from_text(static_cast<const char*>(message), length, places))
    return {FOREBAY_METHOD_INVALID_DATA, 0, "rank 0 is not understood", {}};
  return places;
}

uint64_t count_blocks(std::span<const forebay_method_step> steps) {
  uint64_t count = 0;
  for (const forebay_method_step& step : steps) count += step.block_count;
  return count;
}

// Collective: whether no rank has failed; what `mine` lacks, if ranks cannot be reached, is added to it.
bool all_well(const forebay_method_ranks& ranks, Outcome<void>& mine) {
  uint64_t failures = 0;
  const int failed = ranks.max(ranks.self, mine ? 0 : 1, &failures);
  if (failed && mine) mine = std::unexpected(Fault{failed, "another rank cannot be reached"});
  return failed == 0 && failures == 0;
}

// Of rank 0, for a new file: gives it its name if it is well, and removes it otherwise.
void finish_new(File& file, bool is_well, Outcome<void>& done) {
  if (!file.lock.is_named()) {
    if (done) done = std::unexpected(Fault{FOREBAY_METHOD_WRITE, file.written + ": another file was put in its place"});
    return;
  }
  if (is_well && file.is_whole && std::rename(file.written.c_str(), file.path.c_str()) == 0) {
    forget_damage(file.path);
    return;
  }
  if (is_well && done) done = std::unexpected(system_fault("rename", file.written));
  ::unlink(file.written.c_str());
}

// Of rank 0, for a file that was there: puts the new structure into it if all is well, and leaves it as it was
// otherwise.
void finish_old(File& file, bool is_well, Outcome<void>& done) {
  if (!file.is_whole) return;
  if (!is_well) return cut_back(file.lock.fd(), file.old_size);
  const PutHeld put = put_held(file.lock.fd(), file.guarded->held(), file.old_size, file.guarded->size());
  if (put.failure != 0) done = std::unexpected(put_fault(file, put));
  if (put.is_damaged) note_damage(file.path);
}

// Collective, where a file that was there did not get the step: it gets back what was replaced.
void put_back(const File& file, const forebay_method_ranks& ranks, const PlacedBlocks& blocks, Outcome<void>& done) {
  Outcome<void> back;
  if (!blocks.put_back()) back = std::unexpected(system_fault("write", file.written));
  if (all_well(ranks, back)) return;
  note_damage(file.path);
  if (!back && done) done = back;
  if (!done) done.error().what += std::string("; ") + kDamaged;
}

// All ranks put the bytes of their blocks into the file; it gets its name, or what tells of them, when all are there. A
// file that was there stays as it was if any rank fails.
Outcome<void> write_all(File& file, const forebay_method_ranks& ranks, std::span<const forebay_method_step> steps) {
  const std::string own = to_message(steps);
  const Places places = ranks.rank == 0 ? structure(file, ranks, steps, own) : ask(ranks, own);
  const bool is_made = file.is_first ? file.is_whole : places.code == 0 || !places.of_blocks.empty();
  Outcome<void> done;
  if (!is_made || places.of_blocks.size() != count_blocks(steps))
    done = std::unexpected(Fault{places.code ? places.code : FOREBAY_METHOD_INVALID_DATA, places.why});
  Outcome<PlacedBlocks> blocks;
  if (done) blocks = PlacedBlocks::open(file.written, steps, places.of_blocks);
  if (done && !blocks) done = std::unexpected(blocks.error());
  if (!file.is_new) {  // all have kept what they replace before anybody replaces it
    if (done) done = blocks->keep(places.old_size);
    if (!all_well(ranks, done)) return done;
  }
  if (done) done = blocks->write();
  const bool is_well = all_well(ranks, done);
  if (file.is_first && file.is_new) finish_new(file, is_well, done);
  if (file.is_first && !file.is_new) finish_old(file, is_well, done);
  if (!file.is_new && !all_well(ranks, done)) put_back(file, ranks, *blocks, done);
  if (done && places.code != 0) done = std::unexpected(Fault{places.code, places.why});
  return done;
}

int close_file(void* opened, const forebay_method_ranks* ranks, const forebay_method_step* steps, size_t count,
               char* message) try {
  const std::unique_ptr<File> file(static_cast<File*>(opened));
  const Outcome<void> done = write_all(*file, *ranks, {steps, count});
  return done ? 0 : answer(done.error(), message);
} catch (const std::exception& error) {
  return answer({FOREBAY_METHOD_NO_MEMORY, error.what()}, message);
}

void abandon_file(void* opened) {
  const std::unique_ptr<File> file(static_cast<File*>(opened));
  if (file->is_first && file->is_new && file->lock.is_named()) ::unlink(file->written.c_str());
}

int make(const forebay_method_parameter*, size_t, void** method, char*) {
  *method = nullptr;  // nothing is remembered from file to file
  return 0;
}

void unmake(void*) {}

constexpr forebay_method kTable = {.version = FOREBAY_METHOD_VERSION,
                                   .size = sizeof(forebay_method),
                                   .name = kName,
                                   .parameters = nullptr,
                                   .make = make,
                                   .unmake = unmake,
                                   .open = open_file,
                                   .close = close_file,
                                   .abandon = abandon_file,
                                   .finalize = nullptr,
                                   .begin_calculation = nullptr,
                                   .end_calculation = nullptr,
                                   .end_iteration = nullptr};

}  // namespace
}  // namespace forebay::hdf5

extern "C" const forebay_method* forebay_method_entry(const char* name, uint32_t version) {
  const bool is_known = version == FOREBAY_METHOD_VERSION && std::strcmp(name, forebay::hdf5::kFileName) == 0;
  return is_known ? &forebay::hdf5::kTable : nullptr;
}
