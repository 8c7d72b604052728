#include "view/source/bp_step.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <numeric>

#include <fmt/format.h>

#include "base/parallel_for.h"
#include "bp/place.h"
#include "bp/transform.h"
#include "view/source/block_piece.h"

namespace forebay::view {
namespace {

constexpr uint64_t kBufferBytes = uint64_t{1} << 20;

// The blocks of a variable in the step: bp::Variable::entries from `begin`, without `end`.
struct BpVariable {
  const bp::Variable* variable = nullptr;
  std::vector<const bp::Entry*> entries;
  std::vector<bp::Place> places;
};

// As StoredPart::array has it.
constexpr unsigned kEntryBits = 32;

bool is_inside(const bp::Place& place, const Shape& global) {
  if (place.global != global || place.shape.size() != global.size()) return false;
  for (size_t d = 0; d < global.size(); ++d)
    if (place.shape[d] > global[d] || place.offsets[d] > global[d] - place.shape[d]) return false;
  return true;
}

// Blocks along a joined dimension lie one after another, in the order in which they were written.
void join(std::vector<bp::Place>& places) {
  std::map<size_t, uint64_t> ends;
  for (bp::Place& place : places)
    for (size_t d = 0; d < place.global.size(); ++d)
      if (place.global[d] == bp::kJoined) {
        place.offsets[d] = ends[d];
        if (__builtin_add_overflow(ends[d], place.shape[d], &ends[d])) ends[d] = UINT64_MAX;
      }
  for (bp::Place& place : places)
    for (size_t d = 0; d < place.global.size(); ++d)
      if (place.global[d] == bp::kJoined) place.global[d] = ends[d];
}

std::optional<container::Characteristics> bp_characteristics(const bp::Entry& entry, const bp::Place& place) {
  if (!entry.statistics && !entry.value) return {};
  const auto type = io::value_type(entry.type);
  if (!type || !io::data_type(*type).is_number()) return {};
  if (entry.value) return container::characterise(io::data_type(*type), *entry.value);
  const bp::Statistics& known = *entry.statistics;
  // What else there is, nobody counted: NaNs or infinities.
  if (known.count != element_count(place.shape)) return {};
  return container::Characteristics{.count = known.count,
                                    .min = known.min,
                                    .max = known.max,
                                    .sum = known.sum,
                                    .sum_of_squares = known.sum_of_squares};
}

class BpStep final : public Step {
 public:
  BpStep(std::shared_ptr<const BpFile> file, StepInfo info) : file_(std::move(file)), info_(std::move(info)) {
    find_arrays();
    find_attributes();
  }

  const StepInfo& info() const override { return info_; }
  const std::vector<Array>& arrays() const override { return arrays_; }
  const std::vector<Attribute>& attributes() const override { return attributes_; }
  std::vector<std::string> remarks() const override { return remarks_; }

  Result<std::vector<Block>> blocks(size_t array) const override {
    const BpVariable& from = variables_[array];
    std::vector<Block> blocks;
    for (size_t i = 0; i < from.entries.size(); ++i) {
      const bp::Entry& entry = *from.entries[i];
      FOREBAY_TRY(const bp::ProcessGroup group, file_->group_of(entry));
      const bp::Place& place = from.places[i];
      Block block;
      block.rank = group.rank;
      block.stored.array = array << kEntryBits | i;
      block.stored.shape = place.shape;
      if (const uint64_t text = text_bytes(entry); text != 0 || is_text(entry)) block.stored.shape = {text};
      block.place = engine::whole_box(block.stored.shape);
      if (arrays_[array].form == Form::global) block.place.begin = place.offsets;
      block.characteristics = bp_characteristics(entry, place);
      blocks.push_back(std::move(block));
    }
    return blocks;
  }

  Result<std::vector<Block>> characterised_blocks(size_t array) const override {
    const BpVariable& from = variables_[array];
    for (size_t i = 0; i < from.entries.size(); ++i)
      if (auto checked = check_size(*from.entries[i], from.places[i]); !checked)
        return std::unexpected(named(array << kEntryBits | i, std::move(checked).error()));
    return blocks(array);
  }

  Result<ReadCost> read(std::span<const Piece> pieces, const Failed& failed) const override {
    ReadCost total;
    std::mutex mutex;
    FOREBAY_CHECK(parallel_for(pieces.size(), file_->threads(), [&](size_t i) -> Result<void> {
      const auto cost = read_piece(pieces[i]);
      const std::lock_guard lock(mutex);
      if (cost)
        total.add(*cost);
      else
        failed(pieces[i], named(pieces[i].from.array, cost.error()));
      return {};
    }));
    return total;
  }

