#include "view/source/growing_step.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/parallel_for.h"
#include "view/source/block_piece.h"

namespace forebay::view {
namespace {

constexpr uint64_t kIndexFactor = 8;  // the memory of an index that was read, by the bytes that are stored of it

class GrowingStep final : public Step {
 public:
  GrowingStep(std::shared_ptr<const GrowingFileState> file, StepInfo info, std::shared_ptr<const GrowingArrays> like)
      : file_(std::move(file)), info_(std::move(info)), like_(std::move(like)) {}

  // What `like` was not given for.
  Result<std::shared_ptr<const GrowingArrays>> find_arrays() {
    FOREBAY_TRY(auto found, growing_arrays(file_->listing(), info_.number, look_up()));
    like_ = std::make_shared<const GrowingArrays>(std::move(found));
    std::call_once(found_once_, [&] { found_ = like_; });
    return like_;
  }

  const StepInfo& info() const override { return info_; }
  const std::vector<Array>& arrays() const override {
    // Of a step that is like another one the list alone says everything, which is asked without a failure.
    std::call_once(found_once_, [&] {
      auto found = growing_arrays(file_->listing(), info_.number, look_up());
      found_ = found ? std::make_shared<const GrowingArrays>(*std::move(found)) : like_;
    });
    return found_->arrays;
  }
  const std::vector<Attribute>& attributes() const override {
    std::call_once(attributes_once_, [&] { attributes_ = growing_attributes(file_->listing(), info_.number); });
    return attributes_;
  }
  const Array& array(size_t array) const override {
    const Array& like = like_->arrays[array];
    return like.form == Form::local ? arrays()[array] : like;
  }

  Result<std::vector<Block>> blocks(size_t array) const override {
    const Array& of = like_->arrays[array];
    FOREBAY_TRY(auto blocks, growing_blocks(file_->listing(), file_->writes(), info_.number, like_->variables[array],
                                            of, look_up()));
    // A string has as many elements as it is long, which its process group knows.
    if (of.type.value == io::ValueType::string && of.form == Form::scalar)
      for (Block& block : blocks) {
        const WriteOf write = write_of(block.stored.array);
        FOREBAY_TRY(const io::StoredPart part, part_with(write));
        block.stored.shape = {part.bytes(write.write)};
        block.place = engine::whole_box(block.stored.shape);
      }
    return blocks;
  }

  Result<std::vector<Block>> characterised_blocks(size_t array) const override {
    FOREBAY_TRY(auto found, blocks(array));
    const bool is_number = like_->arrays[array].type.data.is_number();
    FOREBAY_CHECK(parallel_for(found.size(), file_->threads(), [&](size_t i) -> Result<void> {
      const WriteOf write = write_of(found[i].stored.array);
      FOREBAY_TRY(const io::StoredPart part, part_with(write));
      if (auto checked = check_bytes(write, part, found[i].stored.shape); !checked) return checked;
      const container::Characteristics& values = part.group().blocks[write.write].characteristics;
      if (is_number && values != container::Characteristics{}) found[i].characteristics = values;
      return {};
    }));
    return found;
  }

  Result<ReadCost> read(std::span<const Piece> pieces, const Failed& failed) const override {
    std::map<uint64_t, std::vector<const Piece*>> by_block;  // in the order of the file
    for (const Piece& piece : pieces) by_block[piece.from.array].push_back(&piece);
    std::vector<const std::pair<const uint64_t, std::vector<const Piece*>>*> order;
    for (const auto& each : by_block) order.push_back(&each);
    ReadCost total;
    std::mutex mutex;
    FOREBAY_CHECK(parallel_for(order.size(), file_->threads(), [&](size_t i) -> Result<void> {
      const auto& [number, its_pieces] = *order[i];
      const auto cost = read_block(write_of(number), its_pieces);
      const std::lock_guard lock(mutex);
      if (cost)
        total.add(*cost);
      else
        for (const Piece* piece : its_pieces) failed(*piece, cost.error());
      return {};
    }));
    return total;
  }

 private:
  LookUp look_up() const {
    return [this](const WriteOf& write) -> Result<BlockPlace> {
      FOREBAY_TRY(const io::StoredPart part, part_with(write));
      const io::Block& block = part.group().blocks[write.write];
      return BlockPlace{block.shape, block.global_shape, block.offsets};
    };
  }

