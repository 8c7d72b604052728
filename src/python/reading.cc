// Runs, steps, and the reading of values.
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include "python/errors.h"
#include "python/module.h"
#include "python/run_handle.h"
#include "view/read/cover.h"
#include "view/read/filled.h"
#include "view/read/selection.h"

namespace nb = nanobind;

namespace forebay::python {

OpenedHere::OpenedHere() : process_(::getpid()) {}

void OpenedHere::check() const {
  if (process_ == ::getpid()) return;
  raise({ErrorKind::invalid_argument,
         "this was opened by another process, of which this one is a fork",
         {},
         {},
         "open the run again in the new process, or start processes by 'spawn'"});
}

namespace {

RunHandle open_run(const std::string& path, uint64_t memory_bytes, unsigned threads, const std::string& series,
                   const std::string& set, const std::string& layout, bool raw) {
  view::RunOptions options;
  options.resources.memory_bytes = memory_bytes;
  options.resources.threads = threads;
  options.series = series;
  options.set = set;
  options.layout = layout;
  options.raw = raw;
  return RunHandle(value_or_raise(unlocked([&] { return view::open_run(path, options); })));
}

nb::object text_or_none(const std::shared_ptr<const Error>& error) {
  return error ? nb::object(nb::str(error->message().c_str())) : nb::object(nb::none());
}

nb::tuple info_of(const view::StepInfo& info) {
  return nb::make_tuple(info.number, info.set, info.step, info.time, text_or_none(info.damage));
}

nb::list steps(const RunHandle& handle) {
  handle.check();
  nb::list list;
  for (const view::StepInfo& info : unlocked([&] { return handle.run->steps(); })) list.append(info_of(info));
  return list;
}

StepHandle open_step(const RunHandle& handle, uint64_t number) {
  handle.check();
  return StepHandle(value_or_raise(unlocked([&] { return handle.run->step(number); })), handle.run);
}

uint64_t refresh(const RunHandle& handle) {
  handle.check();
  return value_or_raise(unlocked([&] { return handle.run->refresh(); }));
}

const char* form_of(view::Form form) {
  switch (form) {
    case view::Form::scalar:
      return "scalar";
    case view::Form::global:
      return "global";
    default:
      return "local";
  }
}

nb::object values_of(const std::optional<container::Characteristics>& known) {
  if (!known) return nb::none();
  return nb::make_tuple(known->count, known->min, known->max, known->sum, known->sum_of_squares, known->nans,
                        known->infinities, known->holes);
}

nb::tuple shape_of(const Shape& shape) {
  nb::list list;
  for (const uint64_t length : shape) list.append(length);
  return nb::tuple(list);
}

// (name, type, bytes of an element, form, shape, blocks, level, characteristics) of each array.
nb::list arrays(const StepHandle& handle) {
  handle.check();
  nb::list list;
  for (size_t i = 0; i < handle.step->arrays().size(); ++i) {
    const view::Array& one = handle.step->array(i);
    list.append(nb::make_tuple(one.name, view::to_string(one.type), one.type.bytes(), form_of(one.form),
                               shape_of(one.shape), one.blocks, one.level, values_of(one.characteristics)));
  }
  return list;
}

// (name, type, count, bytes, variable) of each attribute.
nb::list attributes(const StepHandle& handle) {
  handle.check();
  nb::list list;
  const auto* const all = unlocked([&] { return &handle.step->attributes(); });
  for (const view::Attribute& one : *all)
    list.append(nb::make_tuple(nb::bytes(one.name.data(), one.name.size()), view::to_string(one.type), one.count,
                               nb::bytes(one.value.data(), one.value.size()), one.variable));
  return list;
}

// (rank, begin, count) of each block.
nb::list blocks(const StepHandle& handle, size_t array) {
  handle.check();
  nb::list list;
  for (const view::Block& one : value_or_raise(unlocked([&] { return handle.step->blocks(array); })))
    list.append(nb::make_tuple(one.rank, shape_of(one.place.begin), shape_of(one.place.count)));
  return list;
}

// Bytes of a NumPy array, or of anything else that lends its memory: dense, in C order, for as long as this lives.
class Lent {
 public:
  explicit Lent(nb::handle from, bool writes = true) {
    if (PyObject_GetBuffer(from.ptr(), &buffer_, PyBUF_C_CONTIGUOUS | (writes ? PyBUF_WRITABLE : 0)) != 0)
      throw nb::python_error();
  }
  ~Lent() { PyBuffer_Release(&buffer_); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(buffer_.buf), static_cast<size_t>(buffer_.len)};
  }

