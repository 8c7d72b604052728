#include "io/session/open_group.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <unistd.h>

#include "base/layout.h"
#include "base/shape.h"
#include "io/file/part.h"
#include "io/group/attribute_value.h"
#include "io/method/joined.h"
#include "io/session/copy.h"

namespace forebay::io {
namespace {

constexpr uint64_t kBlockOverhead = 160;  // about what a block takes in the file beside its values and its name
constexpr uint64_t kGroupOverhead = 640;

// From here on a block is written from the program's memory, where the methods can: another process group costs less
// than a copy.
constexpr uint64_t kDirectBytes = uint64_t{4} << 20;

// What is buffered goes out when it is so much, or this part of what went out before, whatever is more: while it is in
// the cache, and in few process groups.
constexpr uint64_t kStagedBytes = uint64_t{4} << 20;
constexpr uint64_t kStagedPart = 8;

bool every_method(const Group& group, bool (*is)(const Traits&)) {
  return std::ranges::all_of(group.methods, [&](const ChosenMethod& method) { return is(method.traits); });
}

bool discards(const Traits& traits) { return traits.discards; }
bool buffers_nothing(const Traits& traits) { return traits.discards || traits.wants_early; }
bool characterises_later(const Traits& traits) { return traits.discards || traits.characterises_later; }
bool encodes_piecewise(const Traits& traits) { return !traits.encodes_at_close; }
bool spills(const Traits& traits) { return buffers_nothing(traits) || traits.overflow == Overflow::spills; }

// No rank can write much more than it has.
uint64_t total_memory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

bool is_transformed(const VariableDefinition& variable) {
  return !variable.transform.empty() && variable.transform != "none" && variable.transform != "identity";
}

bool has_transforms(const GroupDefinition& group) { return std::ranges::any_of(group.variables, is_transformed); }

uint64_t bytes_of_texts(const GroupDefinition& group) {
  uint64_t bytes = 0;
  for (const VariableDefinition& variable : group.variables) bytes += variable.name.size() + variable.path.size();
  for (const AttributeDefinition& attribute : group.attributes)
    bytes += attribute.name.size() + attribute.path.size() + attribute.value.size();
  return bytes;
}

uint64_t left_of(uint64_t limit, uint64_t held) { return limit - std::min(limit, held); }

AttributeValue value_of(const AttributeDefinition& attribute) {
  return {attribute.full_name(), attribute.type, attribute.count, attribute.value, attribute.variable};
}

}  // namespace

Outcome<std::unique_ptr<OpenGroup>> OpenGroup::open(std::shared_ptr<Group> group, OpenWish wish) {
  const bool continues = group->aggregation && wish.mode == OpenMode::append && wish.name == group->aggregation->path;
  if (!continues) FOREBAY_CHECK(write_aggregation(*group));
  std::unique_ptr<OpenGroup> open(new OpenGroup(std::move(group), std::move(wish)));
  if (!continues) FOREBAY_CHECK(open->open_files());
  open->begin_step(continues);
  return open;
}

Outcome<void> OpenGroup::open_files() {
  if (wish_.mode == OpenMode::read &&
      std::ranges::none_of(group_->methods, [](const ChosenMethod& method) { return method.traits.can_read; }))
    return refuse(Code::unsupported, "no method of group \"" + group_->definition.name + "\" reads",
                  "use MPI or POSIX, or the reading interface");
  for (const ChosenMethod& chosen : group_->methods) {
    if (wish_.mode == OpenMode::read && !chosen.traits.can_read) continue;
    FOREBAY_TRY(auto file, chosen.method->open({.path = chosen.base_path + wish_.name,
                                                .mode = wish_.mode,
                                                .group = &group_->definition,
                                                .communicator = wish_.communicator,
                                                .is_alone = wish_.is_alone}));
    files_.push_back(std::move(file));
  }
  return {};
}

// What all ranks know alike: which step it is, and at which time.
void OpenGroup::begin_step(bool continues) {
  step_.arena = group_->take_spare();
  group_->forget_scalars();
  has_joined_ = has_joined(group_->definition);
  texts_bytes_ = bytes_of_texts(group_->definition);
  ProcessGroup& head = step_.group;
  head.group = group_->definition.name;
  head.time_index_name = group_->definition.time_index;
  head.fortran_order = group_->definition.fortran_order;
  head.rank = wish_.communicator->rank();
  uint32_t last = 0;
  for (const auto& file : files_) last = std::max(last, file->standing().last_time_index);
  if (wish_.mode == OpenMode::write || wish_.mode == OpenMode::append) {
    head.time_index = group_->next_time_index(continues ? 1 : last + 1);
  } else {
    head.time_index = std::max(last, 1u);
  }
  is_kept_ = group_->definition.aggregate_bytes && (wish_.mode == OpenMode::write || wish_.mode == OpenMode::append);
  if (is_kept_ && !continues) {
    group_->aggregation.emplace();
    group_->aggregation->path = wish_.name;
    group_->aggregation->communicator = wish_.communicator;
    group_->aggregation->buffer_limit = wish_.buffer_limit;
    group_->aggregation->files = std::move(files_);
    files_.clear();
  }
}

uint64_t OpenGroup::total_size(uint64_t bytes) const {
  return bytes + kGroupOverhead + kBlockOverhead * group_->definition.variables.size() + texts_bytes_;
}

// Where all ranks may do so: what they talk about next, when the file is closed, must be the same at those that
// announce nothing. What a transform leaves is not known before.
void OpenGroup::announce(uint64_t bytes) {
  const GroupDefinition& group = group_->definition;
  if (files_.size() != 1 || wish_.mode == OpenMode::read || has_joined_ || has_transforms(group)) return;
  files_[0]->announce(slot_estimate(std::min(bytes, total_memory()), group.variables.size(), texts_bytes_,
                                    std::min(kDirectBytes, kStagedBytes)));
}

std::string OpenGroup::stored_name(size_t variable) const {
  VariableDefinition renamed;
  const VariableDefinition& definition = group_->definition.variables[variable];
  const auto own = paths_.find(variable);
  if (own == paths_.end() && !path_) return definition.full_name();
  renamed.name = definition.name;
  renamed.path = own != paths_.end() ? own->second : *path_;
  return renamed.full_name();
}

Outcome<Block> OpenGroup::block_of(size_t variable, uint64_t& bytes) {
  const VariableDefinition& definition = group_->definition.variables.at(variable);
  FOREBAY_TRY(Extents extents, evaluate(group_->definition, group_->names(), definition, scalars_));
  Block block;
  block.name = stored_name(variable);
  block.type = definition.type;
  block.is_array = extents.is_array;
  block.shape = std::move(extents.shape);
  block.global_shape = std::move(extents.global_shape);
  block.offsets = std::move(extents.offsets);
  block.joined = extents.joined;
  if (block.is_array) block.transform = definition.transform;
  const uint64_t size = element_bytes(definition.type);
  if (size == 0 || __builtin_mul_overflow(element_count(block.shape), size, &bytes))
    return refuse(Code::invalid_dimension, "variable \"" + block.name + "\" cannot be written: its blocks have no size",
                  "arrays of strings are for attributes; the elements of a block must be countable in 64 bits");
  return block;
}

Outcome<uint64_t> expected_bytes(Group& group, size_t variable) {
  const VariableDefinition& definition = group.definition.variables.at(variable);
  FOREBAY_TRY(const Extents extents, evaluate(group.definition, group.names(), definition, group.scalars()));
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(element_count(extents.shape), element_bytes(definition.type), &bytes))
    return refuse(Code::invalid_dimension, "variable \"" + definition.full_name() + "\" is too large");
  return bytes;
}

