// RAII over forebay_lock.h. Header-only; throws nothing.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "forebay/forebay_lock.h"

namespace forebay {

// A lock that is given back at the end of its scope. Check code() before the I/O.
class FileLock {
 public:
  // See forebay_lock_lock(). No terms are the whole file.
  FileLock(forebay_lock_client* client, const std::string& name, int access,
           const std::vector<forebay_lock_term>& terms = {}, std::int64_t timeout_ms = -1) noexcept
      : code_(forebay_lock_lock(client, name.c_str(), access, terms.data(), terms.size(), timeout_ms, &lock_)) {}

  FileLock(FileLock&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)), code_(other.code_) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(lock_, other.lock_);
    std::swap(code_, other.code_);
    return *this;
  }
  ~FileLock() { forebay_lock_unlock(lock_); }

  bool held() const noexcept { return lock_ != nullptr; }
  int code() const noexcept { return code_; }
  int keep(std::int64_t wanted_ms) noexcept { return forebay_lock_keep(lock_, wanted_ms); }
  std::int64_t valid_ms() const noexcept { return forebay_lock_valid_ms(lock_); }
  int unlock() noexcept { return forebay_lock_unlock(std::exchange(lock_, nullptr)); }

 private:
  forebay_lock* lock_ = nullptr;
  int code_;
};

// Connections that are closed at the end of their scope.
class LockClient {
 public:
  // See forebay_lock_connect().
  explicit LockClient(const char* servers = nullptr, const char* secret_file = nullptr) noexcept
      : code_(forebay_lock_connect(servers, secret_file, &client_)) {}
  LockClient(const LockClient&) = delete;
  LockClient& operator=(const LockClient&) = delete;
  ~LockClient() { forebay_lock_disconnect(client_); }

  int code() const noexcept { return code_; }
  forebay_lock_client* get() const noexcept { return client_; }

 private:
  forebay_lock_client* client_ = nullptr;
  int code_;
};

}  // namespace forebay
