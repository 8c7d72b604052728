// What an ADIOS_FILE stands for: the steps of a run that it shows, and the variables in them.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <adios_read.h>

#include "adios/report.h"
#include "adios/selection.h"
#include "io/method/communicator.h"
#include "view/source/run.h"

namespace forebay::adios {

// A variable in one of the steps in which it was written.
struct ReadPlace {
  uint64_t step = 0;  // of the run
  size_t array = 0;   // in the step's arrays
  uint64_t blocks = 0;
};

struct ReadVariable {
  std::string name, group;
  io::ValueType type = io::ValueType::int8;
  view::Form form = view::Form::scalar;
  Shape shape;  // of the first step
  std::vector<ReadPlace> places;
};

// Read when the program asks for it.
struct ScheduledRead {
  size_t variable = 0;
  uint64_t from = 0, steps = 0;  // of the variable's places
  std::optional<SelectionCopy> selection;
  std::byte* data = nullptr;
};

class ReadFile {
 public:
  ReadFile(std::unique_ptr<view::Run> run, std::unique_ptr<io::Communicator> ranks)
      : run_(std::move(run)), ranks_(std::move(ranks)) {}

  view::Run& run() const { return *run_; }
  io::Communicator& ranks() const { return *ranks_; }

  // Finds the variables and attributes of steps [begin, end). Steps that were removed meanwhile are left out, and with
  // skips_damaged() damaged ones, but one must be left. After an error, what was found before is still there.
  Result<void> find(uint64_t begin, uint64_t end);

  // What was found, for another rank that has the same file open: it needs to open only the steps that it reads.
  Bytes found() const;
  io::Outcome<void> take_found(std::span<const std::byte> bytes);

  std::vector<ReadVariable> variables;      // all, in the order in which they were first written
  std::vector<view::Attribute> attributes;  // as of the last of the steps
  std::vector<std::string> groups;
  std::vector<size_t> shown_variables, shown_attributes;  // that the group view shows, rising, by their numbers in it
  std::vector<char*> group_names;                         // for adios_get_grouplist()
  std::string path;
  std::deque<ScheduledRead> scheduled, performed;
  std::vector<std::byte> chunk;  // of the last adios_check_reads()

  // By what programs call them; nothing if it is not there.
  std::optional<size_t> variable(std::string_view name) const;
  const view::Attribute* attribute(std::string_view name) const;

 private:
  void show_all();

  std::unordered_map<std::string, std::vector<size_t>> by_name_;  // of `variables`
  std::unique_ptr<view::Run> run_;
  std::unique_ptr<io::Communicator> ranks_;
};

// err_invalid_file_pointer for NULL and for what is closed.
io::Outcome<ReadFile*> file_of(const ADIOS_FILE* fp);

// What went wrong with reading, with the number that programs know.
io::Failure of_reading(const Error& error);
std::unexpected<io::Failure> refuse_reading(int code, std::string what, std::string hint = {});

// The value of a scalar in one of its blocks; texts with a final NUL.
io::Outcome<Bytes> scalar_value(const ReadFile& file, const ReadPlace& place, uint64_t block = 0);

// Reads at once, whatever else is scheduled: one step of a variable, `from` counted among its own. The bytes that the
// selection has; how many these are alone without `out`. err_invalid_timestep, err_out_of_bound, errors of reading.
io::Outcome<uint64_t> read_now(const ReadFile& file, size_t variable, int from,
                               const std::optional<SelectionCopy>& selection, std::byte* out);

// The same of a block of that step, or of a box of it.
io::Outcome<uint64_t> read_block_now(const ReadFile& file, size_t variable, int from, uint64_t block,
                                     const std::optional<view::Box>& box, std::byte* out);

// malloc()ed, zeroed, for C; std::bad_alloc.
void* allocate_bytes(size_t bytes);
template <class T>
T* allocate(size_t count) {
  return static_cast<T*>(allocate_bytes(count * sizeof(T)));
}
char* malloc_copy(std::string_view text);
void* malloc_copy(std::span<const std::byte> bytes);
uint64_t* malloc_copy(const Shape& numbers);

// Calls `body`, which returns Outcome<T*>; NULL if it fails.
template <class Body>
auto guarded_pointer(Body&& body) {
  decltype(body().value()) made = nullptr;
  guarded([&]() -> io::Outcome<void> {
    FOREBAY_TRY(made, body());
    return {};
  });
  return made;
}

}  // namespace forebay::adios