void OpenGroup::remember(const VariableDefinition& definition, const void* value) {
  const auto number = integer_value(definition.type, value);
  if (!number) return;
  scalars_[definition.full_name()] = *number;
  group_->remember(definition.full_name(), *number);
}

uint64_t OpenGroup::buffered_bytes() const {
  return step_.arena.used() + overhead_bytes_ + (group_->aggregation ? group_->aggregation->bytes : 0);
}

Statistics OpenGroup::statistics() const {
  return every_method(*group_, characterises_later) ? Statistics::none : group_->definition.statistics;
}

bool OpenGroup::fits(uint64_t cost) const {
  if (!wish_.buffer_limit) return true;
  const uint64_t held = counted_bytes();
  return held <= *wish_.buffer_limit && cost <= *wish_.buffer_limit - held;
}

// Whether a write is refused must not depend on when other ranks announce what they write.
uint64_t OpenGroup::overhead_of(const Block& block, const VariableDefinition& definition, uint64_t bytes) const {
  const bool is_encoded = block.is_array && is_transformed(definition) && !every_method(*group_, encodes_piecewise);
  // At the close encoded values lie beside the others, and are not more.
  return sizeof(Block) + block.name.size() + 8 * (block.shape.size() * 3) + (is_encoded ? Arena::cost(bytes) : 0);
}

