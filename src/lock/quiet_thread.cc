#include "lock/quiet_thread.h"

#include <system_error>

#include <pthread.h>
#include <signal.h>

namespace forebay::lock {

// The thread inherits the mask.
Result<std::thread> quiet_thread(const char* name, std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<std::thread> thread = fail(ErrorKind::limit, "the system starts no further thread");
  try {
    thread = std::thread(std::move(body));
    pthread_setname_np(thread->native_handle(), name);
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace forebay::lock
