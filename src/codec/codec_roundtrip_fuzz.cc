// Any bytes, seen as any frame, must come back from any chain.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "codec/choice/chooser.h"
#include "codec/codec_ids.h"
#include "codec/entries/entries.h"
#include "codec/relation/relation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace forebay;
  static const char* const kProfiles[] = {
      "fast",
      "balanced",
      "paper",
      "lorenzo:1,shuffle,zstd:1",
      "lorenzo,bitshuffle,deflate:1",
      "fpc:3",
      "fpzip",
      "fpzip1d,zstd",
      "lorenzo:2,lorenzo:3,lz4",
      "bitshuffle,lz4:3,deflate",
      "shuffle",
      "fpc,fpc,zstd:3",
      "lorenzo:4,zstd",
      "shuffle,shuffle,fpc,deflate",
      "lorenzo,fpc",
      "lorenzo,lch",
      "lch:1",
      "halo,lorenzo,shuffle,zstd:1",
      "fitted,lch",
      "relation,lch",
      "difference,lch",
      "difference:1,lorenzo,shuffle,zstd:1",
  };
  static const char* const kTypes[] = {"f8", "f4", ">f8", ">f4", "f2", "u1", "i8", ">i8", "u4", "x24"};
  constexpr size_t kHeader = 6;
  if (size < kHeader) return 0;
  const auto profile = codec::Profile::parse(kProfiles[data[0] % std::size(kProfiles)]);
  if (!profile) return 0;  // a build without lz4
  FrameShape shape{*DataType::parse(kTypes[data[1] % std::size(kTypes)]), {}};
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(kHeader);
  Block unit;
  for (size_t i = 0; i < 4; ++i) unit.dims[i] = 1u + data[2 + i] % 9u;
  uint64_t left = bytes.size() / shape.type.size;
  for (; left >= unit.count(); left -= unit.count()) shape.blocks.push_back(unit);
  if (left > 0) shape.blocks.push_back(Block{{1, 1, 1, left}});

  const auto raw = bytes.first(shape.element_total() * shape.type.size);
  codec::Chain chain = profile->encode(shape, raw).chain;
  const Bytes reversed(raw.rbegin(), raw.rend());
  const std::span<const std::byte> references[] = {reversed};
  if (!chain.empty() && chain.front().id == codec::kRelationId)
    chain.front().parameters = codec::encode_relation(
        {static_cast<codec::RelationKind>(data[2] % 2), {{0, false, data[3] / 64.0}, {0, true, data[4] / -16.0}}});
  const auto check = [&](const codec::Encoded& encoded) {
    Bytes back(raw.size());
    if (!codec::decode(encoded.recipe, shape, encoded.payload, back, references) || !std::ranges::equal(back, raw))
      std::abort();
  };
  constexpr uint64_t kLeastEntry = 4 << 10;
  check(codec::encode(chain, shape, raw, references));
  check(codec::encode_entries(chain, kLeastEntry, shape, raw, references));
  return 0;
}