uint64_t OpenGroup::counted_bytes() const {
  return buffered_bytes() + (every_method(*group_, spills) ? 0 : gone_out_bytes_);
}

std::unexpected<Failure> OpenGroup::overflow(const std::string& name, uint64_t bytes) {
  has_overflowed_ = true;
  return refuse(
      Code::buffer_overflow,
      "variable \"" + name + "\" of " + std::to_string(bytes) +
          " bytes does not fit: what was written since the open takes " + std::to_string(counted_bytes()) + " of " +
          std::to_string(wish_.buffer_limit.value_or(0)) + " bytes already",
      "raise the limit of the buffer (max-size-MB, adios_set_max_buffer_size), or write less between open and close",
      {}, ErrorKind::limit);
}

// Whether blocks may be written before the close at all.
bool OpenGroup::can_go_out() const {
  return !is_kept_ && handed_out_.empty() && !has_joined_ && !every_method(*group_, buffers_nothing);
}

// Whether every file can take what is buffered, and a block of `bytes` with it.
bool OpenGroup::has_room(uint64_t bytes) const {
  const uint64_t bound = part_bound(step_.arena.used() + bytes, step_.group.blocks.size() + 1, dimensions_ + kMaxDims,
                                    texts_bytes_ + block_texts_);
  for (size_t method = 0; method < files_.size(); ++method)
    if (!buffers_nothing(group_->methods[method].traits) && files_[method]->room() < bound) return false;
  return true;
}

// What is buffered goes out as a process group of its own. What was handed out may still be written to.
Outcome<void> OpenGroup::spill() {
  size_t method = 0;
  for (const auto& file : files_) {
    const Traits& traits = group_->methods[method++].traits;
    if (buffers_nothing(traits)) continue;
    fill_head(step_.group, file->standing());
    FOREBAY_CHECK(file->spill(step_.group));
  }
  for (const Block& block : step_.group.blocks) gone_out_bytes_ += Arena::cost(block.bytes.size());
  gone_out_bytes_ += overhead_bytes_;
  step_.group.blocks.clear();
  step_.group.attributes.clear();
  step_.arena.clear();
  overhead_bytes_ = dimensions_ = block_texts_ = 0;
  return {};
}

Outcome<void> OpenGroup::write(size_t variable, const void* values) {
  if (wish_.mode == OpenMode::read)
    return refuse(Code::unsupported, "a file that is open for reading cannot be written",
                  "open it with mode w, a or u");
  const VariableDefinition& definition = group_->definition.variables.at(variable);
  uint64_t bytes = 0;
  FOREBAY_TRY(Block block, block_of(variable, bytes));
  if (!values && bytes > 0)
    return refuse(Code::invalid_argument, "variable \"" + block.name + "\" is written from a null pointer");
  if (definition.type == ValueType::string && !block.is_array) bytes = std::strlen(static_cast<const char*>(values));
  if (!block.is_array) remember(definition, values);
  if (every_method(*group_, discards)) return {};
  return add(std::move(block), {static_cast<const std::byte*>(values), bytes}, definition);
}

