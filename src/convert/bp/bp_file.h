// A BP file that is written, step by step.
#pragma once

#include <vector>

#include "bp/observer.h"
#include "bp/write.h"
#include "convert/bp/bp_step.h"
#include "convert/target/new_target.h"

namespace forebay::convert {

class BpFile {
 public:
  // `most_index_bytes`: what the indices may take, which are kept until the end.
  BpFile(NewTarget target, bp::Depth statistics, uint64_t most_index_bytes)
      : target_(std::move(target)), statistics_(statistics), most_index_bytes_(most_index_bytes) {}

  // Lays the step out behind what is there. `step` and `plan`, whose datasets are its blocks, must outlive end_step().
  // no_space.
  Result<void> begin_step(const BpStep& step, const Plan& plan);

  // A piece of one of its blocks. Pieces of one block do not overlap, and together they are all of it.
  Result<void> write(const Piece& piece);

  // All pieces were written: writes what stands before the blocks, and the attributes. limit for indices.
  Result<void> end_step();

  // Writes the indices; as Sink::commit().
  Result<void> commit(bool overwrite);

 private:
  struct Slot {  // of a block
    uint64_t entry = 0, payload = 0;
    bp::Observer observer;
    Bytes value;  // of a scalar or a string
  };

  Bytes head_of(size_t block) const;
  Result<void> write_at(uint64_t offset, std::span<const std::byte> bytes);
  Result<void> end_group(const BpGroup& group, uint64_t begin);
  void index_blocks();
  void index_block(size_t block);

  NewTarget target_;
  const bp::Depth statistics_;
  const uint64_t most_index_bytes_;
  bp::IndexWriter index_;
  uint64_t end_ = 0;  // of the process groups
  const BpStep* step_ = nullptr;
  const Plan* plan_ = nullptr;
  std::vector<Slot> slots_;             // of the step's blocks
  std::vector<uint64_t> group_begins_;  // and where its groups lie
};

}  // namespace forebay::convert
