/* An emulated link from each client to the storage, for bench/mpiio: preloaded into a benchmark, it lets every read and
 * write of a regular file take FOREBAY_LINK_CALL_US microseconds and bytes / FOREBAY_LINK_MB_S of time on top of what
 * it takes, for each process by itself. Short waits are saved up until they are worth a sleep, so that many processes
 * can wait at once on few cores. */
#undef _FILE_OFFSET_BITS /* both families of calls are to be defined here, under their own names */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

static double per_call, per_byte; /* seconds */
static _Thread_local double owed; /* seconds that this thread has not slept yet */

__attribute__((constructor)) static void configure(void) {
  const char *call = getenv("FOREBAY_LINK_CALL_US"), *speed = getenv("FOREBAY_LINK_MB_S");
  per_call = call ? atof(call) * 1e-6 : 0;
  per_byte = speed ? 1e-6 / atof(speed) : 0;
  prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static ssize_t wait_for(int fd, ssize_t moved) {
  struct stat what;
  if (moved < 0 || fstat(fd, &what) != 0 || !S_ISREG(what.st_mode)) return moved;
  owed += per_call + (double)moved * per_byte;
  if (owed < 200e-6) return moved;
  const double began = now();
  const struct timespec pause = {(time_t)owed, (long)((owed - (double)(time_t)owed) * 1e9)};
  nanosleep(&pause, NULL);
  owed -= now() - began; /* what was slept too long counts for the next calls */
  return moved;
}

#define CALL(name, parameters, arguments)                             \
  ssize_t name parameters {                                           \
    static ssize_t(*next) parameters;                                 \
    if (!next) next = (ssize_t(*) parameters)dlsym(RTLD_NEXT, #name); \
    return wait_for(fd, next arguments);                              \
  }

CALL(read, (int fd, void* to, size_t n), (fd, to, n))
CALL(write, (int fd, const void* from, size_t n), (fd, from, n))
CALL(pread, (int fd, void* to, size_t n, off_t at), (fd, to, n, at))
CALL(pwrite, (int fd, const void* from, size_t n, off_t at), (fd, from, n, at))
CALL(pread64, (int fd, void* to, size_t n, off64_t at), (fd, to, n, at))
CALL(pwrite64, (int fd, const void* from, size_t n, off64_t at), (fd, from, n, at))
CALL(readv, (int fd, const struct iovec* to, int n), (fd, to, n))
CALL(writev, (int fd, const struct iovec* from, int n), (fd, from, n))
CALL(preadv, (int fd, const struct iovec* to, int n, off_t at), (fd, to, n, at))
CALL(pwritev, (int fd, const struct iovec* from, int n, off_t at), (fd, from, n, at))
CALL(preadv64, (int fd, const struct iovec* to, int n, off64_t at), (fd, to, n, at))
CALL(pwritev64, (int fd, const struct iovec* from, int n, off64_t at), (fd, from, n, at))

#define STATFS(name, structure)                                                 \
  int name(int fd, struct structure* answer) {                                  \
    static int (*next)(int, struct structure*);                                 \
    if (!next) next = (int (*)(int, struct structure*))dlsym(RTLD_NEXT, #name); \
    const int result = next(fd, answer);                                        \
    answer->f_type = 0x6c696e6b;                                                \
    return result;                                                              \
  }

STATFS(fstatfs, statfs)
STATFS(fstatfs64, statfs64)