Outcome<void> OpenGroup::add(Block block, std::span<const std::byte> values, const VariableDefinition& definition) {
  const uint64_t overhead = overhead_of(block, definition, values.size());
  const bool buffers = !every_method(*group_, buffers_nothing);
  const uint64_t cost = overhead + (buffers ? Arena::cost(values.size()) : 0);
  const bool can_spill = can_go_out() && every_method(*group_, spills);
  if (buffers && !can_spill && !fits(cost)) return overflow(block.name, values.size());
  bool borrows = !buffers || (can_go_out() && values.size() >= kDirectBytes && has_room(values.size()));
  if (!fits(cost) && !borrows) {
    if (!step_.group.blocks.empty()) FOREBAY_CHECK(spill());
    borrows = !fits(cost);  // larger than all of the buffer: goes out from the program's memory
  }
  std::span<std::byte> into;
  if (!borrows && !values.empty()) {
    into = step_.arena.allocate(values.size());
    if (into.empty())
      return refuse(Code::no_memory, "there is no memory for variable \"" + block.name + "\" of " +
                                         std::to_string(values.size()) + " bytes");
  }
  // Whoever writes it looks at it meanwhile.
  if (borrows && buffers && files_.size() == 1 && !definition.histogram) {
    block.bytes = values;
    block.is_characterised = statistics() == Statistics::none;
  } else {
    take_values(block, values, into, statistics(), definition.histogram ? &*definition.histogram : nullptr);
  }
  for (size_t method = 0; method < files_.size(); ++method)
    if (group_->methods[method].traits.wants_early) {
      fill_head(step_.group, files_[method]->standing());
      FOREBAY_CHECK(files_[method]->write(step_.group, block));
    }
  if (!buffers) block.bytes = {};
  overhead_bytes_ += overhead;
  dimensions_ += block.shape.size();
  block_texts_ += block.name.size() + block.transform.size() + 16 * block.histogram.size();
  step_.group.blocks.push_back(std::move(block));
  if (!buffers) return {};
  if (!borrows) {
    const bool is_much = step_.arena.used() >= std::max(kStagedBytes, gone_out_bytes_ / kStagedPart);
    return is_much && can_go_out() && has_room(0) ? spill() : Outcome<void>{};
  }
  Outcome<void> spilled = spill();
  if (!spilled) step_.group.blocks.pop_back();  // the bytes are the program's again
  return spilled;
}

Outcome<std::span<std::byte>> OpenGroup::hand_out(size_t variable, uint64_t wanted) {
  if (wish_.mode == OpenMode::read) return refuse(Code::unsupported, "a file that is open for reading has no buffers");
  uint64_t bytes = 0;
  FOREBAY_TRY(Block block, block_of(variable, bytes));
  if (block.type == ValueType::string && !block.is_array) bytes = wanted;
  if (wanted > bytes)
    return refuse(Code::read_size_mismatch, "variable \"" + block.name + "\" has " + std::to_string(bytes) +
                                                " bytes, and " + std::to_string(wanted) + " were asked for");
  const uint64_t cost = overhead_of(block, group_->definition.variables.at(variable), bytes) + Arena::cost(bytes);
  if (!fits(cost)) return overflow(block.name, bytes);
  const auto memory = step_.arena.allocate(bytes);
  if (memory.empty() && bytes > 0) return refuse(Code::no_memory, "there is no memory for \"" + block.name + "\"");
  block.bytes = memory;
  overhead_bytes_ += cost - Arena::cost(bytes);
  handed_out_.push_back({step_.group.blocks.size(), variable});
  step_.group.blocks.push_back(std::move(block));
  return memory;
}

Outcome<void> OpenGroup::read(std::string_view name, std::span<std::byte> into) {
  if (wish_.mode != OpenMode::read)
    return refuse(Code::unsupported, "a file that is open for writing cannot be read", "open it with mode r");
  readings_.push_back({std::string(name), into});
  return {};
}

void OpenGroup::fill_head(ProcessGroup& head, const Standing& standing) const {
  const bool is_update = wish_.mode == OpenMode::update;
  head.step = is_update && standing.steps > 0 ? standing.steps - 1 : standing.steps;
  if (!head.attributes.empty()) return;
  for (const AttributeDefinition& attribute : group_->definition.attributes)
    head.attributes.push_back(value_of(attribute));
}

