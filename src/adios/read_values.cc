// Reads that are scheduled, performed, and handed out in chunks.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include <adios_read.h>

#include "adios/read_file.h"
#include "view/read/cover.h"
#include "view/read/selection.h"

namespace forebay::adios {
namespace {

using io::Outcome;

constexpr size_t kMostStepsAtOnce = 8;  // whose reads are planned together

// Elements of a block that are picked out of a box of it.
struct Picked {
  std::vector<std::byte> aside;
  std::vector<uint64_t> places;  // in elements
  std::byte* out = nullptr;
  uint64_t element = 0;
};

// What is asked of the steps of a run, read together.
class Reading {
 public:
  explicit Reading(const ReadFile& file) : file_(file) {}

  // Adds one step of a variable. The bytes that it has, of which none are there for what does not exist.
  Outcome<uint64_t> add(const ReadVariable& variable, const ReadPlace& place,
                        const std::optional<SelectionCopy>& selection, std::byte* out) {
    FOREBAY_CHECK(go_to(place));
    const view::Array& array = step_->array(array_);
    if (selection && selection->type == ADIOS_SELECTION_WRITEBLOCK)
      return add_block(variable, place, selection->block, out);
    if (array.form == view::Form::scalar) return add_request(view::WrittenBlock{0, {}}, out, 0);
    if (!selection) {
      if (array.form == view::Form::global) return add_request(view::Strided{engine::whole_box(array.shape), {}}, out);
      return add_request(view::WrittenBlock{0, {}}, out, 0);
    }
    if (selection->type == ADIOS_SELECTION_POINTS) return add_points(*selection, out);
    const view::Box box{selection->start, selection->count};
    if (array.form == view::Form::global) return add_request(view::Strided{box, {}}, out);
    return add_request(view::WrittenBlock{0, box}, out, 0);
  }

  // Likewise a part of a block.
  Outcome<uint64_t> add_part(const ReadPlace& place, const view::WrittenBlock& part, std::byte* out) {
    FOREBAY_CHECK(go_to(place));
    return add_request(part, out, part.block);
  }

  // A NUL goes here, behind a text.
  void end_text(std::byte* end) { ends_.push_back(end); }

  // Reads what was added; the first failure, of which the others are told too.
  Outcome<void> flush() {
    const view::ReadResult result = view::read(requests_);
    Outcome<void> first;
    for (const view::Outcome& outcome : result.outcomes)
      if (outcome.error) {
        if (!first) report(first.error());
        first = std::unexpected(of_reading(*outcome.error));
      }
    for (const auto& picked : picked_)
      for (size_t i = 0; i < picked->places.size(); ++i)
        std::memcpy(picked->out + i * picked->element, picked->aside.data() + picked->places[i] * picked->element,
                    picked->element);
    for (std::byte* const end : ends_) *end = std::byte{0};
    requests_.clear();
    picked_.clear();
    ends_.clear();
    steps_.clear();
    if (step_) steps_.push_back(step_);
    return first;
  }

 private:
  Outcome<void> go_to(const ReadPlace& place) {
    auto step = file_.run().step(place.step);
    if (!step) return std::unexpected(of_reading(step.error()));
    step_ = *step;
    array_ = place.array;
    if (std::ranges::find(steps_, step_) != steps_.end()) return {};
    if (steps_.size() == kMostStepsAtOnce) FOREBAY_CHECK(flush());
    steps_.push_back(step_);
    return {};
  }

  // A selection that is checked; out of bounds is told with ADIOS's number.
  Outcome<uint64_t> add_request(view::Selection selection, std::byte* out, std::optional<uint64_t> block = {}) {
    const view::Array& array = step_->array(array_);
    view::Block found;
    if (block) {
      FOREBAY_TRY(found, block_of(*block));
    }
    const auto bytes = view::selection_bytes(array, selection, block ? &found : nullptr);
    if (!bytes) {
      if (bytes.error().kind == ErrorKind::invalid_argument)
        return refuse_reading(err_out_of_bound, bytes.error().message());
      return std::unexpected(of_reading(bytes.error()));
    }
    requests_.push_back({step_.get(), array_, std::move(selection), {out, *bytes}});
    return *bytes;
  }

