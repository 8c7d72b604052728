// Hostile streams of the text codec, and any bytes as a text: decode() must fail cleanly, encode() be undone exactly.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/bytes.h"
#include "codec/text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace forebay;
  using namespace forebay::codec;
  constexpr size_t kHead = 2;
  const auto input = std::as_bytes(std::span(data, size));
  if (size < kHead) return 0;
  const size_t raw_bytes = load_le<uint16_t>(input.data());
  Bytes raw(raw_bytes);
  (void)text::decode(input.subspan(kHead), raw);

  const auto text = input.subspan(kHead);
  const size_t first = std::min(raw_bytes, text.size());
  const FrameShape shape{kBytes, {Block{{1, 1, 1, first}}, Block{{1, 1, 1, text.size() - first}}}};
  for (const size_t most_section : {size_t{300}, text::kMostSection}) {
    const Bytes encoded = text::encode(shape, text, text::Effort::fast, {0, most_section});
    if (encoded.empty()) continue;
    Bytes back(text.size());
    if (!text::decode(encoded, back).has_value() || !std::ranges::equal(back, text)) std::abort();
  }
  return 0;
}
