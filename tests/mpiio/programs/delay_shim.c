// Preloaded into ranks: breaks the system calls that read and write into small pieces with pauses between them at
// random, so that an access which nothing protects is torn where a fast machine would hide it. DELAY_PIECE (bytes,
// default 64) and DELAY_MICROSECONDS (the longest pause, default 50; 0: none) say how. Files whose offsets are not
// given in the call are left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

typedef ssize_t (*moved)(int, void*, size_t, off_t);

static __thread uint64_t state;

static long setting(const char* name, long otherwise) {
  const char* value = getenv(name);
  return value == NULL ? otherwise : atol(value);
}

static uint64_t random_number(void) {
  if (state == 0) state = ((uint64_t)getpid() << 32) ^ (uintptr_t)&state ^ 0x9e3779b97f4a7c15u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static void pause_sometimes(void) {
  const long longest = setting("DELAY_MICROSECONDS", 50);
  if (longest <= 0 || random_number() % 4 != 0) return;
  const struct timespec pause = {0, 1000 * (long)(random_number() % (uint64_t)longest)};
  nanosleep(&pause, NULL);
}

// Some of the bytes alone, as a system call may do it; the rest of them after a pause.
static ssize_t in_pieces(moved move, int fd, char* bytes, size_t count, off_t offset) {
  const size_t piece = (size_t)setting("DELAY_PIECE", 64);
  const size_t pieces = 1 + random_number() % 6;
  size_t done = 0;
  for (size_t i = 0; done < count; ++i) {
    size_t size = piece * (1 + random_number() % 8);
    if (i + 1 >= pieces || size > count - done) size = count - done;
    pause_sometimes();
    const ssize_t result = move(fd, bytes + done, size, offset + (off_t)done);
    if (result < 0) return done > 0 ? (ssize_t)done : result;
    done += (size_t)result;
    if ((size_t)result < size) break;
  }
  return (ssize_t)done;
}

static moved original(const char* name) { return (moved)dlsym(RTLD_NEXT, name); }

static ssize_t vector_in_pieces(moved move, int fd, const struct iovec* vector, int count, off_t offset) {
  ssize_t done = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t result = in_pieces(move, fd, vector[i].iov_base, vector[i].iov_len, offset + done);
    if (result < 0) return done > 0 ? done : result;
    done += result;
    if ((size_t)result < vector[i].iov_len) break;
  }
  return done;
}

static moved writer(void) {
  static moved function;
  if (function == NULL) function = original("pwrite64");
  return function;
}

static moved reader(void) {
  static moved function;
  if (function == NULL) function = original("pread64");
  return function;
}

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  return in_pieces(writer(), fd, (char*)bytes, count, offset);
}
ssize_t pwrite64(int fd, const void* bytes, size_t count, off_t offset) { return pwrite(fd, bytes, count, offset); }
ssize_t pread(int fd, void* bytes, size_t count, off_t offset) { return in_pieces(reader(), fd, bytes, count, offset); }
ssize_t pread64(int fd, void* bytes, size_t count, off_t offset) { return pread(fd, bytes, count, offset); }
ssize_t pwritev(int fd, const struct iovec* vector, int count, off_t offset) {
  return vector_in_pieces(writer(), fd, vector, count, offset);
}
ssize_t pwritev64(int fd, const struct iovec* vector, int count, off_t offset) {
  return pwritev(fd, vector, count, offset);
}
ssize_t preadv(int fd, const struct iovec* vector, int count, off_t offset) {
  return vector_in_pieces(reader(), fd, vector, count, offset);
}
ssize_t preadv64(int fd, const struct iovec* vector, int count, off_t offset) {
  return preadv(fd, vector, count, offset);
}