 private:
  Py_buffer buffer_{};
};

using Numbers = std::vector<uint64_t>;

view::Selection selection_of(const nb::tuple& words) {
  const auto kind = nb::cast<std::string>(words[2]);
  if (kind == "points") {
    const Lent indices(words[4], false);
    const std::span<std::byte> bytes = indices.bytes();
    view::Points points{nb::cast<uint64_t>(words[3]), Numbers(bytes.size() / sizeof(uint64_t))};
    std::memcpy(points.indices.data(), bytes.data(), points.indices.size() * sizeof(uint64_t));
    return points;
  }
  if (kind == "block") {
    view::WrittenBlock block{nb::cast<uint64_t>(words[3]), {}};
    if (!words[4].is_none()) block.box = view::Box{nb::cast<Numbers>(words[4]), nb::cast<Numbers>(words[5])};
    return block;
  }
  return view::Strided{{nb::cast<Numbers>(words[3]), nb::cast<Numbers>(words[4])}, nb::cast<Numbers>(words[5])};
}

// What could be wrong with a request before anything is read.
Result<void> check(const view::Request& request) {
  if (request.array >= request.step->arrays().size())
    return fail(ErrorKind::invalid_argument, "the step has no array of that number");
  const view::Array& array = request.step->array(request.array);
  std::optional<view::Block> block;
  const auto* const written = std::get_if<view::WrittenBlock>(&request.selection);
  if (written != nullptr || array.form != view::Form::global) {
    FOREBAY_TRY(auto all, request.step->blocks(request.array));
    const uint64_t number = written != nullptr ? written->block : 0;
    if (number < all.size()) block = std::move(all[number]);
  }
  FOREBAY_TRY(const uint64_t bytes, view::selection_bytes(array, request.selection, block ? &*block : nullptr));
  if (bytes != request.out.size())
    return fail(ErrorKind::invalid_argument, fmt::format("the selection of '{}' has {} bytes, and there is room for {}",
                                                         array.name, bytes, request.out.size()));
  if (const auto* const box = std::get_if<view::Strided>(&request.selection); box != nullptr)
    FOREBAY_CHECK(view::check_filled(*request.step, request.array, *box));
  return {};
}

// Each request is (step, array, "box", begin, count, stride), (step, array, "points", dimensions, indices) or
// (step, array, "block", number, begin, count), with the buffer that takes the values at its end. One (holes, exception
// or None) for each.
nb::list read(const nb::list& wanted) {
  std::vector<view::Request> requests;
  std::deque<Lent> lent;
  for (const nb::handle one : wanted) {
    const auto words = nb::cast<nb::tuple>(one);
    const auto& step = nb::cast<const StepHandle&>(words[0]);
    step.check();
    lent.emplace_back(words[words.size() - 1]);
    requests.push_back({step.step.get(), nb::cast<size_t>(words[1]), selection_of(words), lent.back().bytes()});
  }
  const auto result = unlocked([&]() -> Result<view::ReadResult> {
    for (const view::Request& request : requests) FOREBAY_CHECK(check(request));
    return view::read(requests);
  });
  if (!result) raise(result.error());
  nb::list outcomes;
  for (const view::Outcome& outcome : result->outcomes)
    outcomes.append(nb::make_tuple(outcome.holes, outcome.error ? exception_of(*outcome.error) : nb::none()));
  return outcomes;
}

}  // namespace

void declare_reading(nb::module_& module) {
  nb::class_<RunHandle>(module, "Run")
      .def("steps", &steps)
      .def("open", &open_step)
      .def("refresh", &refresh)
      .def_prop_ro("path", [](const RunHandle& handle) { return handle.run->path(); });
  nb::class_<StepHandle>(module, "Step")
      .def("info", [](const StepHandle& handle) { return info_of(handle.step->info()); })
      .def("arrays", &arrays)
      .def("attributes", &attributes)
      .def("dimension_names",
           [](const StepHandle& handle, size_t array) { return handle.step->dimension_names(array); })
      .def("remarks", [](const StepHandle& handle) { return handle.step->remarks(); })
      .def("blocks", &blocks);
  module.def("open_run", &open_run);
  module.def("read", &read);
}

}  // namespace forebay::python
