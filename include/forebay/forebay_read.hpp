// RAII over forebay_read.h, whose head defines runs, steps and arrays. Header-only, C++14. Calls that fail throw
// forebay::CallError with a code of forebay.h; threads may use objects as they may use what is behind them: ReadRun and
// ReadStep by several at a time, ReadPlan by one. A program that prints the first number of a plane of the newest step,
// and the sets in which it is hot:
//
//     #include <cstdio>
//     #include <vector>
//
//     #include <forebay/forebay_read.hpp>
//
//     int main(int argc, char** argv) {
//       if (argc != 2) return 2;
//       const forebay::ReadRun run(argv[1]);
//       const forebay::ReadStep step = run.step(-1);
//       const std::vector<double> plane = step.read<double>("Density", {{0, 0, 3}, {4, 4, 1}, {}});
//       std::printf("%.17g\n", plane.front());
//       for (const forebay::ReadMatch& match : run.query("Density > 0.5", FOREBAY_READ_QUERY_FIRST))
//         std::printf("%s\n", match.set.c_str());
//       return 0;
//     }
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "forebay/forebay.hpp"
#include "forebay/forebay_read.h"

namespace forebay {

// A part of an array: empty for all of it. `stride` may be empty.
struct ReadBox {
  std::vector<std::uint64_t> begin, count, stride;
};

// What FOREBAY_READ_... an array of T has; FOREBAY_READ_OTHER for types that none is read into.
template <class T>
constexpr int read_type() {
  if (std::is_same<T, std::complex<float>>::value) return FOREBAY_READ_COMPLEX64;
  if (std::is_same<T, std::complex<double>>::value) return FOREBAY_READ_COMPLEX128;
  if (std::is_same<T, long double>::value) return FOREBAY_READ_LONG_DOUBLE;
  if (std::is_same<T, float>::value) return FOREBAY_READ_FLOAT32;
  if (std::is_same<T, double>::value) return FOREBAY_READ_FLOAT64;
  if (!std::is_integral<T>::value) return FOREBAY_READ_OTHER;
  return (std::is_signed<T>::value ? FOREBAY_READ_INT8 : FOREBAY_READ_UINT8) + (sizeof(T) == 1   ? 0
                                                                                : sizeof(T) == 2 ? 1
                                                                                : sizeof(T) == 4 ? 2
                                                                                                 : 3);
}

class ReadStep;

// As forebay_read_plan. The vectors that values go to are the caller's and must stay where they are until perform().
class ReadPlan {
 public:
  ReadPlan() {
    forebay_read_plan* plan = nullptr;
    check(forebay_read_plan_new(&plan));
    plan_.reset(plan);
  }

  // Adds a box; `out` is made as large as it has to be. ARGUMENT if the array is not of T. The selection's number.
  template <class T>
  std::size_t add(const ReadStep& step, const std::string& name, const ReadBox& box, std::vector<T>& out);

  // Adds a block that was written, by its number.
  template <class T>
  std::size_t add_block(const ReadStep& step, const std::string& name, std::uint64_t block, std::vector<T>& out);

  // Adds points: as many indices for each as the array has dimensions.
  template <class T>
  std::size_t add_points(const ReadStep& step, const std::string& name, const std::vector<std::uint64_t>& indices,
                         std::vector<T>& out);

  // As forebay_read_perform(): throws the first selection's error, after the others were read.
  void perform() {
    added_ = 0;
    check(forebay_read_perform(plan_.get()));
  }

  // How many elements of a selection no rank has written; throws if it failed.
  std::uint64_t holes(std::size_t selection) const {
    std::uint64_t holes = 0;
    check(forebay_read_outcome(plan_.get(), selection, &holes));
    return holes;
  }

  // The costs of the last perform(), until the next one.
  const forebay_read_cost& cost() const {
    const forebay_read_cost* cost = nullptr;
    check(forebay_read_inquire_cost(plan_.get(), &cost));
    return *cost;
  }

  forebay_read_plan* get() const noexcept { return plan_.get(); }

 private:
  struct Free {
    void operator()(forebay_read_plan* plan) const noexcept { forebay_read_plan_free(plan); }
  };
  std::unique_ptr<forebay_read_plan, Free> plan_;
  std::size_t added_ = 0;
};

// A step that is open. Movable.
class ReadStep {
 public:
  // Takes it over.
  explicit ReadStep(forebay_read_step* step) noexcept : step_(step) {}

  // This and all that follows is the step's, and valid until its end.
  const forebay_read_step_info& info() const {
    const forebay_read_step_info* info = nullptr;
    check(forebay_read_inquire_step(step_.get(), &info));
    return *info;
  }

