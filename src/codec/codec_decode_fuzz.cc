// Hostile recipes and payloads: decode() must fail cleanly or fill exactly the frame.
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/bytes.h"
#include "codec/chain.h"

namespace {

using namespace forebay;

// Takes numbers off the front of the input.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : left_(std::as_bytes(std::span(data, size))) {}
  uint8_t byte() {
    if (left_.empty()) return 0;
    const auto value = std::to_integer<uint8_t>(left_.front());
    left_ = left_.subspan(1);
    return value;
  }
  std::span<const std::byte> take(size_t size) {
    const auto taken = left_.first(std::min(size, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  std::span<const std::byte> rest() const { return left_; }

 private:
  std::span<const std::byte> left_;
};

DataType type_from(uint8_t selector) {
  static const char* const kNames[] = {"f8", "f4", ">f8", ">f4", "f2",  "u1", "i8", ">i8",
                                       "u4", "i2", ">u2", "x1",  "x24", "x3", "i1", ">i4"};
  return *DataType::parse(kNames[selector % std::size(kNames)]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  FrameShape shape{type_from(input.byte()), {}};
  for (unsigned blocks = input.byte() % 4u; blocks > 0; --blocks) {
    Block block;
    for (uint64_t& dim : block.dims) dim = input.byte() % 12u;
    shape.blocks.push_back(block);
  }
  const auto recipe = input.take(input.byte());
  const size_t raw_size = shape.element_total() * shape.type.size;
  const std::unique_ptr<std::byte[]> raw(new std::byte[raw_size]);
  (void)codec::chain_of(recipe);
  (void)codec::decode_bytes(recipe, raw_size);
  const Bytes reference(raw_size, std::byte{0x3f});
  const std::span<const std::byte> references[] = {reference, input.rest()};
  (void)codec::decode(recipe, shape, input.rest(), {raw.get(), raw_size}, references);
  return 0;
}
