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

// A lock that is given back at the end of its scope. Check code() before the I/O. Used by one thread at a time, and
// different ones by different threads at once. May outlive its client. Movable: one that was moved from holds nothing,
// but for the code() that it had. In a child of fork() a parent's lock is not held: keep() and unlock() give
// FOREBAY_LOCK_LOST there, and the end of the child's copy leaves the parent's lock as it is.
class FileLock {
 public:
  // Waits as forebay_lock_lock() does: `timeout_ms` milliseconds at most, for ever if it is less than 0. `name` is what
  // all programs call the file, 1 to 4096 bytes up to the first NUL (forebay_lock_name() makes one of a path); `access`
  // is FOREBAY_LOCK_SHARED or FOREBAY_LOCK_EXCLUSIVE. The lock is of all bytes of `terms` at once, which may overlap;
  // no terms are the whole file. `client` must not be null; it, `name`, `terms` and their levels stay the caller's and
  // are used until this returns.
  //
  // code() is the outcome: FOREBAY_LOCK_OK, _TIMEOUT, _LOST, _ARGUMENT, _DENIED, _LIMIT or _FAILED, as
  // forebay_lock_lock() explains them, and forebay_lock_message() says more. A process that holds one lock while it
  // waits for another can be part of a deadlock, which nobody notices: give all terms to one lock, or a timeout.
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
  // Gives the lock back if it is held. Whether the lease had ended before, so that others may have had the bytes, is
  // not told: call unlock() to know. Waits for nobody, unless the lease is over by this process's clock.
  ~FileLock() { forebay_lock_unlock(lock_); }

  // Whether it was granted and not unlocked. The lease may have ended all the same: keep() tells.
  bool held() const noexcept { return lock_ != nullptr; }

  // The code that forebay_lock_lock() returned. keep() and unlock() do not change it.
  int code() const noexcept { return code_; }

  // As forebay_lock_keep(), before each piece of I/O, which must not take longer than `wanted_ms`: FOREBAY_LOCK_OK if
  // the lock is valid for `wanted_ms` milliseconds from now, or for half of the lease if that is less (less than 0 counts
  // as 0); FOREBAY_LOCK_LOST if it is not and the file must not be touched any more: unlock() is still to be called, or
  // the destructor; FOREBAY_LOCK_ARGUMENT if nothing is held; FOREBAY_LOCK_FAILED for errors of the system. Where half
  // of the lease is left this reads the clock only; else it asks the server, and waits for a lease at most.
  int keep(std::int64_t wanted_ms) noexcept { return forebay_lock_keep(lock_, wanted_ms); }

  // For how many milliseconds from now it is valid, unless it is renewed; 0 if it is not, or nothing is held. Asks
  // nobody. A lock without a byte is valid for ever.
  std::int64_t valid_ms() const noexcept { return forebay_lock_valid_ms(lock_); }

  // Gives the lock back now; nothing is held afterwards, whatever this returns. FOREBAY_LOCK_LOST tells that the lease
  // ended before, or the server is lost: others may have had the bytes, and what was written since may be mixed with
  // theirs. FOREBAY_LOCK_FAILED for errors of the system. FOREBAY_LOCK_OK if nothing was held.
  int unlock() noexcept { return forebay_lock_unlock(std::exchange(lock_, nullptr)); }

 private:
  forebay_lock* lock_ = nullptr;
  int code_;
};

// Connections that are closed at the end of their scope; one is enough for a process. Thread-safe, as
// forebay_lock_client is, but for the destructor: no other thread may be in a call with it. Locks that are held then
// stay so until they are unlocked, and their connections stay as long. A child of fork() may use its parent's.
class LockClient {
 public:
  // As forebay_lock_connect(): `servers` as "ADDRESS,ADDRESS;ADDRESS" (tcp:HOST:PORT or unix:PATH), the same in the
  // same order for all programs that lock the same files; `secret_file` the path of the servers' secret. Null stands
  // for the environment's FOREBAY_LOCK_SERVERS and FOREBAY_LOCK_SECRET. Both are used until this returns, and not kept.
  // Connects to nothing yet: the first lock does. Check code() before get() is used.
  explicit LockClient(const char* servers = nullptr, const char* secret_file = nullptr) noexcept
      : code_(forebay_lock_connect(servers, secret_file, &client_)) {}
  LockClient(const LockClient&) = delete;
  LockClient& operator=(const LockClient&) = delete;
  ~LockClient() { forebay_lock_disconnect(client_); }

  // The code that forebay_lock_connect() returned: FOREBAY_LOCK_OK; _ARGUMENT (no servers, or no list of addresses), _DENIED
  // (the secret belongs to another user, or others can read it) or _FAILED (it cannot be read, or memory is used up).
  int code() const noexcept { return code_; }

  // For forebay_lock_lock() and FileLock; null if code() is not FOREBAY_LOCK_OK. Stays this object's.
  forebay_lock_client* get() const noexcept { return client_; }

 private:
  forebay_lock_client* client_ = nullptr;
  int code_;
};

}  // namespace forebay
