// hash64() of bytes that come piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct XXH3_state_s;

namespace forebay {

class HashStream {
 public:
  HashStream();

  void add(std::span<const std::byte> bytes);

  // hash64() of all that was added.
  uint64_t value() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace forebay
