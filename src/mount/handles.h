// What the kernel has open, by a number that it gives back. What is open when the mount ends it never closes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace forebay::mount {

// Thread-safe.
template <class T>
class Handles {
 public:
  uint64_t open(auto&& from) {
    auto kept = std::make_unique<T>(std::forward<decltype(from)>(from));
    const auto handle = reinterpret_cast<uint64_t>(kept.get());
    const std::lock_guard lock(mutex_);
    open_.emplace(handle, std::move(kept));
    return handle;
  }

  // Of a handle that is open.
  static T& get(uint64_t handle) { return *reinterpret_cast<T*>(handle); }

  void close(uint64_t handle) {
    const std::lock_guard lock(mutex_);
    open_.erase(handle);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<T>> open_;
};

}  // namespace forebay::mount
