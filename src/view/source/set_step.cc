#include "view/source/set_step.h"

#include <mutex>

#include <fmt/format.h>

#include "view/place/layout.h"
#include "view/place/recogniser.h"
#include "view/place/set_attributes.h"
#include "view/source/group_contents.h"
#include "view/source/piece_reader.h"
#include "view/source/set_cubes.h"

namespace forebay::view {
namespace {

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
      : reader_(std::move(reader)), info_(std::move(info)), cubes_(reader_->set(), index_bytes) {}

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
    return cubes_.find(block, arrays_.stored[block.stored.array]);
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

  std::unique_ptr<engine::SharedReader> reader_;
  StepInfo info_;
  Arrays arrays_;
  const SetCubes cubes_;
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
