#include "view/source/set_step.h"

#include <mutex>

#include <fmt/format.h>

#include "engine/set/array_order.h"
#include "engine/set/chunk_values.h"
#include "view/place/layout.h"
#include "view/place/meanings.h"
#include "view/place/recogniser.h"
#include "view/place/set_attributes.h"
#include "view/place/set_time.h"
#include "view/place/set_values.h"
#include "view/source/group_contents.h"
#include "view/source/piece_reader.h"
#include "view/source/set_cubes.h"

namespace forebay::view {
namespace {

constexpr uint64_t kBlockBytes = sizeof(Block) + 160;  // with its shapes
constexpr uint64_t kChunksShare = 4;                   // of the memory: for chunks with filters
constexpr std::string_view kGroupsFormat = "forebay";  // as the reader of process groups calls it

class Look final : public SetLook {
 public:
  Look(const engine::SharedReader& reader, const engine::ChunkValues& chunks) : reader_(reader), chunks_(chunks) {}

  const engine::OpenSet& set() const override { return reader_.set(); }

  Result<Bytes> file(size_t container, uint32_t file, uint64_t most_bytes) const override {
    const FileRow& row = set().containers[container].catalogue().files[file];
    if (row.size > most_bytes)
      return fail(ErrorKind::limit,
                  fmt::format("has {} bytes, more than the {} that are looked at", row.size, most_bytes), row.name);
    Bytes bytes(row.size);
    FOREBAY_TRY([[maybe_unused]] const auto cost, reader_.read_file(container, file, 0, bytes));
    return bytes;
  }

  Result<format::FileAttributes> attributes(size_t container, uint32_t file) const override {
    const std::string& format = set().containers[container].catalogue().files[file].format;
    return format::read_attributes(engine::SkeletonSource(reader_, container, file), format);
  }

  Result<GroupContents> groups(size_t container, uint32_t file) const override {
    if (set().containers[container].catalogue().files[file].format != kGroupsFormat) return GroupContents();
    return contents_of_groups(engine::SetFileSource(reader_, container, file));
  }

  Result<Bytes> values(const StoredArray& stored, uint64_t most_bytes) const override {
    const Catalogue& catalogue = set().containers[stored.container].catalogue();
    const VariableRow& row = catalogue.variables[stored.variable];
    const Shape shape = shape_of(set(), stored);
    const uint64_t elements = element_count(shape);
    if (elements > most_bytes / row.type.size)
      return fail(ErrorKind::limit,
                  fmt::format("{} has {} elements, too many to look at", catalogue.paths[row.path], elements),
                  catalogue.files[stored.file].name);
    Bytes bytes(elements * row.type.size);
    if (bytes.empty()) return bytes;
    Piece piece{.from = {}, .box = engine::whole_box(shape), .out = bytes.data(), .strides = Shape(shape.size())};
    piece.from.shape = shape;
    uint64_t stride = row.type.size;
    for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) piece.strides[d] = stride;
    std::optional<Error> error;
    read_pieces(reader_, chunks_, {&stored, 1}, {&piece, 1},
                [&](const Piece&, const Error& failure) { error = failure; });
    if (error) return std::unexpected(*error);
    return bytes;
  }

 private:
  const engine::SharedReader& reader_;
  const engine::ChunkValues& chunks_;
};

class SetStep final : public Step {
 public:
  SetStep(std::unique_ptr<engine::SharedReader> reader, StepInfo info, uint64_t index_bytes,
          const engine::Resources& resources)
      : reader_(std::move(reader)),
        chunks_(
            reader_->set(),
            [this](size_t container, uint32_t file, uint64_t begin, std::span<std::byte> out) {
              return reader_->read_file(container, file, begin, out);
            },
            [this](size_t container, uint32_t file, uint64_t begin, std::span<std::byte> out) {
              return reader_->read_skeleton(container, file, begin, out);
            },
            resources.memory_bytes / kChunksShare, resources.threads),
        info_(std::move(info)),
        cubes_(reader_->set(), index_bytes) {}

  // By the layout, if there is one.
  Result<void> find_arrays(const std::string& layout_text, bool raw) {
    Recognised found;
    found.arrays.stored = stored_arrays(reader_->set());
    find_orders(found.arrays);
    found.files = files_with_variables(reader_->set(), found.arrays.stored);
    found.is_taken.resize(found.arrays.stored.size());
    const Look look(*reader_, chunks_);
    if (!layout_text.empty()) {
      FOREBAY_TRY(const auto layout, parse_layout(layout_text));
      FOREBAY_CHECK(apply_layout(look, layout, found));
    } else {
      FOREBAY_CHECK(recognise_any(look, found));
    }
    add_plain_arrays(reader_->set(), found.is_taken, found.arrays);
    raw ? keep_stored(reader_->set(), found.arrays) : apply_meanings(look, found.arrays);
    found.arrays.finish();
    arrays_ = std::move(found.arrays);
    info_.time = found.time ? found.time : time_of_set(look, found.files);
    info_.time_index = found.time_index;
    return {};
  }

  uint64_t memory_bytes() const {
    uint64_t blocks = 0;
    for (const Array& array : arrays_.arrays) blocks += array.blocks;
    return engine::memory_of(reader_->set()) + arrays_.stored.size() * sizeof(StoredArray) +
           arrays_.arrays.size() * sizeof(Array) + blocks * kBlockBytes;
  }