  Outcome<view::Block> block_of(uint64_t number) const {
    auto blocks = step_->blocks(array_);
    if (!blocks) return std::unexpected(of_reading(blocks.error()));
    if (number >= blocks->size()) return refuse_reading(err_out_of_bound, "the variable has no such block");
    return std::move((*blocks)[number]);
  }

  Outcome<uint64_t> add_block(const ReadVariable& variable, const ReadPlace& place,
                              const ADIOS_SELECTION_WRITEBLOCK_STRUCT& wanted, std::byte* out) {
    int64_t index = wanted.index;
    if (wanted.is_absolute_index)
      for (const ReadPlace& before : variable.places) {
        if (before.step == place.step) break;
        index -= static_cast<int64_t>(before.blocks);
      }
    if (index < 0 || static_cast<uint64_t>(index) >= place.blocks) return uint64_t{0};
    const auto number = static_cast<uint64_t>(index);
    if (!wanted.is_sub_pg_selection) return add_request(view::WrittenBlock{number, {}}, out, number);
    FOREBAY_TRY(const view::Block block, block_of(number));
    const uint64_t elements = element_count(block.place.count);
    if (wanted.element_offset > elements || wanted.nelements > elements - wanted.element_offset)
      return refuse_reading(err_out_of_bound,
                            "the block has " + std::to_string(elements) + " elements, fewer than are selected");
    std::vector<uint64_t> places(wanted.nelements);
    for (uint64_t i = 0; i < wanted.nelements; ++i) places[i] = wanted.element_offset + i;
    return add_picked(number, engine::whole_box(block.place.count), std::move(places), out);
  }

  // Elements of a box of a block, by their places in the box.
  Outcome<uint64_t> add_picked(uint64_t block, view::Box box, std::vector<uint64_t> places, std::byte* out) {
    const uint64_t element = step_->array(array_).type.bytes();
    const uint64_t elements = element_count(box.count);
    if (elements == UINT64_MAX || elements > UINT64_MAX / element)
      return refuse_reading(err_no_memory, "the block is too large");
    auto picked = std::make_unique<Picked>();
    picked->aside.resize(elements * element);
    picked->places = std::move(places);
    picked->out = out;
    picked->element = element;
    const uint64_t bytes = picked->places.size() * element;
    FOREBAY_CHECK(add_request(view::WrittenBlock{block, std::move(box)}, picked->aside.data(), block));
    picked_.push_back(std::move(picked));
    return bytes;
  }

  Outcome<uint64_t> add_points(const SelectionCopy& points, std::byte* out) {
    const view::Array& array = step_->array(array_);
    const SelectionCopy* const container = points.container.get();
    const bool in_block =
        array.form != view::Form::global || (container && container->type == ADIOS_SELECTION_WRITEBLOCK);
    const uint64_t number =
        container && container->type == ADIOS_SELECTION_WRITEBLOCK ? static_cast<uint64_t>(container->block.index) : 0;
    Shape begin(array.shape.size(), 0), count = array.shape;
    if (in_block) {
      FOREBAY_TRY(const view::Block block, block_of(number));
      count = block.place.count;
    }
    if (container && container->type == ADIOS_SELECTION_BOUNDINGBOX) begin = container->start, count = container->count;
    FOREBAY_TRY(const std::vector<uint64_t> indices, indices_of(points, begin, count));
    if (!in_block) return add_request(view::Points{count.size(), indices}, out);
    std::vector<uint64_t> places;
    for (size_t i = 0; i < indices.size(); i += count.size()) {
      uint64_t place = 0;
      for (size_t d = 0; d < count.size(); ++d) {
        if (indices[i + d] >= count[d])
          return refuse_reading(err_out_of_bound, "a point is outside of '" + array.name + "'");
        place = place * count[d] + indices[i + d];
      }
      places.push_back(place);
    }
    return add_picked(number, engine::whole_box(count), std::move(places), out);
  }

