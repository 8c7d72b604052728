// RAII over forebay_lock.h, whose head tells what a lock is and in which order calls are made. Header-only; throws
// nothing itself, and neither do the functions that it calls. Codes are those of forebay_lock.h.
//
//     forebay::LockClient client;
//     if (client.code() != FOREBAY_LOCK_OK) ...
//     forebay::FileLock lock(client.get(), name, FOREBAY_LOCK_EXCLUSIVE, {{rank * 64, 64, &every_fourth, 1}});
//     if (!lock.held()) ...
//     for (each piece of I/O) {
//       if (lock.keep(1000) != FOREBAY_LOCK_OK) stop;
//       pwrite(...);
//     }
//     if (lock.unlock() != FOREBAY_LOCK_OK) ...  // others may have written between
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "forebay/forebay_lock.h"

namespace forebay {

// A lock that is given back at the end of its scope. Check code() before the I/O. Used by one thread at a time. May
// outlive its client. Movable: one that was moved from holds nothing.
class FileLock {
 public:
  // Waits as forebay_lock_lock() does: `timeout_ms` milliseconds at most, for ever if it is less than 0. No terms are
  // the whole file. `client` must not be null (code() is FOREBAY_LOCK_ARGUMENT then); `terms` and their levels are used
  // until this returns. code() tells the outcome.
  FileLock(forebay_lock_client* client, const std::string& name, int access,
           const std::vector<forebay_lock_term>& terms = {}, std::int64_t timeout_ms = -1) noexcept
      : code_(forebay_lock_lock(client, name.c_str(), access, terms.data(), terms.size(), timeout_ms, &lock_)) {}

  FileLock(FileLock&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)), code_(other.code_) {}
  // The two change places: what this one held is given back when `other` ends.
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(lock_, other.lock_);
    std::swap(code_, other.code_);
    return *this;
  }
  // Gives the lock back if it is held. Whether the lease had ended before is not told: call unlock() to know.
  ~FileLock() { forebay_lock_unlock(lock_); }

  // Whether it was granted and not unlocked. The lease may have ended all the same: keep() tells.
  bool held() const noexcept { return lock_ != nullptr; }

  // What forebay_lock_lock() returned. keep() and unlock() do not change it.
  int code() const noexcept { return code_; }

  // As forebay_lock_keep(), before each piece of I/O: FOREBAY_LOCK_OK if the lock is valid for `wanted_ms`
  // milliseconds, FOREBAY_LOCK_LOST if it is not and the file must not be touched any more; FOREBAY_LOCK_ARGUMENT if
  // nothing is held.
  int keep(std::int64_t wanted_ms) noexcept { return forebay_lock_keep(lock_, wanted_ms); }

  // For how many milliseconds it is valid, unless it is renewed; 0 if nothing is held.
  std::int64_t valid_ms() const noexcept { return forebay_lock_valid_ms(lock_); }

  // Gives the lock back now; nothing is held afterwards, whatever this returns. FOREBAY_LOCK_LOST tells that the lease
  // ended before: others may have had the bytes. FOREBAY_LOCK_OK if nothing was held.
  int unlock() noexcept { return forebay_lock_unlock(std::exchange(lock_, nullptr)); }

 private:
  forebay_lock* lock_ = nullptr;
  int code_;
};

// Connections that are closed at the end of their scope. Thread-safe, as forebay_lock_client is, but for the
// destructor: no other thread may be in a call with it. Locks may outlive it.
class LockClient {
 public:
  // As forebay_lock_connect(): null stands for the environment's FOREBAY_LOCK_SERVERS and FOREBAY_LOCK_SECRET. Connects
  // to nothing yet. Check code() before get() is used.
  explicit LockClient(const char* servers = nullptr, const char* secret_file = nullptr) noexcept
      : code_(forebay_lock_connect(servers, secret_file, &client_)) {}
  LockClient(const LockClient&) = delete;
  LockClient& operator=(const LockClient&) = delete;
  ~LockClient() { forebay_lock_disconnect(client_); }

  // What forebay_lock_connect() returned.
  int code() const noexcept { return code_; }

  // For forebay_lock_lock() and FileLock; null if code() is not FOREBAY_LOCK_OK. Stays this object's.
  forebay_lock_client* get() const noexcept { return client_; }

 private:
  forebay_lock_client* client_ = nullptr;
  int code_;
};

}  // namespace forebay
