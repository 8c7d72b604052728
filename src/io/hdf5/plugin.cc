// The methods PHDF5 and NC4, as a plug-in: ranks tell rank 0 what they wrote, rank 0 makes the file's structure, and
// all ranks write the bytes of their blocks into it at once. The HDF5 library need not know of MPI for this.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "forebay/forebay_method.h"
#include "io/hdf5/file.h"
#include "io/hdf5/lock.h"
#include "io/hdf5/plan.h"
#include "io/hdf5/rows.h"

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
  FileLock lock;          // at rank 0, of what is written
  FileLock replaced;      // there, too, of what a new file is to replace
  forebay_method_standing standing{};
};

int answer(const Fault& fault, char* message) {
  std::snprintf(message, FOREBAY_METHOD_MESSAGE, "%s", fault.what.c_str());
  return fault.code;
}

Fault system_fault(const char* call, const std::string& path, int code = FOREBAY_METHOD_WRITE) {
  return {code, path + ": " + call + ": " + std::strerror(errno)};
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
    Outcome<forebay_method_standing> found = inspect(file.path);
    if (found) file.lock = std::move(*there);
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
  std::string why;
  std::vector<uint64_t> of_blocks;
};

std::string to_text(const Places& places) {
  std::string text;
  const int64_t head[] = {places.code, static_cast<int64_t>(places.of_blocks.size())};
  text.append(reinterpret_cast<const char*>(head), sizeof head);
  text.append(reinterpret_cast<const char*>(places.of_blocks.data()), places.of_blocks.size() * sizeof(uint64_t));
  return text + places.why;
}

bool from_text(const char* bytes, uint64_t length, Places& places) {
  int64_t head[2];
  if (length < sizeof head) return false;
  std::memcpy(head, bytes, sizeof head);
  const uint64_t count = static_cast<uint64_t>(head[1]);
  if (count > (length - sizeof head) / sizeof(uint64_t)) return false;
  places.code = static_cast<int>(head[0]);
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

std::vector<Places> places_of(const Plan& plan, const Outcome<Structure>& written) {
  std::vector<Places> all(plan.of_blocks.size());
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (!written) {
      all[rank] = {written.error().code, written.error().what, {}};
      continue;
    }
    if (!plan.refusals[rank].empty()) all[rank] = {FOREBAY_METHOD_INVALID_DATA, plan.refusals[rank], {}};
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

// Of rank 0: makes the structure of the file, and tells the other ranks where to write. Returns its own places.
Places structure(File& file, const forebay_method_ranks& ranks, std::span<const forebay_method_step> steps,
                 const std::string& own) {
  const Outcome<std::vector<std::vector<Told>>> told = listen(ranks, own);
  if (!told) return {told.error().code, told.error().what, {}};
  const Plan plan = hdf5::plan(*told);
  forebay_method_standing standing = file.standing;
  standing.steps = std::max(standing.steps, plan.steps);
  for (const forebay_method_step& step : steps)
    standing.last_time_index = std::max(standing.last_time_index, step.time_index);
  file.lock.lend();
  Outcome<Structure> written = write_structure(file.written, file.is_new, kNetcdf, plan, standing, steps);
  if (const Outcome<void> regained = file.lock.regain(); !regained) written = std::unexpected(regained.error());
  file.is_whole = written.has_value();
  const std::vector<Places> all = places_of(plan, written);
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
  if (failed) return {failed, "rank 0 cannot be reached", {}};
  if (!from_text(static_cast<const char*>(message), length, places))
    return {FOREBAY_METHOD_INVALID_DATA, "rank 0 is not understood", {}};
  return places;
}

// Writes the blocks that have places; returns the first failure.
Outcome<void> write_blocks(const File& file, std::span<const forebay_method_step> steps, const Places& places) {
  if (places.of_blocks.empty()) return {};
  const int descriptor = ::open(file.written.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return std::unexpected(system_fault("open", file.written));
  Outcome<void> done;
  size_t number = 0;
  for (const forebay_method_step& step : steps)
    for (const forebay_method_block& block : std::span(step.blocks, step.block_count)) {
      const uint64_t place = places.of_blocks[number++];
      if (place == kNowhere || !done) continue;
      if (!write_rows(descriptor, place, block)) done = std::unexpected(system_fault("write", file.written));
    }
  if (::close(descriptor) != 0 && done) done = std::unexpected(system_fault("close", file.written));
  return done;
}

uint64_t count_blocks(std::span<const forebay_method_step> steps) {
  uint64_t count = 0;
  for (const forebay_method_step& step : steps) count += step.block_count;
  return count;
}

// `is_lost`: bytes that have a place are not there; what had to be refused has none.
Outcome<void> write_all(File& file, const forebay_method_ranks& ranks, std::span<const forebay_method_step> steps,
                        bool& is_lost) {
  const std::string own = to_message(steps);
  const Places places = ranks.rank == 0 ? structure(file, ranks, steps, own) : ask(ranks, own);
  is_lost = true;
  if (places.of_blocks.size() != count_blocks(steps))
    return std::unexpected(Fault{places.code ? places.code : FOREBAY_METHOD_INVALID_DATA, places.why});
  Outcome<void> done = write_blocks(file, steps, places);
  is_lost = !done;
  if (done && places.code != 0) done = std::unexpected(Fault{places.code, places.why});
  return done;
}

int close_file(void* opened, const forebay_method_ranks* ranks, const forebay_method_step* steps, size_t count,
               char* message) try {
  const std::unique_ptr<File> file(static_cast<File*>(opened));
  bool is_lost = false;
  Outcome<void> done = write_all(*file, *ranks, {steps, count}, is_lost);
  // The file gets its name when the bytes of all ranks are in it, also if some had to be refused: nothing in it says
  // which bytes are not there.
  uint64_t losers = 0;
  const int failed = ranks->max(ranks->self, is_lost ? 1 : 0, &losers);
  if (failed && done) done = std::unexpected(Fault{failed, "another rank cannot be reached"});
  if (!file->is_first || !file->is_new) return done ? 0 : answer(done.error(), message);
  if (!file->lock.is_named()) {
    if (done)
      done = std::unexpected(Fault{FOREBAY_METHOD_WRITE, file->written + ": another file was put in its place"});
  } else if (!file->is_whole || failed || losers > 0) {
    ::unlink(file->written.c_str());
  } else if (std::rename(file->written.c_str(), file->path.c_str()) != 0 && done) {
    done = std::unexpected(system_fault("rename", file->written));
  }
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