  // All arrays, by name.
  std::vector<const forebay_read_array*> arrays() const {
    std::vector<const forebay_read_array*> all(info().arrays);
    for (std::size_t i = 0; i < all.size(); ++i) check(forebay_read_inquire_array(step_.get(), i, &all[i]));
    return all;
  }

  std::size_t find(const std::string& name) const {
    std::size_t number = 0;
    check(forebay_read_find(step_.get(), name.c_str(), &number));
    return number;
  }

  const forebay_read_array& array(const std::string& name) const {
    const forebay_read_array* facts = nullptr;
    check(forebay_read_inquire_array(step_.get(), find(name), &facts));
    return *facts;
  }

  // All blocks of an array.
  std::vector<const forebay_read_block*> blocks(const std::string& name) const {
    const std::size_t number = find(name);
    std::vector<const forebay_read_block*> all(array(name).blocks);
    for (std::size_t i = 0; i < all.size(); ++i) check(forebay_read_inquire_block(step_.get(), number, i, &all[i]));
    return all;
  }

  std::vector<const forebay_read_attribute*> attributes() const {
    std::size_t count = 0;
    check(forebay_read_attributes(step_.get(), &count));
    std::vector<const forebay_read_attribute*> all(count);
    for (std::size_t i = 0; i < all.size(); ++i) check(forebay_read_inquire_attribute(step_.get(), i, &all[i]));
    return all;
  }

  // The elements of a box, dense, in C order. Where no rank has written they are T().
  template <class T>
  std::vector<T> read(const std::string& name, const ReadBox& box = {}) const {
    std::vector<T> values;
    ReadPlan plan;
    plan.add(*this, name, box, values);
    plan.perform();
    return values;
  }

  forebay_read_step* get() const noexcept { return step_.get(); }

 private:
  struct Close {
    void operator()(forebay_read_step* step) const noexcept { forebay_read_close_step(step); }
  };
  std::unique_ptr<forebay_read_step, Close> step_;
};

// A query's matches, as forebay_read_match.
struct ReadMatch {
  std::uint64_t number = 0;  // the step's
  std::string set;
  bool has_time = false;
  double time = 0;
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint64_t> begin, count;
  bool everywhere = false;
  std::vector<double> values;

  explicit ReadMatch(const forebay_read_match& match)
      : number(match.number),
        set(match.set),
        has_time(match.has_time != 0),
        time(match.time),
        ranks(match.ranks, match.ranks + match.rank_count),
        begin(match.begin, match.begin + match.dimensions),
        count(match.count, match.count + match.dimensions),
        everywhere(match.everywhere != 0),
        values(match.values, match.values + (match.values == nullptr ? 0 : match.variables)) {}
};

// The defaults, with the size that the structure has here.
inline forebay_read_options read_options() {
  forebay_read_options options = forebay_read_options();
  options.size = sizeof options;
  return options;
}

// A run that is open. Movable.
class ReadRun {
 public:
  // As forebay_read_open(); read_options() are the defaults.
  explicit ReadRun(const std::string& path, const forebay_read_options& options = read_options()) {
    forebay_read_run* run = nullptr;
    check(forebay_read_open(path.c_str(), &options, &run));
    run_.reset(run);
  }

  // Sets that are damaged count, so that the others keep their numbers.
  std::uint64_t steps() const noexcept { return forebay_read_steps(run_.get()); }

  // From 0, or from the last one with -1, -2, ... Throws CallError with the code FOREBAY_DAMAGED, whose text names
  // the set, for one that is damaged; the caller may go on with others.
  ReadStep step(std::int64_t number) const {
    forebay_read_step* step = nullptr;
    check(forebay_read_open_step(run_.get(), number, &step));
    return ReadStep(step);
  }

  // Waits until there are more than `known` steps. Whether there are; errors are thrown.
  bool follow(std::uint64_t known, std::int64_t timeout_ms) {
    std::uint64_t steps = 0;
    const int code = forebay_read_follow(run_.get(), known, timeout_ms, &steps);
    if (code == FOREBAY_TIMEOUT) return false;
    check(code);
    return true;
  }

  // As forebay_read_query() of the steps [first, end): calls visit(const forebay_read_match&), whose texts and lists
  // are there during the call only. Once it throws it is not called again, and its exception goes on from here when all
  // was looked at. Where a step or a box cannot be read, throws CallError after all others were reported.
  template <class Visit, class = decltype(std::declval<Visit&>()(std::declval<const forebay_read_match&>()))>
  forebay_read_query_summary query(const std::string& text, Visit&& visit, unsigned flags = 0, std::uint64_t first = 0,
                                   std::uint64_t end = UINT64_MAX) const {
    struct Caller {
      typename std::remove_reference<Visit>::type* visit;
      std::exception_ptr thrown;
    } caller{&visit, nullptr};
    const auto pass_on = [](void* context, const forebay_read_match* match) {
      auto* const to = static_cast<Caller*>(context);
      if (to->thrown) return;
      try {
        (*to->visit)(*match);
      } catch (...) {
        to->thrown = std::current_exception();
      }
    };
    forebay_read_query_summary summary = forebay_read_query_summary();
    summary.size = sizeof summary;
    const int code = forebay_read_query(run_.get(), text.c_str(), first, end, flags, pass_on, &caller, &summary);
    if (caller.thrown) std::rethrow_exception(caller.thrown);
    check(code);
    return summary;
  }