 private:
  static bool is_text(const bp::Entry& entry) {
    return entry.dimensions.empty() && io::value_type(entry.type) == io::ValueType::string;
  }
  static uint64_t text_bytes(const bp::Entry& entry) { return is_text(entry) && entry.value ? entry.value->size() : 0; }

  void find_arrays() {
    std::vector<Array> arrays;
    std::vector<BpVariable> variables;
    std::map<std::string, int> seen;
    uint32_t order = 0;
    for (const bp::Variable& variable : file_->index().variables) {
      ++order;
      BpVariable here{.variable = &variable, .entries = {}, .places = {}};
      const auto conventions = file_->conventions_of(variable.group);
      const auto type = io::value_type(variable.type);
      for (const bp::Entry& entry : std::ranges::equal_range(variable.entries, info_.time_index, {}, &bp::Entry::time))
        if (entry.type == variable.type) {
          here.entries.push_back(&entry);
          here.places.push_back(bp::place_of(entry.dimensions, conventions.fortran_order, conventions.has_time));
        }
      if (here.entries.empty()) continue;
      if (!type || *type == io::ValueType::string_array) {
        remarks_.push_back(
            fmt::format("'{}' has the type {}, which is not known, and is left out", variable.name, variable.type));
        continue;
      }
      Array array;
      array.name = variable.name;
      array.group = variable.group;
      array.type = element_type(*type);
      array.blocks = here.entries.size();
      array.fortran_order = conventions.fortran_order;
      array.order = order;
      if (const int before = seen[array.name]++; before > 0) array.name += ":" + variable.group;
      if (before_is_taken(seen, array.name, variable.name)) array.name += fmt::format("#{}", order);
      set_form(array, here);
      arrays.push_back(std::move(array));
      variables.push_back(std::move(here));
    }
    std::vector<size_t> by_name(arrays.size());
    std::iota(by_name.begin(), by_name.end(), size_t{0});
    std::ranges::sort(by_name, {}, [&](size_t i) -> const std::string& { return arrays[i].name; });
    for (const size_t i : by_name) {
      arrays_.push_back(std::move(arrays[i]));
      variables_.push_back(std::move(variables[i]));
    }
  }

  // Whether a name that was made is one that there was already.
  static bool before_is_taken(std::map<std::string, int>& seen, const std::string& name, const std::string& first) {
    return name != first && seen[name]++ > 0;
  }

  void set_form(Array& array, BpVariable& from) {
    join(from.places);
    const bp::Place& first = from.places.front();
    if (!first.shape.empty()) {
      const bool claims = !first.global.empty();
      const bool is_global = claims && std::ranges::all_of(from.places, [&](const bp::Place& place) {
                               return is_inside(place, first.global);
                             });
      if (claims && !is_global)
        remarks_.push_back(
            fmt::format("'{}': its blocks do not lie in one global array, so each is taken by itself", array.name));
      array.form = is_global ? Form::global : Form::local;
      array.shape = is_global ? first.global : first.shape;
    }
    std::optional<container::Characteristics> all = container::Characteristics{};
    for (size_t i = 0; i < from.entries.size() && all; ++i) {
      const auto own = bp_characteristics(*from.entries[i], from.places[i]);
      if (own)
        all->merge(*own);
      else
        all.reset();
    }
    array.characteristics = all;
  }

  void find_attributes() {
    std::map<std::string_view, const bp::Variable*> known;
    for (const bp::Variable& attribute : file_->index().attributes)
      if (!attribute.entries.empty() && !attribute.name.starts_with("/__adios__"))
        known.try_emplace(attribute.name, &attribute);
    for (const auto& [name, attribute] : known) {
      const bp::Entry& entry = attribute->entries.front();
      Attribute made{.name = attribute->name, .group = attribute->group, .type = {}, .value = {}, .variable = {}};
      uint8_t type = attribute->type;
      if (entry.reference) {
        for (const bp::Variable& variable : file_->index().variables)
          if (variable.id == *entry.reference && variable.group == attribute->group) {
            made.variable = variable.name;
            type = variable.type;
            break;
          }
        if (made.variable.empty()) continue;
      } else {
        made.count = entry.count;
        if (entry.value) made.value = *entry.value;
      }
      const auto value_type = io::value_type(type);
      if (!value_type) continue;
      made.type = element_type(*value_type);
      made.order = static_cast<uint32_t>(attribute - file_->index().attributes.data()) + 1;
      attributes_.push_back(std::move(made));
    }
  }