  // The points' indices in the array, or in the block.
  static Outcome<std::vector<uint64_t>> indices_of(const SelectionCopy& points, const Shape& begin,
                                                   const Shape& count) {
    const bool is_line = points.dimensions == 1 && count.size() != 1;
    if ((!is_line && points.dimensions != count.size()) || begin.size() != count.size() || count.empty() ||
        (is_line && !points.container))
      return refuse_reading(err_out_of_bound, "the points have " + std::to_string(points.dimensions) +
                                                  " dimensions, and the array " + std::to_string(count.size()));
    std::vector<uint64_t> indices;
    for (size_t i = 0; i < points.points.size(); i += points.dimensions) {
      Shape at(points.points.begin() + static_cast<ptrdiff_t>(i),
               points.points.begin() + static_cast<ptrdiff_t>(i + points.dimensions));
      if (is_line) {
        uint64_t place = at[0];
        at.assign(count.size(), 0);
        for (size_t d = count.size(); d-- > 0;) {
          at[d] = d == 0 || count[d] == 0 ? place : place % count[d];
          place = count[d] == 0 ? 0 : place / count[d];
        }
      }
      for (size_t d = 0; d < at.size(); ++d) indices.push_back(begin[d] + at[d]);
    }
    return indices;
  }

  const ReadFile& file_;
  std::shared_ptr<const view::Step> step_;
  size_t array_ = 0;
  std::vector<std::shared_ptr<const view::Step>> steps_;  // that requests are of
  std::vector<view::Request> requests_;
  std::vector<std::unique_ptr<Picked>> picked_;
  std::vector<std::byte*> ends_;
};

// What programs are told of a read that did not work: of a box outside of the array nothing but adios_errno.
int result_of(int code) { return code == err_out_of_bound ? err_no_error : code; }

Outcome<void> read_now(const ReadFile& file, std::span<const ScheduledRead> wanted) {
  Reading reading(file);
  Outcome<void> failed;
  const auto note = [&](const Outcome<void>& done) {
    if (done) return;
    // Each is told; what programs are not told of by a return value gives way to what they are.
    const bool is_graver = failed || static_cast<int>(failed.error().code) == err_out_of_bound;
    if (!failed) report(is_graver ? failed.error() : done.error());
    if (is_graver) failed = done;
  };
  // Step after step, in whichever order the program scheduled: each step is opened once.
  struct Left {
    const ScheduledRead* read;
    uint64_t done;
    std::byte* out;
  };
  std::map<uint64_t, std::vector<Left>> by_step;
  const auto step_of = [&](const ScheduledRead& read, uint64_t i) {
    return file.variables[read.variable].places[read.from + i].step;
  };
  for (const ScheduledRead& each : wanted) by_step[step_of(each, 0)].push_back({&each, 0, each.data});
  while (!by_step.empty()) {
    const auto now = by_step.extract(by_step.begin());
    for (const auto& [read, done, out] : now.mapped()) {
      const ReadVariable& variable = file.variables[read->variable];
      const auto bytes = reading.add(variable, variable.places[read->from + done], read->selection, out);
      if (!bytes)
        note(std::unexpected(bytes.error()));
      else if (done + 1 < read->steps)
        by_step[step_of(*read, done + 1)].push_back({read, done + 1, out + *bytes});
      else if (variable.type == io::ValueType::string)
        reading.end_text(out + *bytes);
    }
  }
  note(reading.flush());
  return failed;
}

Outcome<void> schedule(const ADIOS_FILE* fp, const ADIOS_SELECTION* sel, std::optional<size_t> variable, int from_steps,
                       int nsteps, void* data) {
  FOREBAY_TRY(ReadFile* const file, file_of(fp));
  const ReadVariable& of = file->variables[*variable];
  const auto steps = static_cast<int64_t>(of.places.size());
  if (from_steps < 0 || nsteps < 1 || int64_t{from_steps} + nsteps > steps)
    return refuse_reading(err_invalid_timestep, "'" + of.name + "' has " + std::to_string(steps) + " steps, and " +
                                                    std::to_string(nsteps) + " from " + std::to_string(from_steps) +
                                                    " on are asked for");
  ScheduledRead wanted{
      *variable, static_cast<uint64_t>(from_steps), static_cast<uint64_t>(nsteps), {}, static_cast<std::byte*>(data)};
  if (sel != nullptr) {
    FOREBAY_TRY(wanted.selection, copy_selection(*sel));
  }
  file->scheduled.push_back(std::move(wanted));
  return {};
}

Outcome<void> schedule_byid(const ADIOS_FILE* fp, const ADIOS_SELECTION* sel, int varid, int from_steps, int nsteps,
                            void* data) {
  FOREBAY_TRY(ReadFile* const file, file_of(fp));
  if (varid < 0 || varid >= static_cast<int>(file->shown_variables.size()))
    return refuse_reading(err_invalid_varid, file->path + " has no variable of the number " + std::to_string(varid));
  return schedule(fp, sel, file->shown_variables[static_cast<size_t>(varid)], from_steps, nsteps, data);
}

Outcome<void> schedule_by_name(const ADIOS_FILE* fp, const ADIOS_SELECTION* sel, const char* name, int from_steps,
                               int nsteps, void* data) {
  FOREBAY_TRY(ReadFile* const file, file_of(fp));
  const auto variable = name ? file->variable(name) : std::nullopt;
  if (!variable)
    return refuse_reading(err_invalid_varname, file->path + " has no variable '" + (name ? name : "") + "'",
                          "fp->var_namelist has the names, which count exactly");
  return schedule(fp, sel, variable, from_steps, nsteps, data);
}

// A read without memory as one for each block that has some of it.
Outcome<std::vector<ScheduledRead>> by_blocks(const ReadFile& file, const ScheduledRead& wanted) {
  const ReadVariable& variable = file.variables[wanted.variable];
  std::vector<ScheduledRead> parts;
  for (uint64_t i = wanted.from; i < wanted.from + wanted.steps; ++i) {
    ScheduledRead part{wanted.variable, i, 1, wanted.selection, nullptr};
    const auto step = file.run().step(variable.places[i].step);
    if (!step) return std::unexpected(of_reading(step.error()));
    const view::Array& array = (*step)->array(variable.places[i].array);
    const bool is_box = !wanted.selection || wanted.selection->type == ADIOS_SELECTION_BOUNDINGBOX;
    if (array.form != view::Form::global || !is_box) {
      parts.push_back(std::move(part));
      continue;
    }
    const view::Box all =
        wanted.selection ? view::Box{wanted.selection->start, wanted.selection->count} : engine::whole_box(array.shape);
    if (const auto bytes = view::selection_bytes(array, view::Strided{all, {}}); !bytes)
      return refuse_reading(err_out_of_bound, bytes.error().message());
    const auto blocks = (*step)->blocks(variable.places[i].array);
    if (!blocks) return std::unexpected(of_reading(blocks.error()));
    for (const view::Block& block : *blocks) {
      const view::Box common = view::intersection(all, block.place);
      if (view::is_empty(common)) continue;
      part.selection.emplace();
      part.selection->start = common.begin;
      part.selection->count = common.count;
      parts.push_back(part);
    }
  }
  return parts;
}

// The bytes of a read of one step.
Outcome<uint64_t> bytes_of(const ReadFile& file, const ScheduledRead& wanted) {
  Reading reading(file);
  const ReadVariable& variable = file.variables[wanted.variable];
  return reading.add(variable, variable.places[wanted.from], wanted.selection, nullptr);
}

// The next chunk; nothing if there is none.
Outcome<ADIOS_VARCHUNK*> next_chunk(ReadFile& file) {
  while (!file.performed.empty()) {
    ScheduledRead wanted = std::move(file.performed.front());
    file.performed.pop_front();
    void* data = wanted.data;
    if (data == nullptr &&
        (wanted.steps > 1 || !wanted.selection || wanted.selection->type == ADIOS_SELECTION_BOUNDINGBOX)) {
      FOREBAY_TRY(const auto parts, by_blocks(file, wanted));
      file.performed.insert(file.performed.begin(), parts.begin(), parts.end());
      if (file.performed.empty() || parts.empty()) continue;
      wanted = std::move(file.performed.front());
      file.performed.pop_front();
    }
    if (data == nullptr) {
      FOREBAY_TRY(const uint64_t bytes, bytes_of(file, wanted));
      file.chunk.assign(bytes + 1, std::byte{0});  // a text has a NUL behind it
      data = file.chunk.data();
      wanted.data = file.chunk.data();
    }
    FOREBAY_CHECK(read_now(file, {&wanted, 1}));
    ADIOS_VARCHUNK* const chunk = allocate<ADIOS_VARCHUNK>(1);
    const auto shown = std::ranges::find(file.shown_variables, wanted.variable);
    chunk->varid = static_cast<int>(shown - file.shown_variables.begin());
    chunk->type = static_cast<ADIOS_DATATYPES>(file.variables[wanted.variable].type);
    chunk->from_steps = static_cast<int>(wanted.from);
    chunk->nsteps = static_cast<int>(wanted.steps);
    chunk->sel = wanted.selection ? make_selection(*wanted.selection) : nullptr;
    chunk->data = data;
    return chunk;
  }
  return nullptr;
}

}  // namespace

// The variable's step of that number among its own.
static Outcome<ReadPlace> place_of_step(const ReadVariable& variable, int from) {
  if (from >= 0 && static_cast<size_t>(from) < variable.places.size())
    return variable.places[static_cast<size_t>(from)];
  return refuse_reading(err_invalid_timestep, "'" + variable.name + "' has no step " + std::to_string(from));
}

Outcome<uint64_t> read_now(const ReadFile& file, size_t variable, int from,
                           const std::optional<SelectionCopy>& selection, std::byte* out) {
  FOREBAY_TRY(const ReadPlace place, place_of_step(file.variables[variable], from));
  Reading reading(file);
  FOREBAY_TRY(const uint64_t bytes, reading.add(file.variables[variable], place, selection, out));
  if (out != nullptr) FOREBAY_CHECK(reading.flush());
  return bytes;
}

Outcome<uint64_t> read_block_now(const ReadFile& file, size_t variable, int from, uint64_t block,
                                 const std::optional<view::Box>& box, std::byte* out) {
  FOREBAY_TRY(const ReadPlace place, place_of_step(file.variables[variable], from));
  Reading reading(file);
  FOREBAY_TRY(const uint64_t bytes, reading.add_part(place, view::WrittenBlock{block, box}, out));
  FOREBAY_CHECK(reading.flush());
  return bytes;
}

}  // namespace forebay::adios

