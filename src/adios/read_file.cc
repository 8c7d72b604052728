#include "adios/read_file.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <numeric>
#include <tuple>

#include "view/read/selection.h"

namespace forebay::adios {
namespace {

std::string_view without_slash(std::string_view name) { return name.starts_with('/') ? name.substr(1) : name; }

constexpr const char* kNoGroup = "forebay";  // what the group of variables is called that were declared in none

std::string group_name(const std::string& group) { return group.empty() ? kNoGroup : group; }

void add_group(std::vector<std::string>& groups, const std::string& group) {
  if (std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
}

// Whether to go on without a step that cannot be opened.
bool leaves_out(const Error& error) {
  if (error.kind == ErrorKind::changed) return true;  // pruned meanwhile
  if (error.kind != ErrorKind::corrupt || !skips_damaged()) return false;
  warn(error.message());
  return true;
}

}  // namespace

Result<void> ReadFile::find(uint64_t begin, uint64_t end) {
  std::vector<ReadVariable> found_variables;
  std::map<std::tuple<std::string, io::ValueType, bool>, size_t> known;
  std::shared_ptr<const view::Step> last;
  uint64_t last_number = 0, newest = 0;            // of `last`, and of those that are there
  std::vector<std::pair<size_t, size_t>> in_last;  // variables of the last step that was opened, and its arrays
  for (uint64_t number = begin; number < end; ++number) {
    if (last && run_->first_alike(number) == run_->first_alike(last_number)) {
      for (const auto& [variable, array] : in_last)
        found_variables[variable].places.push_back({number, array, found_variables[variable].places.back().blocks});
      newest = number;
      continue;
    }
    const auto step = run_->step(number);
    const bool is_none_left = number + 1 == end && !last;
    if (!step && !is_none_left && leaves_out(step.error())) continue;
    if (!step) return std::unexpected(step.error());
    last = *step;
    last_number = newest = number;
    in_last.clear();
    const auto& arrays = (*step)->arrays();
    std::vector<size_t> order(arrays.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return arrays[i].order; });
    for (const size_t i : order) {
      const view::Array& array = arrays[i];
      if (!array.type.value) continue;
      const auto [found, is_new] =
          known.try_emplace({array.name, *array.type.value, array.form == view::Form::scalar}, found_variables.size());
      if (is_new)
        found_variables.push_back(
            {array.name, group_name(array.group), *array.type.value, array.form, array.shape, {}});
      found_variables[found->second].places.push_back({number, i, array.blocks});
      in_last.emplace_back(found->second, i);
    }
  }
  if (newest != last_number) {
    FOREBAY_TRY(last, run_->step(newest));
  }
  variables = std::move(found_variables);
  attributes.clear();
  for (const view::Attribute& attribute : last->attributes())
    if (attribute.type.value) {
      attributes.push_back(attribute);
      attributes.back().group = group_name(attribute.group);
    }
  show_all();
  return {};
}

void ReadFile::show_all() {
  groups.clear();
  for (const ReadVariable& found : variables) add_group(groups, found.group);
  for (const view::Attribute& found : attributes) add_group(groups, found.group);
  shown_variables.resize(variables.size());
  std::iota(shown_variables.begin(), shown_variables.end(), size_t{0});
  by_name_.clear();
  for (size_t i = 0; i < variables.size(); ++i) by_name_[variables[i].name].push_back(i);
  shown_attributes.resize(attributes.size());
  std::iota(shown_attributes.begin(), shown_attributes.end(), size_t{0});
}

std::optional<size_t> ReadFile::variable(std::string_view name) const {
  if (const auto found = by_name_.find(std::string(name)); found != by_name_.end())
    for (const size_t i : found->second)
      if (std::ranges::binary_search(shown_variables, i)) return i;
  for (const size_t i : shown_variables)  // of sets, names have no '/' in front
    if (variables[i].group == kNoGroup && without_slash(variables[i].name) == without_slash(name)) return i;
  return {};
}

const view::Attribute* ReadFile::attribute(std::string_view name) const {
  for (const size_t i : shown_attributes)
    if (attributes[i].name == name) return &attributes[i];
  for (const size_t i : shown_attributes)
    if (without_slash(attributes[i].name) == without_slash(name)) return &attributes[i];
  return nullptr;
}

io::Outcome<ReadFile*> file_of(const ADIOS_FILE* fp) {
  if (fp == nullptr || fp->internal_data == nullptr)
    return refuse_reading(err_invalid_file_pointer, "the file is not open",
                          "use what adios_read_open_file() or adios_read_open() returned, unless that is NULL");
  return static_cast<ReadFile*>(fp->internal_data);
}

io::Failure of_reading(const Error& error) {
  io::Failure failure(error);
  if (error.kind == ErrorKind::corrupt) failure.code = static_cast<io::Code>(err_corrupted_variable);
  if (error.kind == ErrorKind::io || error.kind == ErrorKind::changed) failure.code = io::Code::file_read;
  return failure;
}

std::unexpected<io::Failure> refuse_reading(int code, std::string what, std::string hint) {
  return io::refuse(static_cast<io::Code>(code), std::move(what), std::move(hint));
}

io::Outcome<Bytes> scalar_value(const ReadFile& file, const ReadPlace& place, uint64_t block) {
  const auto step = file.run().step(place.step);
  if (!step) return std::unexpected(of_reading(step.error()));
  const view::Array& array = (*step)->arrays()[place.array];
  const auto blocks = (*step)->blocks(place.array);
  if (!blocks) return std::unexpected(of_reading(blocks.error()));
  if (block >= blocks->size()) return refuse_reading(err_corrupted_variable, "'" + array.name + "' has no value");
  const view::WrittenBlock selection{block, {}};
  const auto bytes = view::selection_bytes(array, selection, &(*blocks)[block]);
  if (!bytes) return std::unexpected(of_reading(bytes.error()));
  Bytes value(*bytes);
  const view::Request request{step->get(), place.array, selection, value};
  const auto outcome = view::read({&request, 1}).outcomes[0];
  if (outcome.error) return std::unexpected(of_reading(*outcome.error));
  if (array.type.value == io::ValueType::string) value.push_back(std::byte{0});
  return value;
}

void* allocate_bytes(size_t bytes) {
  void* const made = std::calloc(std::max<size_t>(bytes, 1), 1);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

char* malloc_copy(std::string_view text) {
  char* const copy = allocate<char>(text.size() + 1);
  std::memcpy(copy, text.data(), text.size());
  return copy;
}

void* malloc_copy(std::span<const std::byte> bytes) {
  void* const copy = allocate_bytes(bytes.size());
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  return copy;
}

uint64_t* malloc_copy(const Shape& numbers) {
  uint64_t* const copy = allocate<uint64_t>(numbers.size());
  std::ranges::copy(numbers, copy);
  return copy;
}

}  // namespace forebay::adios
