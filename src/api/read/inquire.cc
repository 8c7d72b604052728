// Runs, steps, and what is in them: the part of forebay_read.h that reads no values.
#include <algorithm>
#include <chrono>
#include <thread>

#include "api/last_failure.h"
#include "api/read/handles.h"

namespace {

using namespace forebay;
using api::guarded_read, api::read_failed;

// How long to wait before looking for new steps again: soon at first, then a few times a second.
constexpr std::chrono::milliseconds kFirstPause{10}, kLongestPause{250};

int type_of(const view::ElementType& type) {
  using io::ValueType;
  if (type.value) switch (*type.value) {
      case ValueType::long_double:
        return FOREBAY_READ_LONG_DOUBLE;
      case ValueType::string:
      case ValueType::string_array:
        return FOREBAY_READ_STRING;
      case ValueType::complex64:
        return FOREBAY_READ_COMPLEX64;
      case ValueType::complex128:
        return FOREBAY_READ_COMPLEX128;
      default:
        break;
    }
  const int width = type.data.size == 1 ? 0 : type.data.size == 2 ? 1 : type.data.size == 4 ? 2 : 3;
  switch (type.data.kind) {
    case Kind::signed_int:
      return FOREBAY_READ_INT8 + width;
    case Kind::unsigned_int:
      return FOREBAY_READ_UINT8 + width;
    case Kind::floating:
      return FOREBAY_READ_FLOAT16 + width - 1;
    case Kind::opaque:
      break;
  }
  return FOREBAY_READ_OTHER;
}

int form_of(view::Form form) {
  if (form == view::Form::global) return FOREBAY_READ_GLOBAL;
  return form == view::Form::local ? FOREBAY_READ_LOCAL : FOREBAY_READ_SCALAR;
}

forebay_read_values values_of(const std::optional<container::Characteristics>& known) {
  if (!known) return {};
  return {.known = 1,
          .count = known->count,
          .nans = known->nans + known->holes,
          .infinities = known->infinities,
          .min = known->min,
          .max = known->max,
          .sum = known->sum,
          .sum_of_squares = known->sum_of_squares};
}

int missing(const char* what) { return read_failed(FOREBAY_READ_ARGUMENT, what); }

int open_run(const char* path, const forebay_read_options* options, bool raw, forebay_read_run** run) {
  if (run == nullptr) return missing("there is no place for the run");
  *run = nullptr;
  if (path == nullptr || *path == '\0') return missing("no store is given");
  return guarded_read([&] {
    view::RunOptions wanted;
    wanted.raw = raw;
    if (options != nullptr) {
      wanted.resources.memory_bytes = options->memory_bytes;
      wanted.resources.threads = options->threads;
      if (options->series != nullptr) wanted.series = options->series;
      if (options->set != nullptr) wanted.set = options->set;
      if (options->layout != nullptr) wanted.layout = options->layout;
    }
    auto opened = view::open_run(path, wanted);
    if (!opened) return read_failed(opened.error());
    *run = new forebay_read_run{*std::move(opened)};
    return static_cast<int>(FOREBAY_READ_OK);
  });
}

}  // namespace

extern "C" {

int forebay_read_open(const char* path, const forebay_read_options* options, forebay_read_run** run) {
  return open_run(path, options, false, run);
}

int forebay_read_open_stored(const char* path, const forebay_read_options* options, forebay_read_run** run) {
  return open_run(path, options, true, run);
}

void forebay_read_close(forebay_read_run* run) { delete run; }

uint64_t forebay_read_steps(const forebay_read_run* run) {
  uint64_t steps = 0;
  if (run == nullptr) return 0;
  guarded_read([&] {
    steps = run->run->steps().size();
    return static_cast<int>(FOREBAY_READ_OK);
  });
  return steps;
}

int forebay_read_follow(forebay_read_run* run, uint64_t known, int64_t timeout_ms, uint64_t* steps) {
  using Clock = std::chrono::steady_clock;
  if (run == nullptr || steps == nullptr) return missing("no run is given, or no place for the number of steps");
  return guarded_read([&] {
    const auto bounded = api::bounded(timeout_ms);
    const auto end = bounded ? Clock::now() + std::chrono::milliseconds(*bounded) : Clock::time_point::max();
    for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
      *steps = run->run->steps().size();
      if (*steps > known) return static_cast<int>(FOREBAY_READ_OK);
      if (const auto added = run->run->refresh(); !added) return read_failed(added.error());
      *steps = run->run->steps().size();
      if (*steps > known) return static_cast<int>(FOREBAY_READ_OK);
      const auto now = Clock::now();
      if (now >= end) return read_failed(FOREBAY_READ_TIMEOUT, "no step was added in time");
      std::this_thread::sleep_for(std::min<Clock::duration>(pause, end - now));
    }
  });
}

