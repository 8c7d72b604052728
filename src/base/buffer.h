// A block of bytes that is not cleared when it is made: frames are filled right away.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace forebay {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t size) : bytes_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  size_t size() const { return size_; }
  std::span<std::byte> span() { return {bytes_.get(), size_}; }
  std::span<const std::byte> span() const { return {bytes_.get(), size_}; }

  // Forgets the bytes from `size` on, which must not be more than there are.
  void shrink(size_t size) { size_ = size; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t size_ = 0;
};

}  // namespace forebay
