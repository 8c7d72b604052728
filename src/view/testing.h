// A run that lies in memory, for tests of what reads runs. Of the tests only.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "view/source/run.h"

namespace forebay::view {

template <class T>
ElementType element_type_of() {
  const Kind kind = std::is_floating_point_v<T> ? Kind::floating
                    : std::is_signed_v<T>       ? Kind::signed_int
                                                : Kind::unsigned_int;
  return element_type(DataType{kind, ByteOrder::little, sizeof(T)});
}

// Calls visit(index) for each index of an array of that shape, in C order.
inline void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& visit) {
  if (element_count(shape) == 0) return;
  Shape at(shape.size());
  while (true) {
    visit(at);
    size_t d = shape.size();
    while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

// The place of an element among those of an array of that shape.
inline uint64_t place_in(const Shape& shape, const Shape& at) {
  uint64_t place = 0;
  for (size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + at[d];
  return place;
}

// An array of that shape, cut into some boxes at random.
inline std::vector<Box> random_cuts(std::mt19937& random, const Shape& shape) {
  std::vector<Box> boxes{engine::whole_box(shape)};
  for (int cut = 0; cut < 6; ++cut) {
    Box& box = boxes[random() % boxes.size()];
    const size_t d = random() % shape.size();
    if (box.count[d] < 2) continue;
    Box other = box;
    box.count[d] = 1 + random() % (box.count[d] - 1);
    other.begin[d] += box.count[d];
    other.count[d] -= box.count[d];
    boxes.push_back(other);
  }
  return boxes;
}

// Each box with the rank that wrote it: its place in the list.
inline std::vector<std::pair<uint32_t, Box>> by_ranks(const std::vector<Box>& boxes) {
  std::vector<std::pair<uint32_t, Box>> places;
  for (const Box& box : boxes) places.emplace_back(places.size(), box);
  return places;
}

// A step whose stored arrays are vectors. Add everything before the step is shared.
class MemoryStep final : public Step {
 public:
  struct Stored {
    Shape shape;  // all of it, leading dimensions included
    Bytes bytes;  // native byte order
  };

  explicit MemoryStep(StepInfo info) { info_ = std::move(info); }

  const StepInfo& info() const override { return info_; }
  const std::vector<Array>& arrays() const override { return arrays_; }
  const std::vector<Attribute>& attributes() const override { return attributes_; }

  std::vector<std::string> remarks() const override { return remarked; }

  Result<std::vector<Block>> blocks(size_t array) const override {
    if (broken_index.contains(array))
      return fail(ErrorKind::corrupt, "the index of array " + arrays_.at(array).name + " is damaged");
    return blocks_.at(array);
  }

  std::shared_ptr<const StoredCubes> cubes(const Block& block) const override {
    const auto found = stored_cubes.find(block.stored.array);
    return found == stored_cubes.end() ? nullptr : std::make_shared<StoredCubes>(found->second);
  }

  // Takes elements one by one; a piece of a stored array in `damaged` fails.
  Result<ReadCost> read(std::span<const Piece> pieces, const Failed& failed) const override {
    ReadCost cost;
    std::set<uint64_t> touched;
    for (const Piece& piece : pieces) {
      ++pieces_read;
      if (damaged.contains(piece.from.array)) {
        failed(piece, Error{ErrorKind::corrupt, "frame of stored array " + std::to_string(piece.from.array) +
                                                    " does not match its checksum"});
        continue;
      }
      const Stored& stored = stored_.at(piece.from.array);
      touched.insert(piece.from.array);
      const uint64_t size = stored.bytes.size() / element_count(stored.shape);
      for_each_index(piece.box.count, [&](const Shape& index) {
        std::byte* out = piece.out;
        Shape at = index;
        for (size_t d = 0; d < at.size(); ++d) {
          out += index[d] * piece.strides[d];
          at[d] += piece.box.begin[d] + (piece.from.begin.empty() ? 0 : piece.from.begin[d]);
        }
        const Shape lead(stored.shape.begin(),
                         stored.shape.begin() + static_cast<ptrdiff_t>(piece.from.leading.size()));
        uint64_t place = piece.from.flat.value_or(place_in(lead, piece.from.leading) * element_count(piece.from.shape));
        place += place_in(piece.from.shape, at);
        std::memcpy(out, stored.bytes.data() + place * size, size);
      });
    }
    for (const uint64_t array : touched) {
      cost.read_bytes += stored_[array].bytes.size();
      cost.decoded_bytes += stored_[array].bytes.size();
      ++cost.frames;
    }
    return cost;
  }

  // Adds what is stored, and tells its number.
  uint64_t add_stored(Shape shape, Bytes bytes) {
    stored_.push_back({std::move(shape), std::move(bytes)});
    return stored_.size() - 1;
  }

  // Adds an array with its blocks, where its name belongs; completes `blocks` and `characteristics`.
  void add_array(Array array, std::vector<Block> blocks) {
    array.blocks = blocks.size();
    container::Characteristics all;
    const bool known =
        std::ranges::all_of(blocks, [](const Block& block) { return block.characteristics.has_value(); });
    for (const Block& block : blocks)
      if (block.characteristics) all.merge(*block.characteristics);
    if (known && !blocks.empty()) array.characteristics = all;
    const auto at = std::ranges::lower_bound(arrays_, array.name, {}, &Array::name) - arrays_.begin();
    blocks_.insert(blocks_.begin() + at, std::move(blocks));
    arrays_.insert(arrays_.begin() + at, std::move(array));
  }

  void add_attribute(Attribute attribute) {
    const auto at = std::ranges::lower_bound(attributes_, attribute.name, {}, &Attribute::name);
    attributes_.insert(at, std::move(attribute));
  }

  // One stored array of that box for each rank; value(global index) is what the elements are.
  template <class T>
  void add_global(const std::string& name, const Shape& shape, const std::vector<std::pair<uint32_t, Box>>& places,
                  const std::function<T(const Shape&)>& value) {
    std::vector<Block> blocks;
    for (const auto& [rank, box] : places) blocks.push_back(block_of<T>(rank, box, value));
    add_array({.name = name,
               .type = element_type_of<T>(),
               .form = shape.empty() ? Form::scalar : Form::global,
               .shape = shape},
              std::move(blocks));
  }

  // Each rank's own array; value(rank, index in it).
  template <class T>
  void add_local(const std::string& name, const std::vector<Shape>& shapes,
                 const std::function<T(uint32_t, const Shape&)>& value) {
    std::vector<Block> blocks;
    for (uint32_t rank = 0; rank < shapes.size(); ++rank)
      blocks.push_back(
          block_of<T>(rank, engine::whole_box(shapes[rank]), [&](const Shape& at) { return value(rank, at); }));
    add_array({.name = name, .type = element_type_of<T>(), .form = Form::local, .shape = shapes.at(0)},
              std::move(blocks));
  }

  std::map<uint64_t, StoredCubes> stored_cubes;  // by stored array
  std::vector<std::string> remarked;
  std::set<uint64_t> damaged;     // stored arrays that cannot be read
  std::set<size_t> broken_index;  // arrays whose blocks cannot be told
  mutable std::atomic<uint64_t> pieces_read = 0;

 private:
  template <class T>
  Block block_of(uint32_t rank, const Box& box, const std::function<T(const Shape&)>& value) {
    std::vector<T> values;
    for_each_index(box.count, [&](const Shape& index) {
      Shape at = index;
      for (size_t d = 0; d < at.size(); ++d) at[d] += box.begin[d];
      values.push_back(value(at));
    });
    const auto bytes = std::as_bytes(std::span(values));
    const ElementType type = element_type_of<T>();
    Block block{.rank = rank, .place = box, .stored = {.array = stored_.size(), .shape = box.count}};
    block.characteristics = container::characterise(type.data, bytes);
    add_stored(box.count, Bytes(bytes.begin(), bytes.end()));
    return block;
  }

  StepInfo info_;
  std::vector<Array> arrays_;
  std::vector<Attribute> attributes_;
  std::vector<std::vector<Block>> blocks_;
  std::vector<Stored> stored_;
};

// Steps that are there, those that will come with refresh(), and those that were pruned.
class MemoryRun final : public Run {
 public:
  std::vector<StepInfo> steps() const override {
    std::vector<StepInfo> infos;
    for (const auto& step : now) infos.push_back(step->info());
    return infos;
  }

  Result<std::shared_ptr<const Step>> step(uint64_t number) const override {
    if (number >= now.size())
      return fail(ErrorKind::invalid_argument, "there is no step " + std::to_string(number), path_);
    if (pruned.contains(number))
      return fail(ErrorKind::changed, "step " + std::to_string(number) + " was removed", path_);
    ++opened;
    return now[number];
  }

  Result<uint64_t> refresh() override {
    const uint64_t came = later.size();
    now.insert(now.end(), later.begin(), later.end());
    later.clear();
    return came;
  }

  const std::string& path() const override { return path_; }

  std::vector<std::shared_ptr<const MemoryStep>> now, later;
  std::set<uint64_t> pruned;
  mutable std::atomic<uint64_t> opened = 0;

 private:
  std::string path_ = "memory";
};

}  // namespace forebay::view