  // That the file has room for what a block says that it is.
  Result<void> check_size(const bp::Entry& entry, const bp::Place& place) const {
    constexpr uint64_t kMostRatio = 1 << 20;  // of the transforms that are undone, bzip2 makes the most of zeros
    if (entry.value || is_text(entry)) return {};
    FOREBAY_TRY(const auto source, file_->source_of(entry));
    const bool is_packed = bp::changes_bytes(entry.transform);
    const uint64_t element = std::max<uint64_t>(bp::element_bytes(entry.type), 1);
    const uint64_t elements = element_count(place.shape);
    const uint64_t room = source->size() - std::min(source->size(), entry.payload);
    const uint64_t most = is_packed ? std::min(entry.stored_bytes, room) : room;
    const uint64_t ratio = is_packed ? kMostRatio : 1;
    if (elements / ratio <= most / element + (is_packed ? 1 : 0)) return {};
    return fail(ErrorKind::corrupt,
                fmt::format("its {} elements of {} bytes would pass the end of the file", elements, element),
                source->name(), entry.payload);
  }

  Error named(uint64_t array, Error error) const {
    const auto& [variable, entries, places] = variables_[array >> kEntryBits];
    const bp::Entry& entry = *entries[array & UINT32_MAX];
    const auto group = file_->group_of(entry);
    error.what = fmt::format("step {}: '{}' of rank {}: {}", info_.number, variable->name,
                             group ? std::to_string(group->rank) : "?", error.what);
    return error;
  }

  // Calls use(begin, bytes) for the bytes of the block from `begin` to `end`, in turn.
  template <class Use>
  Result<void> stored_bytes(const bp::Entry& entry, uint64_t begin, uint64_t end, const Use& use) const {
    if (entry.value) {
      if (end > entry.value->size())
        return fail(ErrorKind::corrupt, "its value is shorter than its type", file_->path(), entry.offset);
      use(begin, std::span(*entry.value).subspan(begin, end - begin));
      return {};
    }
    FOREBAY_TRY(const auto source, file_->source_of(entry));
    if (entry.payload > source->size() || end > source->size() - entry.payload)
      return fail(ErrorKind::corrupt, "its data would pass the end of the file", source->name(), entry.payload);
    const bool is_foreign = file_->index().footer.big_endian != (std::endian::native == std::endian::big);
    Bytes buffer(std::min(kBufferBytes, end - begin));
    while (begin < end) {
      const std::span part(buffer.data(), std::min<uint64_t>(buffer.size(), end - begin));
      FOREBAY_CHECK(source->read_at(entry.payload + begin, part));
      if (is_foreign) bp::swap_elements(entry.type, part);
      use(begin, part);
      begin += part.size();
    }
    return {};
  }

  Result<ReadCost> read_piece(const Piece& piece) const {
    if (element_count(piece.box.count) == 0) return ReadCost{};
    const bp::Entry& entry = *variables_[piece.from.array >> kEntryBits].entries[piece.from.array & UINT32_MAX];
    const bool is_foreign = file_->index().footer.big_endian != (std::endian::native == std::endian::big);
    if (is_foreign && io::value_type(entry.type) == io::ValueType::long_double)
      return fail(ErrorKind::unsupported, "a long double of a machine of another kind cannot be read", file_->path(),
                  entry.offset);
    const uint64_t element = bp::element_bytes(entry.type);
    if (element_count(piece.from.shape) > UINT64_MAX / element)
      return fail(ErrorKind::corrupt, "its shape cannot be right", file_->path(), entry.offset);
    const BlockPiece wanted(piece, element);
    if (bp::changes_bytes(entry.transform))
      return read_decoded(entry, element_count(piece.from.shape) * element, wanted);
    FOREBAY_CHECK(stored_bytes(entry, wanted.begin(), wanted.end(),
                               [&](uint64_t begin, std::span<const std::byte> raw) { wanted.take(begin, raw); }));
    const uint64_t bytes = wanted.end() - wanted.begin();
    return ReadCost{.read_bytes = entry.value ? 0 : bytes, .decoded_bytes = bytes};
  }

  Result<ReadCost> read_decoded(const bp::Entry& entry, uint64_t raw_bytes, const BlockPiece& wanted) const {
    FOREBAY_TRY(const BpFile::Decoded block, file_->decoded(entry, raw_bytes));
    wanted.take(0, block.bytes->span());
    if (block.was_kept) return ReadCost{.cached = 1};
    return ReadCost{.read_bytes = entry.stored_bytes, .decoded_bytes = raw_bytes};
  }

  const std::shared_ptr<const BpFile> file_;
  const StepInfo info_;
  std::vector<Array> arrays_;
  std::vector<BpVariable> variables_;  // of each array
  std::vector<Attribute> attributes_;
  std::vector<std::string> remarks_;
};

}  // namespace

std::shared_ptr<const Step> open_bp_step(std::shared_ptr<const BpFile> file, StepInfo info) {
  return std::make_shared<BpStep>(std::move(file), std::move(info));
}

}  // namespace forebay::view