Outcome<void> OpenGroup::close() {
  if (wish_.mode == OpenMode::read) return close_reading();
  for (const HandedOut& lent : handed_out_) {
    Block& block = step_.group.blocks[lent.block];
    const VariableDefinition& definition = group_->definition.variables[lent.variable];
    if (!block.is_array && block.bytes.size() > 0) remember(definition, block.bytes.data());
    take_values(block, block.bytes, {}, statistics(), definition.histogram ? &*definition.histogram : nullptr);
  }
  return is_kept_ ? keep() : close_writing();
}

// Every method gets its turn, whatever became of those before.
Outcome<void> OpenGroup::close_writing() {
  Outcome<void> result;
  for (size_t method = 0; method < files_.size(); ++method) {
    const Traits& traits = group_->methods[method].traits;
    fill_head(step_.group, files_[method]->standing());
    const bool is_last = method + 1 == files_.size();
    ProcessGroup group = is_last ? std::move(step_.group) : step_.group;
    if (traits.wants_early)
      for (Block& block : group.blocks) block.bytes = {};
    if (wish_.buffer_limit) files_[method]->leave(left_of(*wish_.buffer_limit, buffered_bytes()));
    Outcome<void> closed = files_[method]->close({&group, 1});
    if (closed && has_overflowed_ && traits.overflow == Overflow::fails_at_close)
      closed =
          refuse(Code::buffer_overflow, "some of what was written did not fit into the buffer and is not in the file",
                 "raise the limit of the buffer", {}, ErrorKind::limit);
    if (result && !closed) result = std::move(closed);
  }
  files_.clear();
  step_.group = {};
  step_.arena.clear();
  group_->give_spare(std::move(step_.arena));
  return result;
}

Outcome<void> OpenGroup::close_reading() {
  Outcome<void> result;
  for (const Reading& reading : readings_) {
    Outcome<void> read = files_.front()->read(reading.name, reading.into);
    if (result && !read) result = std::move(read);
  }
  for (const auto& file : files_) {
    Outcome<void> closed = file->close({});
    if (result && !closed) result = std::move(closed);
  }
  return result;
}

// The step stays in memory. All ranks write when one of them could not keep another step of its size.
Outcome<void> OpenGroup::keep() {
  Aggregation& aggregation = *group_->aggregation;
  const uint64_t bytes = step_.arena.used() + overhead_bytes_;
  aggregation.steps.push_back(std::move(step_));
  aggregation.bytes += bytes;
  aggregation.largest = std::max(aggregation.largest, bytes);
  uint64_t room = *group_->definition.aggregate_bytes;
  if (wish_.buffer_limit) room = std::min(room, *wish_.buffer_limit);
  const bool is_full = aggregation.bytes + aggregation.largest > room;
  FOREBAY_TRY(const uint64_t full_ranks, wish_.communicator->all_reduce(is_full, Reduction::sum));
  if (full_ranks == 0) return {};
  return write_aggregation(*group_);
}

Outcome<void> write_aggregation(Group& group) {
  if (!group.aggregation) return {};
  Aggregation aggregation = std::move(*group.aggregation);
  group.aggregation.reset();
  Outcome<void> result;
  for (size_t method = 0; method < aggregation.files.size(); ++method) {
    OpenFile& file = *aggregation.files[method];
    std::vector<ProcessGroup> groups;
    for (const WrittenStep& step : aggregation.steps) {
      groups.push_back(step.group);
      groups.back().step = file.standing().steps + groups.size() - 1;
      for (const AttributeDefinition& attribute : group.definition.attributes)
        groups.back().attributes.push_back(value_of(attribute));
    }
    if (aggregation.buffer_limit) file.leave(left_of(*aggregation.buffer_limit, aggregation.bytes));
    Outcome<void> closed = file.close(groups);
    if (result && !closed) result = std::move(closed);
  }
  return result;
}

}  // namespace forebay::io
