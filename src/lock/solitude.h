// Who works alone on a file, so that it is worth while to lend it the whole file. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace forebay::lock {

// A loan that has to be recalled costs some messages: after one, a client must have been alone for a while, and longer
// each time. Clients that take turns pay for few of their requests.
class Solitude {
 public:
  static constexpr uint64_t kFirst = 64, kMost = 1024;  // requests of one client in a row

  // A request of this client, or of somebody who is no client of the file otherwise.
  void asked(uint64_t client) {
    if (client != last_) {
      if (last_ != 0) required_ = std::max(required_, kFirst);
      last_ = client;
      run_ = 0;
    }
    ++run_;
  }

  // Whether the client that asked last is to have the file.
  bool alone() const { return run_ > required_; }

  // Somebody else wanted it back.
  void recalled() { required_ = std::clamp(2 * required_, kFirst, kMost); }

 private:
  uint64_t last_ = 0;
  uint64_t run_ = 0;
  uint64_t required_ = 0;
};

}  // namespace forebay::lock