using namespace forebay::adios;
using forebay::io::Outcome;

extern "C" {

int adios_schedule_read(const ADIOS_FILE* fp, const ADIOS_SELECTION* sel, const char* varname, int from_steps,
                        int nsteps, void* data) {
  return guarded([&] { return schedule_by_name(fp, sel, varname, from_steps, nsteps, data); });
}

int adios_schedule_read_byid(const ADIOS_FILE* fp, const ADIOS_SELECTION* sel, int varid, int from_steps, int nsteps,
                             void* data) {
  return guarded([&] { return schedule_byid(fp, sel, varid, from_steps, nsteps, data); });
}

int adios_schedule_read_param(const ADIOS_FILE* fp, const ADIOS_SELECTION* sel, const char* varname, int from_steps,
                              int nsteps, const char*, void* data) {
  return guarded([&] { return schedule_by_name(fp, sel, varname, from_steps, nsteps, data); });
}

int adios_schedule_read_byid_param(const ADIOS_FILE* fp, const ADIOS_SELECTION* sel, int varid, int from_steps,
                                   int nsteps, const char*, void* data) {
  return guarded([&] { return schedule_byid(fp, sel, varid, from_steps, nsteps, data); });
}

int adios_perform_reads(const ADIOS_FILE* fp, int blocking) {
  return result_of(guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(ReadFile* const file, file_of(fp));
    std::vector<ScheduledRead> wanted(std::make_move_iterator(file->scheduled.begin()),
                                      std::make_move_iterator(file->scheduled.end()));
    file->scheduled.clear();
    if (!blocking) {
      file->performed.assign(std::make_move_iterator(wanted.begin()), std::make_move_iterator(wanted.end()));
      return {};
    }
    if (std::erase_if(wanted, [](const ScheduledRead& each) { return each.data == nullptr; }) == 0)
      return read_now(*file, wanted);
    FOREBAY_CHECK(read_now(*file, wanted));
    return refuse_reading(err_operation_not_supported, "a read without memory was waited for",
                          "call adios_perform_reads(fp, 0), then adios_check_reads()");
  }));
}

int adios_check_reads(const ADIOS_FILE* fp, ADIOS_VARCHUNK** chunk) {
  ADIOS_VARCHUNK* made = nullptr;
  const int code = guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(ReadFile* const file, file_of(fp));
    if (chunk == nullptr) return refuse_reading(err_invalid_argument, "there is nowhere to put the chunk");
    *chunk = nullptr;
    FOREBAY_TRY(made, next_chunk(*file));
    *chunk = made;
    return {};
  });
  return code != err_no_error ? code : made != nullptr;
}

void adios_free_chunk(ADIOS_VARCHUNK* chunk) {
  if (chunk == nullptr) return;
  adios_selection_delete(chunk->sel);
  std::free(chunk);
}
}