  const StepInfo& info() const override { return info_; }
  const std::vector<Array>& arrays() const override { return arrays_.arrays; }
  const std::vector<Attribute>& attributes() const override { return all_attributes().attributes; }
  std::vector<std::string> dimension_names(size_t array) const override {
    const auto& blocks = arrays_.blocks[array];
    if (blocks.empty() || arrays_.arrays[array].form != Form::global) return {};
    const StoredArray& stored = arrays_.stored[blocks.front().stored.array];
    const Catalogue& catalogue = reader_->set().containers[stored.container].catalogue();
    const auto& all = all_attributes().dimensions;
    const auto found = all.find(catalogue.paths[catalogue.variables[stored.variable].path]);
    return found == all.end() || found->second.size() != arrays_.arrays[array].shape.size() ? std::vector<std::string>()
                                                                                            : found->second;
  }
  std::vector<std::string> remarks() const override { return arrays_.remarks; }
  Result<std::vector<Block>> blocks(size_t array) const override { return arrays_.blocks[array]; }

  std::shared_ptr<const StoredCubes> cubes(const Block& block) const override {
    const StoredArray& stored = arrays_.stored[block.stored.array];
    auto cubes = cubes_.find(block, stored);
    if (!cubes || !stored.has_bounds || !stored.meaning || !stored.meaning->is_packed())
      return stored.has_bounds ? cubes : nullptr;
    return std::make_shared<const StoredCubes>(meant_cubes(*cubes, *stored.meaning, stored.read_as));
  }

  Result<ReadCost> read(std::span<const Piece> pieces, const Failed& failed) const override {
    return read_meant_pieces(*reader_, chunks_, arrays_.stored, pieces, [&](const Piece& piece, const Error& error) {
      Error named = error;
      named.what = fmt::format("step {}: {}", info_.number, error.what);
      failed(piece, named);
    });
  }

 private:
  const SetAttributes& all_attributes() const {
    std::call_once(attributes_read_,
                   [this] { attributes_ = attributes_of_set(Look(*reader_, chunks_), arrays_.stored); });
    return attributes_;
  }

  // Of files of NumPy. Where the header of one is lost, its array is as the catalogue has it.
  void find_orders(Arrays& arrays) const {
    for (StoredArray& stored : arrays.stored) {
      const Catalogue& catalogue = reader_->set().containers[stored.container].catalogue();
      const auto known =
          engine::is_reversed(catalogue, stored.file, stored.variable, [&](uint64_t begin, std::span<std::byte> out) {
            return engine::SkeletonSource(*reader_, stored.container, stored.file).read_at(begin, out);
          });
      if (known)
        stored.reversed = *known;
      else
        arrays.remarks.push_back(
            fmt::format("the header of {} cannot be read, and its arrays are taken to be in C's order: {}",
                        catalogue.files[stored.file].name, known.error().message()));
    }
  }

  static Result<void> recognise_any(const Look& look, Recognised& found) {
    for (const Recogniser recognise : recognisers()) {
      FOREBAY_TRY(const bool is_known, recognise(look, found));
      if (is_known) break;
    }
    return {};
  }

  std::unique_ptr<engine::SharedReader> reader_;
  engine::ChunkValues chunks_;
  StepInfo info_;
  Arrays arrays_;
  const SetCubes cubes_;
  mutable std::once_flag attributes_read_;  // when somebody first asks for them
  mutable SetAttributes attributes_;
};

// That there is room for what is made of the indices, before it is made.
Result<void> check_memory(const engine::OpenSet& set, uint64_t memory_bytes, uint64_t number) {
  constexpr uint64_t kArrayBytes = 700;  // of an array with one block: both, and their names and shapes
  uint64_t arrays = 0;
  for (const engine::OpenContainer& container : set.containers) arrays += container.catalogue().variables.size();
  const uint64_t needed = engine::memory_of(set) + arrays * kArrayBytes;
  if (needed <= memory_bytes) return {};
  return fail(ErrorKind::limit,
              fmt::format("step {}: its {} variables take {} bytes of memory, and {} are there", number, arrays, needed,
                          memory_bytes),
              set.files.path(), {}, "give a larger memory budget (--memory)");
}

}  // namespace

Result<OpenedStep> open_set_step(const store::SetInfo& info, uint64_t number, uint64_t index_bytes,
                                 std::shared_ptr<engine::FrameCache> cache, const RunOptions& options) {
  FOREBAY_TRY(auto set, engine::open_set(info, index_bytes));
  FOREBAY_CHECK(check_memory(set, options.resources.memory_bytes / 8 * 7, number));
  StepInfo step{.number = number, .step = info.manifest->step, .time = {}, .time_index = 0, .set = info.name};
  auto reader = std::make_unique<engine::SharedReader>(std::move(set), std::move(cache), options.resources.threads);
  auto opened = std::make_shared<SetStep>(std::move(reader), std::move(step), index_bytes, options.resources);
  FOREBAY_CHECK(opened->find_arrays(options.layout, options.raw));
  const uint64_t memory_bytes = opened->memory_bytes();
  return OpenedStep{std::move(opened), memory_bytes};
}

}  // namespace forebay::view
