// Runs, steps, and what is in them: the part of forebay_read.h that reads no values.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "api/read/handles.h"

namespace {

using namespace forebay;
using api::guarded, api::read_failed, api::refused;

// How long to wait before looking for new steps again: soon at first, then a few times a second.
constexpr std::chrono::milliseconds kFirstPause{10}, kLongestPause{250};

constexpr char kNoPlace[] = "no step is given, or no place for what is known of it";

// The caller's options, of an older or newer version of the structure.
Result<forebay_read_options> options_of(const forebay_read_options* given) {
  forebay_read_options known{};
  if (given == nullptr) return known;
  if (!api::has_size(*given)) return fail(ErrorKind::invalid_argument, "the options do not begin with their size");
  const auto* const bytes = reinterpret_cast<const char*>(given);
  if (std::any_of(bytes + std::min(sizeof known, given->size), bytes + given->size,
                  [](char byte) { return byte != 0; }))
    return fail(ErrorKind::unsupported, "the options have a member that this version of libforebay_read does not know");
  std::memcpy(&known, given, std::min(sizeof known, given->size));
  return known;
}

int open_run(const char* path, const forebay_read_options& options, forebay_read_run** run) {
  view::RunOptions wanted;
  wanted.raw = options.stored != 0;
  wanted.resources.memory_bytes = options.memory_bytes;
  wanted.resources.threads = options.threads;
  if (options.series != nullptr) wanted.series = options.series;
  if (options.set != nullptr) wanted.set = options.set;
  if (options.layout != nullptr) wanted.layout = options.layout;
  auto opened = view::open_run(path, wanted);
  if (!opened) return read_failed(opened.error());
  *run = new forebay_read_run{*std::move(opened)};
  return FOREBAY_OK;
}

}  // namespace

extern "C" {

int forebay_read_open(const char* path, const forebay_read_options* options, forebay_read_run** run) {
  if (run == nullptr) return refused("there is no place for the run");
  *run = nullptr;
  if (path == nullptr || *path == '\0') return refused("no store is given");
  return guarded([&] {
    const auto wanted = options_of(options);
    return wanted ? open_run(path, *wanted, run) : read_failed(wanted.error());
  });
}

void forebay_read_close(forebay_read_run* run) { delete run; }

uint64_t forebay_read_steps(const forebay_read_run* run) {
  uint64_t steps = 0;
  if (run == nullptr) return 0;
  guarded([&] {
    steps = run->run->steps().size();
    return int{FOREBAY_OK};
  });
  return steps;
}

int forebay_read_follow(forebay_read_run* run, uint64_t known, int64_t timeout_ms, uint64_t* steps) {
  using Clock = std::chrono::steady_clock;
  if (run == nullptr || steps == nullptr) return refused("no run is given, or no place for the number of steps");
  return guarded([&] {
    const auto bounded = api::bounded(timeout_ms);
    const auto end = bounded ? Clock::now() + std::chrono::milliseconds(*bounded) : Clock::time_point::max();
    for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
      *steps = run->run->steps().size();
      if (*steps > known) return int{FOREBAY_OK};
      if (const auto added = run->run->refresh(); !added) return read_failed(added.error());
      *steps = run->run->steps().size();
      if (*steps > known) return int{FOREBAY_OK};
      const auto now = Clock::now();
      if (now >= end) return api::failed(FOREBAY_TIMEOUT, "no step was added in time");
      std::this_thread::sleep_for(std::min<Clock::duration>(pause, end - now));
    }
  });
}

int forebay_read_open_step(const forebay_read_run* run, int64_t number, forebay_read_step** step) {
  if (step == nullptr) return refused("there is no place for the step");
  *step = nullptr;
  if (run == nullptr) return refused("no run is given");
  return guarded([&] {
    const auto count = static_cast<int64_t>(run->run->steps().size());
    const int64_t wanted = number < 0 ? number + count : number;
    if (wanted < 0 || wanted >= count)
      return read_failed(
          {ErrorKind::not_found,
           "there is no step " + std::to_string(number) + ", but " + std::to_string(count) + " steps from 0 on",
           run->run->path(),
           {},
           {}});
    auto opened = run->run->step(static_cast<uint64_t>(wanted));
    if (!opened) return read_failed(opened.error());
    *step = new forebay_read_step(*std::move(opened));
    return int{FOREBAY_OK};
  });
}

void forebay_read_close_step(forebay_read_step* step) { delete step; }

int forebay_read_inquire_step(const forebay_read_step* step, const forebay_read_step_info** info) {
  if (step == nullptr || info == nullptr) return refused(kNoPlace);
  *info = &step->info;
  return FOREBAY_OK;
}

int forebay_read_inquire_array(const forebay_read_step* step, size_t array, const forebay_read_array** facts) {
  if (step == nullptr || facts == nullptr) return refused(kNoPlace);
  if (array >= step->arrays.size()) return refused("the step has no array of that number");
  *facts = &step->arrays[array].facts;
  return FOREBAY_OK;
}

int forebay_read_find(const forebay_read_step* step, const char* name, size_t* array) {
  if (step == nullptr || name == nullptr || array == nullptr) return refused("no step, name or place for it is given");
  return guarded([&] {
    const auto found = view::find_array(*step->step, name);
    if (!found) return read_failed(found.error());
    *array = *found;
    return int{FOREBAY_OK};
  });
}

int forebay_read_inquire_block(const forebay_read_step* step, size_t array, uint64_t block,
                               const forebay_read_block** facts) {
  if (step == nullptr || facts == nullptr) return refused(kNoPlace);
  if (array >= step->arrays.size()) return refused("the step has no array of that number");
  return guarded([&] {
    const auto known = step->block_facts(array, block);
    if (!known) return read_failed(known.error());
    *facts = *known;
    return int{FOREBAY_OK};
  });
}

int forebay_read_attributes(const forebay_read_step* step, size_t* count) {
  if (step == nullptr || count == nullptr) return refused("no step is given, or no place for the number");
  return guarded([&] {
    *count = step->attributes().size();
    return int{FOREBAY_OK};
  });
}

int forebay_read_inquire_attribute(const forebay_read_step* step, size_t attribute,
                                   const forebay_read_attribute** facts) {
  if (step == nullptr || facts == nullptr) return refused(kNoPlace);
  return guarded([&] {
    const auto& known = step->attributes();
    if (attribute >= known.size()) return refused("the step has no attribute of that number");
    *facts = &known[attribute].facts;
    return int{FOREBAY_OK};
  });
}

}  // extern "C"
