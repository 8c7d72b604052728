// A group between open and close: what is written or to be read, at one rank.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/group/failure.h"
#include "io/group/process_group.h"
#include "io/method/method.h"
#include "io/session/group.h"

namespace forebay::io {

struct OpenWish {
  std::string name;  // without base path
  OpenMode mode = OpenMode::write;
  std::shared_ptr<Communicator> communicator;
  bool is_alone = false;
  std::optional<uint64_t> buffer_limit;
};

// Used by one thread at a time. Session makes and closes it.
class OpenGroup {
 public:
  // Collective. A step of a group that is aggregated into another file is written before.
  static Outcome<std::unique_ptr<OpenGroup>> open(std::shared_ptr<Group> group, OpenWish wish);

  Group& group() { return *group_; }
  Communicator& communicator() { return *wish_.communicator; }

  // An estimate of what `bytes` of values will take in the file, at this rank.
  uint64_t total_size(uint64_t bytes) const;

  // What this rank is about to write until the close, in bytes of values, as far as the program knows. Not collective,
  // and no more than a hint: the methods may set room aside in the file.
  void announce(uint64_t bytes);

  // invalid_name with the nearest one.
  Outcome<size_t> variable(std::string_view name) { return group_->names().variable(name); }

  // Writes what variable number `variable` is defined as from `values`, which is free afterwards; of a string, `values`
  // is a char*. Errors: as evaluate()'s; invalid_argument if there are no values; buffer_overflow, and what was written
  // stays; what spilling says; unsupported in mode read.
  Outcome<void> write(size_t variable, const void* values);

  // Memory of the group that is looked at when it is closed. `wanted` bytes, or all if it is 0. read_size_mismatch if
  // more is wanted than the variable has.
  Outcome<std::span<std::byte>> hand_out(size_t variable, uint64_t wanted);

  // What is written from now on lies at `path`: all variables, or one.
  void set_path(std::string path) { path_ = std::move(path); }
  void set_path(size_t variable, std::string path) { paths_[variable] = std::move(path); }

  // Filled when the group is closed. unsupported in other modes; invalid_name.
  Outcome<void> read(std::string_view name, std::span<std::byte> into);

  // Collective, called once and last. Errors of one rank are told to all.
  Outcome<void> close();

  // What this rank holds in buffers, with that of steps that are kept, at most the limit.
  uint64_t buffered_bytes() const;

 private:
  struct Reading {
    std::string name;
    std::span<std::byte> into;
  };
  struct HandedOut {
    size_t block, variable;  // places in the step and in the definition
  };
  OpenGroup(std::shared_ptr<Group> group, OpenWish wish) : group_(std::move(group)), wish_(std::move(wish)) {}

  Outcome<void> open_files();
  void begin_step(bool continues);
  Outcome<Block> block_of(size_t variable, uint64_t& bytes);
  std::string stored_name(size_t variable) const;
  void remember(const VariableDefinition& definition, const void* value);
  Outcome<void> add(Block block, std::span<const std::byte> values, const VariableDefinition& definition);
  Statistics statistics() const;  // that are computed here
  uint64_t overhead_of(const Block& block, const VariableDefinition& definition, uint64_t bytes) const;
  uint64_t counted_bytes() const;
  bool fits(uint64_t cost) const;
  bool can_go_out() const;
  bool has_room(uint64_t bytes) const;
  std::unexpected<Failure> overflow(const std::string& name, uint64_t bytes);
  Outcome<void> spill();
  void fill_head(ProcessGroup& head, const Standing& standing) const;
  Outcome<void> close_reading();
  Outcome<void> close_writing();
  Outcome<void> keep();

  std::shared_ptr<Group> group_;
  OpenWish wish_;
  std::vector<std::unique_ptr<OpenFile>> files_;  // by method; those of an aggregation are the group's
  WrittenStep step_;
  ScalarValues scalars_;         // that were written into this file
  bool has_joined_ = false;      // the definition
  uint64_t texts_bytes_ = 0;     // of names and attributes of the definition
  uint64_t dimensions_ = 0;      // of the blocks of the step, together
  uint64_t block_texts_ = 0;     // bytes of their names, transforms and histograms
  uint64_t overhead_bytes_ = 0;  // of blocks beside their values
  uint64_t gone_out_bytes_ = 0;  // of what was buffered or borrowed and is in the file
  std::optional<std::string> path_;
  std::map<size_t, std::string> paths_;
  std::vector<HandedOut> handed_out_;
  std::vector<Reading> readings_;
  bool is_kept_ = false;  // for aggregation
  bool has_overflowed_ = false;
};

// The bytes of the block that would be written now. Errors as evaluate()'s.
Outcome<uint64_t> expected_bytes(Group& group, size_t variable);

// Writes the steps that are kept of a group, if there are any. Collective over the ranks that opened their file.
Outcome<void> write_aggregation(Group& group);

}  // namespace forebay::io
