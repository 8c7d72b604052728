#include "container/unfolding.h"

#include "container/index_codec.h"

namespace forebay::container {
namespace {

// Of a row: its place in columns that are read one after another, or side by side.
constexpr uint64_t kColumn = sizeof(uint64_t) + 1;

// Of a string: the row, its places in three columns, and what a dictionary keeps.
constexpr uint64_t kText = 2 * sizeof(std::string) + 3 * kColumn + 200;
constexpr uint64_t kPerCharacter = 4;

template <class Texts>
uint64_t bytes_of_texts(const Texts& texts) {
  uint64_t bytes = 0;
  for (const auto& text : texts) bytes += kText + kPerCharacter * text.size();
  return bytes;
}

}  // namespace

uint64_t unfolded_bytes(const Catalogue& catalogue) {
  constexpr uint64_t kShape = 160 + kColumn, kDimension = 3 * sizeof(uint64_t) + 1;
  uint64_t bytes = 0;
  for (const FileRow& file : catalogue.files)
    bytes += sizeof(FileRow) + 2 * kText + kColumn + kPerCharacter * (file.name.size() + file.link_target.size());
  bytes += bytes_of_texts(catalogue.paths.values()) + bytes_of_texts(catalogue.keys.values());
  for (const Shape& shape : catalogue.shapes.values()) bytes += kShape + kDimension * shape.size();
  bytes += catalogue.variables.size() * (sizeof(VariableRow) + kColumn);
  bytes += catalogue.extents.size() * (sizeof(Extent) + 2 * kColumn);
  bytes += catalogue.globals.size() * (sizeof(GlobalPlace) + 3 * kColumn);
  bytes += bytes_of_texts(catalogue.meanings.values()) +
           catalogue.with_meanings.size() * (sizeof(VariableMeaning) + 2 * kColumn);
  return bytes + catalogue.keys.size() * 2 * kColumn;
}

uint64_t unfolded_contents_bytes(const Index& index) {
  constexpr uint64_t kColumnsOfCharacteristics = 7;
  uint64_t bytes = bytes_of_texts(index.chains);
  for (const FrameEntry& frame : index.frames)
    bytes += sizeof(FrameEntry) + 4 * kColumn + frame.references.size() * (sizeof(uint32_t) + kColumn);
  bytes += index.file_crcs.size() * 2 * kColumn;
  return bytes + index.characteristics.size() * (sizeof(Characteristics) + sizeof(VariableFacts) +
                                                 2 * sizeof(uint32_t) + kColumnsOfCharacteristics * kColumn);
}

void pad_to_unfold(Bytes& buffer, uint64_t unfolded) {
  // Twice over: where strings and rows are larger, it must do, too.
  const uint64_t most = 2 * unfolded;
  if (most <= kFreeUnfolding) return;
  const uint64_t least = ((most - kFreeUnfolding) / kUnfoldingRatio + 8) / 8 * 8;
  if (buffer.size() < least) buffer.resize(least);
}

}  // namespace forebay::container