  // All that a query finds, in memory.
  std::vector<ReadMatch> query(const std::string& text, unsigned flags = 0) const {
    std::vector<ReadMatch> all;
    query(text, [&all](const forebay_read_match& match) { all.push_back(ReadMatch(match)); }, flags);
    return all;
  }

  forebay_read_run* get() const noexcept { return run_.get(); }

 private:
  struct Close {
    void operator()(forebay_read_run* run) const noexcept { forebay_read_close(run); }
  };
  std::unique_ptr<forebay_read_run, Close> run_;
};

namespace read_detail {

// The array, if it is of T.
template <class T>
const forebay_read_array& array_of(const ReadStep& step, const std::string& name) {
  const forebay_read_array& facts = step.array(name);
  if (facts.type != read_type<T>() || facts.element_bytes != sizeof(T))
    throw CallError(FOREBAY_ARGUMENT,
                    "'" + name + "' is of " + facts.type_name + ", and is to be read as another type");
  return facts;
}

template <class T>
void make_room(std::vector<T>& out, const std::uint64_t* count, std::size_t dimensions) {
  std::uint64_t elements = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (count[d] != 0 && elements > out.max_size() / count[d])
      throw CallError(FOREBAY_LIMIT, "the selection does not fit into the memory");
    elements *= count[d];
  }
  out.assign(elements, T());
}

}  // namespace read_detail

template <class T>
std::size_t ReadPlan::add(const ReadStep& step, const std::string& name, const ReadBox& box, std::vector<T>& out) {
  const forebay_read_array& facts = read_detail::array_of<T>(step, name);
  const bool is_whole = box.begin.empty() && box.count.empty();
  if (box.begin.size() != box.count.size() || (!box.stride.empty() && box.stride.size() != box.begin.size()) ||
      (!is_whole && box.begin.size() != facts.dimensions))
    throw CallError(FOREBAY_ARGUMENT, "'" + name + "' has " + std::to_string(facts.dimensions) +
                                          " dimensions, and another number is selected");
  // Outside of the array there is nothing to make room for.
  for (std::size_t d = 0; d < box.count.size(); ++d)
    if (box.count[d] > facts.shape[d])
      throw CallError(FOREBAY_ARGUMENT, std::to_string(box.count[d]) + " elements are more than dimension " +
                                            std::to_string(d) + " of '" + name + "' has, which is " +
                                            std::to_string(facts.shape[d]));
  read_detail::make_room(out, is_whole ? facts.shape : box.count.data(), facts.dimensions);
  check(forebay_read_plan_box(plan_.get(), step.get(), step.find(name), facts.dimensions,
                              is_whole ? nullptr : box.begin.data(), is_whole ? nullptr : box.count.data(),
                              box.stride.empty() ? nullptr : box.stride.data(), out.data(), out.size() * sizeof(T)));
  return added_++;
}

template <class T>
std::size_t ReadPlan::add_block(const ReadStep& step, const std::string& name, std::uint64_t block,
                                std::vector<T>& out) {
  read_detail::array_of<T>(step, name);
  const std::size_t number = step.find(name);
  const forebay_read_block* facts = nullptr;
  check(forebay_read_inquire_block(step.get(), number, block, &facts));
  read_detail::make_room(out, facts->count, facts->dimensions);
  check(forebay_read_plan_block(plan_.get(), step.get(), number, block, facts->dimensions, nullptr, nullptr, out.data(),
                                out.size() * sizeof(T)));
  return added_++;
}

template <class T>
std::size_t ReadPlan::add_points(const ReadStep& step, const std::string& name,
                                 const std::vector<std::uint64_t>& indices, std::vector<T>& out) {
  const forebay_read_array& facts = read_detail::array_of<T>(step, name);
  if (facts.dimensions == 0 || indices.size() % facts.dimensions != 0)
    throw CallError(FOREBAY_ARGUMENT, std::to_string(indices.size()) + " indices are no points of '" + name + "'");
  const std::uint64_t points = indices.size() / facts.dimensions;
  out.assign(points, T());
  check(forebay_read_plan_points(plan_.get(), step.get(), step.find(name), facts.dimensions, indices.data(), points,
                                 out.data(), out.size() * sizeof(T)));
  return added_++;
}

}  // namespace forebay
