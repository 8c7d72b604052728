#include "io/file/description.h"

#include <algorithm>

#include "base/layout.h"
#include "container/bounded.h"
#include "io/file/columns.h"
#include "process_group_generated.h"

namespace forebay::io {
namespace {

constexpr uint64_t kIsArray = 1, kIsGlobal = 2;

bool has_own_length(ValueType type) { return type == ValueType::string || type == ValueType::string_array; }

struct BlockColumns {
  Values numbers, bytes, class_counts, classes, breaks, transforms;
  SharedTexts texts;
};

BlockColumns columns_of(const std::vector<Block>& blocks) {
  BlockColumns columns;
  const auto append = [](Values& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (const Block& block : blocks) {
    append(columns.numbers, block.shape);
    append(columns.numbers, block.global_shape);
    append(columns.numbers, block.offsets);
    if (has_own_length(block.type)) columns.bytes.push_back(block.bytes.size());
    columns.class_counts.push_back(block.histogram.size());
    append(columns.classes, block.histogram);
    for (const double at : block.breaks) columns.breaks.push_back(std::bit_cast<uint64_t>(at));
    columns.transforms.push_back(columns.texts.add(block.transform));
  }
  return columns;
}

// The blocks, whose lengths of lists are hostile.
class BlockReader {
 public:
  BlockReader(const fb::ProcessGroup& table, TableReader& in) : table_(table), in_(in) {}

  Result<void> read(Description& description) {
    FOREBAY_TRY(auto names, in_.get(table_.names()));
    const size_t count = names.size();
    FOREBAY_CHECK(in_.keep(count, sizeof(Block) + sizeof(uint64_t)));
    FOREBAY_TRY(const auto types, in_.get(table_.types(), count));
    FOREBAY_TRY(const auto flags, in_.get(table_.flags(), count, kIsArray | kIsGlobal));
    FOREBAY_TRY(const auto ranks, in_.get(table_.ranks(), count, kMaxDims));
    FOREBAY_TRY(const auto texts, in_.get(table_.transform_texts()));
    FOREBAY_TRY(const auto transforms, in_.get(table_.transforms(), count, texts.size()));
    for (size_t i = 0; i < count; ++i) {
      Block block;
      block.name = std::move(names[i]);
      FOREBAY_TRY(block.type, type_of(types[i]));
      block.is_array = (flags[i] & kIsArray) != 0;
      block.shape.resize(ranks[i]);
      if ((flags[i] & kIsGlobal) != 0) {
        block.global_shape.resize(ranks[i]);
        block.offsets.resize(ranks[i]);
      }
      if (transforms[i] != 0) {
        FOREBAY_CHECK(in_.keep(texts[transforms[i] - 1].size(), 1));
        block.transform = texts[transforms[i] - 1];
      }
      description.group.blocks.push_back(std::move(block));
    }
    FOREBAY_CHECK(read_numbers(description.group.blocks));
    FOREBAY_CHECK(read_lengths(description));
    return read_histograms(description.group.blocks);
  }

 private:
  Result<void> read_numbers(std::vector<Block>& blocks) {
    uint64_t total = 0;
    for (const Block& block : blocks) total += block.shape.size() + 2 * block.offsets.size();
    FOREBAY_CHECK(in_.keep(total, sizeof(uint64_t)));
    FOREBAY_TRY(const auto numbers, in_.get(table_.numbers(), total));
    auto next = numbers.begin();
    for (Block& block : blocks)
      for (Shape* shape : {&block.shape, &block.global_shape, &block.offsets})
        for (uint64_t& dimension : *shape) dimension = *next++;
    return {};
  }

  Result<void> read_lengths(Description& description) {
    const auto& blocks = description.group.blocks;
    const auto own = std::ranges::count_if(blocks, [](const Block& block) { return has_own_length(block.type); });
    FOREBAY_TRY(const auto lengths, in_.get(table_.bytes(), static_cast<uint64_t>(own), INT64_MAX));
    size_t next = 0;
    for (const Block& block : blocks) {
      uint64_t bytes = 0;
      if (has_own_length(block.type)) {
        bytes = lengths[next++];
      } else if (__builtin_mul_overflow(element_count(block.shape), element_bytes(block.type), &bytes) ||
                 bytes > INT64_MAX) {
        return malformed("a block is larger than any can be");
      }
      description.bytes.push_back(bytes);
    }
    return {};
  }

  Result<void> read_histograms(std::vector<Block>& blocks) {
    FOREBAY_TRY(const auto counts, in_.get(table_.class_counts(), blocks.size()));
    FOREBAY_TRY(const uint64_t total, in_.sum(counts));
    FOREBAY_TRY(const auto classes, in_.get(table_.classes(), total));
    const auto with = std::ranges::count_if(counts, [](uint64_t count) { return count != 0; });
    FOREBAY_TRY(const auto breaks, in_.get(table_.breaks(), total - static_cast<uint64_t>(with)));
    FOREBAY_CHECK(in_.keep(total, 2 * sizeof(uint64_t)));
    auto next_class = classes.begin();
    auto next_break = breaks.begin();
    for (size_t i = 0; i < blocks.size(); ++i) {
      for (uint64_t k = 0; k < counts[i]; ++k) blocks[i].histogram.push_back(*next_class++);
      for (uint64_t k = 1; k < counts[i]; ++k) blocks[i].breaks.push_back(std::bit_cast<double>(*next_break++));
    }
    return {};
  }

  const fb::ProcessGroup& table_;
  TableReader& in_;
};

std::string text_of(const flatbuffers::String* text) { return text != nullptr ? text->str() : std::string(); }

}  // namespace

Result<Bytes> encode_description(const ProcessGroup& group) {
  ColumnWriter out(container::Effort::quick);
  const auto& blocks = group.blocks;
  const BlockColumns columns = columns_of(blocks);
  const auto name = out.builder().CreateString(group.group);
  const auto time_index_name = out.builder().CreateString(group.time_index_name);
  const auto names = out.put(texts_of(blocks, [](const Block& b) { return b.name; }));
  const auto types = out.put(column_of(blocks, [](const Block& b) { return b.type; }));
  const auto flags = out.put(column_of(
      blocks, [](const Block& b) { return (b.is_array ? kIsArray : 0) + (b.global_shape.empty() ? 0 : kIsGlobal); }));
  const auto ranks = out.put(column_of(blocks, [](const Block& b) { return b.shape.size(); }));
  const auto numbers = out.put(columns.numbers), bytes = out.put(columns.bytes);
  const auto class_counts = out.put(columns.class_counts), classes = out.put(columns.classes);
  const auto breaks = out.put(columns.breaks), transforms = out.put(columns.transforms);
  const auto texts = out.put(columns.texts.texts);
  std::vector<const AttributeValue*> values;
  for (const AttributeValue& attribute : group.attributes) values.push_back(&attribute);
  const auto attributes = put_attributes(out, values);
  fb::ProcessGroupBuilder table(out.builder());
  table.add_group(name);
  table.add_time_index_name(time_index_name);
  table.add_fortran_order(group.fortran_order);
  table.add_rank(group.rank);
  table.add_step(group.step);
  table.add_time_index(group.time_index);
  table.add_names(names);
  table.add_types(types);
  table.add_flags(flags);
  table.add_ranks(ranks);
  table.add_numbers(numbers);
  table.add_transform_texts(texts);
  table.add_transforms(transforms);
  table.add_bytes(bytes);
  table.add_class_counts(class_counts);
  table.add_classes(classes);
  table.add_breaks(breaks);
  add_attributes(table, attributes);
  return out.finish(table.Finish());
}

Result<Description> decode_description(std::span<const std::byte> bytes, uint64_t max_bytes) {
  Description description;
  const auto done =
      container::decode_bounded(bytes, max_bytes, [&](MemoryBudget& budget, std::vector<Lease>& kept) -> Result<void> {
        FOREBAY_TRY(const fb::ProcessGroup* table, container::verified_root<fb::ProcessGroup>(bytes));
        ProcessGroup& group = description.group;
        group.group = text_of(table->group());
        group.time_index_name = text_of(table->time_index_name());
        group.fortran_order = table->fortran_order();
        group.rank = table->rank();
        group.step = table->step();
        group.time_index = table->time_index();
        TableReader in(budget, kept);
        FOREBAY_CHECK(BlockReader(*table, in).read(description));
        FOREBAY_TRY(group.attributes, in.attributes(*table));
        return {};
      });
  if (!done) return std::unexpected(done.error());
  return description;
}

}  // namespace forebay::io
