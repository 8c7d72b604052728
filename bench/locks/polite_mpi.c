/* Lets many MPICH ranks share few cores, for bench/mpiio: MPICH polls UCX without pause while it waits, and ranks that
 * wait keep those that work from running. Preloaded, a rank that found nothing to do gives its core away: first to who
 * is ready, then for 20 microseconds at a time. It also makes all ranks equal to the scheduler, which otherwise shares
 * between the sessions that the launcher makes, one a rank, and the rest of the machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*);
  static _Thread_local unsigned idle_calls;
  if (!progress) progress = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned done = progress(worker);
  if (done > 0) {
    idle_calls = 0;
  } else if (++idle_calls < 5) {
    sched_yield();
  } else {
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
  }
  return done;
}

__attribute__((constructor)) static void lower_session_weight(void) {
  const int file = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  if (write(file, "17", 2) < 0) { /* an older or stricter kernel: run as it is */
  }
  close(file);
}