  std::unexpected<Error> wrong(const WriteOf& write, const Error& error) const {
    const io::Listing& listing = file_->listing();
    const io::ListedPart& part = listing.parts[write.part];
    const uint32_t variable = listing.patterns[part.pattern].writes[write.write].variable;
    Error named = error;
    named.what = fmt::format("step {}: '{}' of rank {}: {}", info_.number, listing.variables[variable].name, part.rank,
                             error.what);
    return std::unexpected(std::move(named));
  }

  // The process group of a write, which has the block that the list says.
  Result<io::StoredPart> part_with(const WriteOf& write) const {
    const io::Listing& listing = file_->listing();
    auto part = file_->part(write.part);
    if (!part) return wrong(write, part.error());
    const auto& writes = listing.patterns[listing.parts[write.part].pattern].writes;
    const auto& blocks = part->group().blocks;
    const io::ListedVariable& variable = listing.variables[writes[write.write].variable];
    if (blocks.size() != writes.size() || blocks[write.write].name != variable.name ||
        blocks[write.write].type != variable.type)
      return wrong(write, {ErrorKind::corrupt,
                           "its process group has other blocks than the list of the file says",
                           file_->path(),
                           {},
                           {}});
    return part;
  }

  // That a block has the bytes that the list says.
  Result<void> check_bytes(const WriteOf& write, const io::StoredPart& part, const Shape& shape) const {
    const uint64_t element = io::element_bytes(part.group().blocks[write.write].type);
    const uint64_t bytes = part.bytes(write.write), elements = element_count(shape);
    if (elements != UINT64_MAX && elements <= bytes / element && elements * element == bytes) return {};
    return wrong(write, {ErrorKind::corrupt,
                         "its process group and the list of the file disagree about its shape",
                         file_->path(),
                         {},
                         {}});
  }

  Result<ReadCost> read_block(const WriteOf& write, std::span<const Piece* const> pieces) const {
    FOREBAY_TRY(const io::StoredPart part, part_with(write));
    const uint64_t element = io::element_bytes(part.group().blocks[write.write].type);
    const uint64_t bytes = part.bytes(write.write);
    std::vector<BlockPiece> wanted;
    for (const Piece* piece : pieces) {
      FOREBAY_CHECK(check_bytes(write, part, piece->from.shape));
      if (volume_of(*piece) != 0) wanted.emplace_back(*piece, element);
    }
    ReadCost cost;
    const auto frames = part.for_each_frame(
        write.write,
        [&](uint64_t begin, uint64_t end) {
          return std::ranges::any_of(wanted, [&](const BlockPiece& piece) { return piece.touches(begin, end); });
        },
        [&](uint64_t begin, std::span<const std::byte> raw) {
          cost.decoded_bytes += raw.size();
          for (const BlockPiece& piece : wanted)
            if (piece.touches(begin, begin + raw.size())) piece.take(begin, raw);
        });
    if (!frames) return wrong(write, frames.error());
    cost.frames = *frames;
    cost.read_bytes =
        bytes == 0 ? 0
                   : static_cast<uint64_t>(static_cast<double>(part.stored_bytes(write.write)) *
                                           (static_cast<double>(cost.decoded_bytes) / static_cast<double>(bytes)));
    return cost;
  }

  static uint64_t volume_of(const Piece& piece) { return element_count(piece.box.count); }

  const std::shared_ptr<const GrowingFileState> file_;
  const StepInfo info_;
  std::shared_ptr<const GrowingArrays> like_;  // of this step or of one like it
  mutable std::once_flag found_once_, attributes_once_;
  mutable std::shared_ptr<const GrowingArrays> found_;  // its own, when somebody asks for them
  mutable std::vector<Attribute> attributes_;
};

}  // namespace

Result<io::StoredPart> GrowingFileState::part(size_t number) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto* const known = kept_.find(number)) return *known;
  }
  FOREBAY_TRY(const io::StoredPart part, reader_->open_part(number));
  const std::lock_guard lock(mutex_);
  kept_.add(number, part, listing().parts[number].index_bytes * kIndexFactor);
  kept_.trim(part_bytes_, 1);
  return part;
}

Result<OpenedGrowingStep> open_growing_step(std::shared_ptr<const GrowingFileState> file, StepInfo info,
                                            std::shared_ptr<const GrowingArrays> like) {
  const bool is_known = like != nullptr;
  auto step = std::make_shared<GrowingStep>(std::move(file), std::move(info), like);
  if (!is_known) {
    FOREBAY_TRY(like, step->find_arrays());
  }
  return OpenedGrowingStep{std::move(step), std::move(like)};
}

}  // namespace forebay::view
