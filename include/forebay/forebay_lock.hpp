// RAII over forebay_lock.h, whose head explains locks and the order of calls. Header-only, C++14. Calls that fail throw
// forebay::CallError with a code of forebay.h, but for destructors. A program that adds one to a number in a file:
//
//     #include <fstream>
//     #include <string>
//
//     #include <forebay/forebay_lock.hpp>
//
//     int main(int argc, char** argv) {
//       if (argc != 2) return 2;
//       const forebay::LockClient client;  // the servers of FOREBAY_LOCK_SERVERS
//       forebay::FileLock lock(client, forebay::lock_name(argv[1]), FOREBAY_LOCK_EXCLUSIVE, {{0, 8, nullptr, 0}});
//       long number = 0;
//       lock.keep(1000);  // before each piece of I/O
//       std::ifstream(argv[1]) >> number;
//       lock.keep(1000);
//       std::ofstream(argv[1]) << number + 1;
//       lock.unlock();  // throws if others may have had the bytes
//       return 0;
//     }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "forebay/forebay.hpp"
#include "forebay/forebay_lock.h"

namespace forebay {

// Connections that are closed at the end of their scope; one is enough for a process. Thread-safe, as
// forebay_lock_client is, but for the destructor: no other thread may be in a call with it. Locks that are held then
// stay so until they are unlocked, and their connections stay as long. A child of fork() may use its parent's. Movable.
class LockClient {
 public:
  // As forebay_lock_connect(): `servers` as "ADDRESS,ADDRESS;ADDRESS" (tcp:HOST:PORT or unix:PATH), the same in the
  // same order for all programs that lock the same files; `secret_file` the path of the servers' secret. Null stands
  // for the environment's FOREBAY_LOCK_SERVERS and FOREBAY_LOCK_SECRET. Both are used until this returns, and not kept.
  // Connects to nothing yet: the first lock does. Throws ARGUMENT, DENIED or FAILED.
  explicit LockClient(const char* servers = nullptr, const char* secret_file = nullptr) {
    forebay_lock_client* client = nullptr;
    check(forebay_lock_connect(servers, secret_file, &client));
    client_.reset(client);
  }

  // Stays this object's.
  forebay_lock_client* get() const noexcept { return client_.get(); }

 private:
  struct Disconnect {
    void operator()(forebay_lock_client* client) const noexcept { forebay_lock_disconnect(client); }
  };
  std::unique_ptr<forebay_lock_client, Disconnect> client_;
};

// As forebay_lock_name(): what programs call the file at `path`. Throws ARGUMENT (no path) or FAILED.
inline std::string lock_name(const std::string& path) {
  std::string name(4096, '\0');
  check(forebay_lock_name(path.c_str(), &name[0], name.size()));
  name.resize(std::char_traits<char>::length(name.c_str()));
  return name;
}

// A lock that is given back at the end of its scope. Used by one thread at a time, and different ones by different
// threads at once. May outlive its client. Movable: one that was moved from holds nothing. In a child of fork() a
// parent's lock is not held: keep() and unlock() throw LOST there, and the end of the child's copy leaves the parent's
// lock as it is.
class FileLock {
 public:
  // Waits as forebay_lock_lock() does: `timeout_ms` milliseconds at most, for ever if it is less than 0. `name` is what
  // all programs call the file, 1 to 4096 bytes up to the first NUL (lock_name() makes one of a path); `access` is
  // FOREBAY_LOCK_SHARED or FOREBAY_LOCK_EXCLUSIVE. The lock is of all bytes of `terms` at once, which may overlap; no
  // terms are the whole file. All are used until this returns, and not kept. A process that holds one lock while it
  // waits for another can be part of a deadlock, which nobody notices: give all terms to one lock, or a timeout. Throws
  // TIMEOUT, LOST, ARGUMENT, DENIED, LIMIT or FAILED, as forebay_lock_lock() explains them.
  FileLock(const LockClient& client, const std::string& name, int access,
           const std::vector<forebay_lock_term>& terms = {}, std::int64_t timeout_ms = -1) {
    forebay_lock* lock = nullptr;
    check(forebay_lock_lock(client.get(), name.c_str(), access, terms.data(), terms.size(), timeout_ms, &lock));
    lock_.reset(lock);
  }

  // As forebay_lock_try(), without waiting for others: held() is false if the bytes are not free. Throws as the
  // constructor does, but for TIMEOUT.
  static FileLock try_lock(const LockClient& client, const std::string& name, int access,
                           const std::vector<forebay_lock_term>& terms = {}) {
    forebay_lock* lock = nullptr;
    const int code = forebay_lock_try(client.get(), name.c_str(), access, terms.data(), terms.size(), &lock);
    if (code != FOREBAY_BUSY) check(code);
    return FileLock(lock);
  }

  // Whether it was granted and not unlocked. The lease may have ended all the same: keep() finds out.
  bool held() const noexcept { return lock_ != nullptr; }

  // As forebay_lock_keep(), before each piece of I/O, which must not take longer than `wanted_ms`: returns if the lock
  // is valid for `wanted_ms` milliseconds from now, or for half of the lease if that is less (less than 0 counts as 0).
  // Throws LOST (the file must not be touched any more; unlock() is still to be called, or the destructor), ARGUMENT
  // (nothing is held) or FAILED. Where half of the lease is left this reads the clock only; else it asks the server,
  // and waits for a lease at most.
  void keep(std::int64_t wanted_ms) { check(forebay_lock_keep(lock_.get(), wanted_ms)); }

  // For how many milliseconds from now it is valid, unless it is renewed; 0 if it is not, or nothing is held. Asks
  // nobody. A lock without a byte is valid for ever.
  std::int64_t valid_ms() const noexcept { return forebay_lock_valid_ms(lock_.get()); }

  // Gives the lock back now; nothing is held afterwards, also where this throws: LOST (the lease ended before, or the
  // server is lost: others may have had the bytes, and what was written since may be mixed with theirs) or FAILED. The
  // destructor gives it back without a word, and waits for nobody unless the lease is over by this process's clock.
  void unlock() { check(forebay_lock_unlock(lock_.release())); }

 private:
  explicit FileLock(forebay_lock* lock) noexcept : lock_(lock) {}

  struct Unlock {
    void operator()(forebay_lock* lock) const noexcept { forebay_lock_unlock(lock); }
  };
  std::unique_ptr<forebay_lock, Unlock> lock_;
};

}  // namespace forebay
