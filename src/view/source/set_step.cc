#include "view/source/set_step.h"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "view/place/layout.h"
#include "view/place/recogniser.h"
#include "view/place/set_attributes.h"
#include "view/source/group_contents.h"
#include "view/source/piece_reader.h"

namespace forebay::view {
namespace {

constexpr size_t kKeptCubes = 16;                      // variables of containers
constexpr uint64_t kBlockBytes = sizeof(Block) + 160;  // with its shapes
constexpr std::string_view kGroupsFormat = "forebay";  // as the reader of process groups calls it

class Look final : public SetLook {
 public:
  explicit Look(const engine::SharedReader& reader) : reader_(reader) {}

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
    const Shape& shape = catalogue.shapes[row.shape];
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
    read_pieces(reader_, {&stored, 1}, {&piece, 1}, [&](const Piece&, const Error& failure) { error = failure; });
    if (error) return std::unexpected(*error);
    return bytes;
  }

 private:
  const engine::SharedReader& reader_;
};

class SetStep final : public Step {
 public:
  SetStep(std::unique_ptr<engine::SharedReader> reader, StepInfo info, uint64_t index_bytes)
      : reader_(std::move(reader)), info_(std::move(info)), index_bytes_(index_bytes) {}

  // By the layout, if there is one.
  Result<void> find_arrays(const std::string& layout_text) {
    Recognised found;
    found.arrays.stored = stored_arrays(reader_->set());
    found.files = files_with_variables(reader_->set(), found.arrays.stored);
    found.is_taken.resize(found.arrays.stored.size());
    const Look look(*reader_);
    if (!layout_text.empty()) {
      FOREBAY_TRY(const auto layout, parse_layout(layout_text));
      FOREBAY_CHECK(apply_layout(look, layout, found));
    } else {
      FOREBAY_CHECK(recognise_any(look, found));
    }
    add_plain_arrays(reader_->set(), found.is_taken, found.arrays);
    found.arrays.finish();
    arrays_ = std::move(found.arrays);
    if (found.time) info_.time = found.time;
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
  const std::vector<Attribute>& attributes() const override {
    std::call_once(attributes_read_, [this] { attributes_ = attributes_of_set(Look(*reader_), arrays_.stored); });
    return attributes_;
  }
  std::vector<std::string> remarks() const override { return arrays_.remarks; }
  Result<std::vector<Block>> blocks(size_t array) const override { return arrays_.blocks[array]; }

  std::shared_ptr<const StoredCubes> cubes(const Block& block) const override {
    const StoredArray& stored = arrays_.stored[block.stored.array];
    const Catalogue& catalogue = reader_->set().containers[stored.container].catalogue();
    const VariableRow& variable = catalogue.variables[stored.variable];
    if (block.indices || block.stored.flat || !container::can_have_cubes(catalogue, variable)) return nullptr;
    if (!is_box_of(block, catalogue.shapes[variable.shape])) return nullptr;
    const auto of_key = cubes_of_key(stored.container, variable.key);
    const auto found = of_key->find(stored.variable);
    return found == of_key->end() ? nullptr : std::shared_ptr<const StoredCubes>(of_key, &found->second);
  }

  Result<ReadCost> read(std::span<const Piece> pieces, const Failed& failed) const override {
    return read_pieces(*reader_, arrays_.stored, pieces, [&](const Piece& piece, const Error& error) {
      Error named = error;
      named.what = fmt::format("step {}: {}", info_.number, error.what);
      failed(piece, named);
    });
  }

 private:
  static Result<void> recognise_any(const Look& look, Recognised& found) {
    for (const Recogniser recognise : recognisers()) {
      FOREBAY_TRY(const bool is_known, recognise(look, found));
      if (is_known) break;
    }
    return {};
  }

  // Whether a block is a box of a stored array of that shape.
  static bool is_box_of(const Block& block, const Shape& whole) {
    const auto& [array, leading, flat, shape, begin] = block.stored;
    const auto& count = block.place.count;
    if (leading.size() + count.size() != whole.size()) return false;
    for (size_t d = 0; d < leading.size(); ++d)
      if (leading[d] >= whole[d]) return false;
    for (size_t d = 0; d < count.size(); ++d) {
      const uint64_t size = whole[leading.size() + d], first = begin.empty() ? 0 : begin[d];
      if ((shape.empty() ? count[d] : shape[d]) != size || first > size || count[d] > size - first) return false;
    }
    return true;
  }

  using CubesOfKey = std::map<uint32_t, StoredCubes>;  // by variable

  // What cannot be read is as if it were not there: answers are less sharp then, and no less right.
  std::shared_ptr<const CubesOfKey> cubes_of_key(size_t container, uint32_t key) const {
    const std::lock_guard lock(cubes_mutex_);
    const std::pair place(container, key);
    for (const auto& [kept, cubes] : kept_cubes_)
      if (kept == place) return cubes;
    const engine::OpenContainer& opened = reader_->set().containers[container];
    const auto made = std::make_shared<CubesOfKey>();
    if (auto read = opened.reader->read_cubes(key, index_bytes_))
      for (container::VariableCubes& variable : *read) {
        const Shape& shape = opened.catalogue().shapes[opened.catalogue().variables[variable.variable].shape];
        (*made)[variable.variable] = {container::cube_grid(shape), std::move(variable.cubes)};
      }
    kept_cubes_.emplace_front(place, made);
    if (kept_cubes_.size() > kKeptCubes) kept_cubes_.pop_back();
    return made;
  }

  std::unique_ptr<engine::SharedReader> reader_;
  StepInfo info_;
  const uint64_t index_bytes_;
  Arrays arrays_;
  mutable std::mutex cubes_mutex_;
  mutable std::list<std::pair<std::pair<size_t, uint32_t>, std::shared_ptr<const CubesOfKey>>> kept_cubes_;
  mutable std::once_flag attributes_read_;  // when somebody first asks for them
  mutable std::vector<Attribute> attributes_;
};

}  // namespace

Result<OpenedStep> open_set_step(const store::SetInfo& info, uint64_t number, uint64_t index_bytes,
                                 std::shared_ptr<engine::FrameCache> cache, const RunOptions& options) {
  FOREBAY_TRY(auto set, engine::open_set(info, index_bytes));
  StepInfo step{.number = number, .step = info.manifest->step, .time = {}, .time_index = 0, .set = info.name};
  auto reader = std::make_unique<engine::SharedReader>(std::move(set), std::move(cache), options.resources.threads);
  auto opened = std::make_shared<SetStep>(std::move(reader), std::move(step), index_bytes);
  FOREBAY_CHECK(opened->find_arrays(options.layout));
  const uint64_t memory_bytes = opened->memory_bytes();
  return OpenedStep{std::move(opened), memory_bytes};
}

}  // namespace forebay::view
