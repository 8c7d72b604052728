// One step that can be read, whatever it is stored in.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "container/cubes.h"
#include "view/model/array.h"

namespace forebay::view {

// A box of a stored array, and where its elements go.
struct Piece {
  StoredPart from;                // `shape` and `begin` as a block has them
  Box box;                        // of the block: counted from the block's first element
  std::byte* out = nullptr;       // where the box's first element goes
  std::vector<uint64_t> strides;  // bytes from an element to the next one in `out`, for each dimension of the box
  size_t tag = 0;                 // for the caller: what it belongs to
};

// The cubes of a stored array.
struct StoredCubes {
  container::CubeGrid grid;  // of all dimensions of the stored array
  std::vector<container::Cube> cubes;
};

// What a read costs, for those who want to know.
struct ReadCost {
  uint64_t read_bytes = 0;     // of containers
  uint64_t decoded_bytes = 0;  // raw bytes of what was decoded, references included
  uint64_t frames = 0;         // that were decoded, or parts of them
  uint64_t cached = 0;         // that were found decoded

  void add(const ReadCost& other);  // costs of several reads together
};

// Thread-safe.
class Step {
 public:
  virtual ~Step() = default;

  virtual const StepInfo& info() const = 0;

  // Sorted by name; each name once.
  virtual const std::vector<Array>& arrays() const = 0;
  virtual const std::vector<Attribute>& attributes() const = 0;

  // What the file calls the dimensions of arrays()[array], slowest first: as many as the array has, of which some may
  // be empty; none where files name none.
  virtual std::vector<std::string> dimension_names(size_t) const { return {}; }

  // arrays()[array] for those who read values: its characteristics may be those of another step.
  virtual const Array& array(size_t array) const { return arrays()[array]; }

  // What ranks disagree about (global dimensions, attributes), and what was taken as local because descriptions of its
  // place make no sense: sentences for people, each naming the variable or file.
  virtual std::vector<std::string> remarks() const { return {}; }

  // The blocks of arrays()[array], in the order in which they were written: where two overlap the later one counts.
  // Reads indices, never values. corrupt, limit, io.
  virtual Result<std::vector<Block>> blocks(size_t array) const = 0;

  // The same with the characteristics of each block, where there are any; corrupt if one is larger than what is stored
  // can be. Of files that grow it reads the index of each process group.
  virtual Result<std::vector<Block>> characterised_blocks(size_t array) const { return blocks(array); }

  // The cubes of the stored array that a block of this step is a part of, or null: they are not there, cannot be read,
  // or say nothing of the block, as it is not a box of that array. Reads an index, never values.
  virtual std::shared_ptr<const StoredCubes> cubes(const Block&) const { return nullptr; }

  // Reads the pieces, each frame once, and converts numbers to the machine's byte order. Every byte is checked. Calls
  // `failed` for each piece of which something could not be read (corrupt, with variable, rank and frame; what was
  // written to `out` is undefined) and goes on with the others; an error of its own only where nothing more can be read
  // (io, limit, changed).
  using Failed = std::function<void(const Piece& piece, const Error& error)>;
  virtual Result<ReadCost> read(std::span<const Piece> pieces, const Failed& failed) const = 0;
};

// The array of that name in arrays(); with or without a '/' in front if that is unique. not_found with the nearest
// names in the hint.
Result<size_t> find_array(const Step& step, std::string_view name);

}  // namespace forebay::view