int forebay_read_open_step(const forebay_read_run* run, int64_t number, forebay_read_step** step) {
  if (step == nullptr) return missing("there is no place for the step");
  *step = nullptr;
  if (run == nullptr) return missing("no run is given");
  return guarded_read([&] {
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
    auto made = std::make_unique<forebay_read_step>();
    made->step = *std::move(opened);
    for (const view::Array& array : made->step->arrays()) made->array_types.push_back(view::to_string(array.type));
    *step = made.release();
    return static_cast<int>(FOREBAY_READ_OK);
  });
}

void forebay_read_close_step(forebay_read_step* step) { delete step; }

int forebay_read_step_facts(const forebay_read_step* step, forebay_read_step_info* info) {
  if (step == nullptr || info == nullptr) return missing("no step is given, or no place for what is known of it");
  const view::StepInfo& known = step->step->info();
  *info = {.number = known.number,
           .set = known.set.c_str(),
           .has_step = known.step ? 1 : 0,
           .step = known.step.value_or(0),
           .has_time = known.time ? 1 : 0,
           .time = known.time.value_or(0),
           .arrays = step->step->arrays().size()};
  return FOREBAY_READ_OK;
}

int forebay_read_inquire(const forebay_read_step* step, size_t array, forebay_read_array* facts) {
  if (step == nullptr || facts == nullptr) return missing("no step is given, or no place for what is known of it");
  if (array >= step->step->arrays().size()) return missing("the step has no array of that number");
  const view::Array& known = step->step->arrays()[array];
  *facts = {.name = known.name.c_str(),
            .type = type_of(known.type),
            .type_name = step->array_types[array].c_str(),
            .element_bytes = known.type.bytes(),
            .form = form_of(known.form),
            .dimensions = known.shape.size(),
            .shape = known.shape.data(),
            .blocks = known.blocks,
            .level = known.level ? static_cast<int>(*known.level) : -1,
            .values = values_of(known.characteristics)};
  return FOREBAY_READ_OK;
}

int forebay_read_find(const forebay_read_step* step, const char* name, size_t* array) {
  if (step == nullptr || name == nullptr || array == nullptr) return missing("no step, name or place for it is given");
  return guarded_read([&] {
    const auto found = view::find_array(*step->step, name);
    if (!found) return read_failed(found.error());
    *array = *found;
    return static_cast<int>(FOREBAY_READ_OK);
  });
}

int forebay_read_inquire_block(const forebay_read_step* step, size_t array, uint64_t block, forebay_read_block* facts) {
  if (step == nullptr || facts == nullptr) return missing("no step is given, or no place for what is known of it");
  if (array >= step->step->arrays().size()) return missing("the step has no array of that number");
  return guarded_read([&] {
    const auto blocks = step->blocks(array);
    if (!blocks) return read_failed(blocks.error());
    if (block >= (*blocks)->size()) return missing("the array has no block of that number");
    const view::Block& known = (**blocks)[block];
    *facts = {.rank = known.rank,
              .begin = known.place.begin.data(),
              .count = known.place.count.data(),
              .dimensions = known.place.count.size(),
              .values = values_of(known.characteristics)};
    return static_cast<int>(FOREBAY_READ_OK);
  });
}

int forebay_read_count_attributes(const forebay_read_step* step, size_t* count) {
  if (step == nullptr || count == nullptr) return missing("no step is given, or no place for the number");
  return guarded_read([&] {
    *count = step->attribute_types().size();
    return static_cast<int>(FOREBAY_READ_OK);
  });
}

int forebay_read_inquire_attribute(const forebay_read_step* step, size_t attribute, forebay_read_attribute* facts) {
  if (step == nullptr || facts == nullptr) return missing("no step is given, or no place for what is known of it");
  return guarded_read([&] {
    const auto& types = step->attribute_types();
    if (attribute >= types.size()) return missing("the step has no attribute of that number");
    const view::Attribute& known = step->step->attributes()[attribute];
    *facts = {.name = known.name.c_str(),
              .variable = known.variable.c_str(),
              .type = type_of(known.type),
              .type_name = types[attribute].c_str(),
              .count = known.count,
              .value = known.value.data(),
              .bytes = known.value.size()};
    return static_cast<int>(FOREBAY_READ_OK);
  });
}

}  // extern "C"
