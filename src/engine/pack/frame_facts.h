// What is learnt of the data while a frame passes: checksums of files, characteristics and cubes of variables.
#pragma once

#include <cstdint>
#include <vector>

#include "base/checksum.h"
#include "container/characteristics.h"
#include "engine/pack/running_cubes.h"
#include "engine/set/frame_io.h"
#include "merge/plan.h"

namespace forebay::engine {

// One frame's share. Made by any thread, added up by one.
struct FrameFacts {
  struct OfFile {
    uint32_t file;
    FileCrc crc;
  };
  struct OfVariable {
    uint32_t variable;
    container::Characteristics values;
  };
  struct OfCubes {
    uint32_t variable;
    container::CubeStretch cubes;
  };
  std::vector<OfFile> files;
  std::vector<OfVariable> variables;
  std::vector<OfCubes> cubes;
};

// The CRC shares of the files that a frame has pieces of.
FrameFacts crc_facts(const merge::Plan& plan, const RawFrame& frame);

// The same, and the characteristics of the numbers in it, and the cubes that `cubes` adds up. Frames of the agnostic
// schemes know of no variables.
FrameFacts all_facts(const merge::Plan& plan, const RawFrame& frame, const RunningCubes& cubes);

// The sum of all frames' facts. Frames must be added in the order of their numbers: sums of values depend on it.
class RunningFacts {
 public:
  explicit RunningFacts(const Catalogue& catalogue);

  void add(const FrameFacts& facts);

  std::vector<uint64_t> file_crcs() const;  // per file of the catalogue
  bool is_whole(uint32_t file) const;       // whether all bytes of the file have been seen
  std::vector<container::Characteristics> take_characteristics() { return std::move(characteristics_); }

 private:
  const Catalogue& catalogue_;
  std::vector<FileCrc> crcs_;
  std::vector<container::Characteristics> characteristics_;
};

}  // namespace forebay::engine
