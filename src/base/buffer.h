// Memory for bytes that are about to be overwritten: unlike a vector, does not clear it first.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace forebay {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t capacity) : bytes_(new std::byte[capacity]), capacity_(capacity), size_(capacity) {}

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }

  // Says how many bytes are in use; at most capacity().
  void resize(size_t size) { size_ = size; }

  std::span<std::byte> span() { return {data(), size_}; }
  std::span<const std::byte> span() const { return {data(), size_}; }
  operator std::span<const std::byte>() const { return span(); }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t capacity_ = 0, size_ = 0;
};

}  // namespace forebay
