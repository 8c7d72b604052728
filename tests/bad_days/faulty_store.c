/* A file system that fails or hangs, for the tests. Preloaded into a process, it looks before each call that concerns
 * something below $FAULTY_DIRECTORY what the file $FAULTY_CONTROL says:
 *   (nothing)            the call is done;
 *   fail ERRNO [CALL]    it fails with this number if it changes something, and has this name if one is given;
 *   hang                 it waits, until the file says something else.
 * The calls of the C library itself, as in opendir(), do not pass here. */
#undef _FILE_OFFSET_BITS /* both families of calls are to be defined here, under their own names */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static const char *directory, *control;

__attribute__((constructor)) static void configure(void) {
  directory = getenv("FAULTY_DIRECTORY");
  control = getenv("FAULTY_CONTROL");
}

static int is_below(const char* path) {
  const size_t length = strlen(directory);
  return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static int is_descriptor_below(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return is_below(path);
}

static int is_name_below(int at, const char* name) {
  return name[0] == '/' || at == AT_FDCWD ? is_below(name) : is_descriptor_below(at);
}

/* What the control file says; by system calls, which do not pass here. */
static void read_control(char* text, size_t size) {
  text[0] = '\0';
  const long fd = syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const long got = syscall(SYS_read, fd, text, size - 1);
  text[got > 0 ? got : 0] = '\0';
  syscall(SYS_close, fd);
}

/* 0, or the error with which the call fails. */
static int interfere(const char* call, int changes) {
  char text[64], only[32] = "";
  int number = 0;
  for (;;) {
    read_control(text, sizeof text);
    if (strncmp(text, "hang", 4) != 0) break;
    const struct timespec pause = {0, 20000000};
    syscall(SYS_nanosleep, &pause, NULL);
  }
  if (!changes || sscanf(text, "fail %d %31s", &number, only) < 1) return 0;
  return only[0] == '\0' || strcmp(only, call) == 0 ? number : 0;
}

#define CHECK(below, call, changes)                                                   \
  do {                                                                                \
    const int saved = errno;                                                          \
    const int error = control && directory && (below) ? interfere(call, changes) : 0; \
    errno = error ? error : saved;                                                    \
    if (error) return -1;                                                             \
  } while (0)

#define NEXT(type, name, parameters) ((type(*) parameters)dlsym(RTLD_NEXT, name))

#define CALL(type, name, sort, changes, below, parameters, arguments) \
  type name parameters {                                              \
    static type(*next) parameters;                                    \
    if (!next) next = NEXT(type, #name, parameters);                  \
    CHECK(below, sort, changes);                                      \
    return next arguments;                                            \
  }

#define OF_FD(type, name, sort, changes, parameters, arguments) \
  CALL(type, name, sort, changes, is_descriptor_below(fd), parameters, arguments)
#define OF_NAME(name, sort, changes, parameters, arguments) \
  CALL(int, name, sort, changes, is_below(path), parameters, arguments)
#define OF_NAME_AT(name, sort, changes, parameters, arguments) \
  CALL(int, name, sort, changes, is_name_below(at, path), parameters, arguments)

OF_FD(ssize_t, read, "read", 0, (int fd, void* to, size_t n), (fd, to, n))
OF_FD(ssize_t, pread, "read", 0, (int fd, void* to, size_t n, off_t at), (fd, to, n, at))
OF_FD(ssize_t, pread64, "read", 0, (int fd, void* to, size_t n, off64_t at), (fd, to, n, at))
OF_FD(ssize_t, write, "write", 1, (int fd, const void* from, size_t n), (fd, from, n))
OF_FD(ssize_t, pwrite, "write", 1, (int fd, const void* from, size_t n, off_t at), (fd, from, n, at))
OF_FD(ssize_t, pwrite64, "write", 1, (int fd, const void* from, size_t n, off64_t at), (fd, from, n, at))
OF_FD(int, fsync, "fsync", 1, (int fd), (fd))
OF_FD(int, fdatasync, "fsync", 1, (int fd), (fd))
OF_FD(int, ftruncate, "write", 1, (int fd, off_t size), (fd, size))
OF_FD(int, ftruncate64, "write", 1, (int fd, off64_t size), (fd, size))
OF_NAME(stat, "stat", 0, (const char* path, struct stat* info), (path, info))
OF_NAME(stat64, "stat", 0, (const char* path, struct stat64* info), (path, info))
OF_NAME(lstat, "stat", 0, (const char* path, struct stat* info), (path, info))
OF_NAME(lstat64, "stat", 0, (const char* path, struct stat64* info), (path, info))
OF_NAME(mkdir, "mkdir", 1, (const char* path, mode_t mode), (path, mode))
OF_NAME(rmdir, "unlink", 1, (const char* path), (path))
OF_NAME(unlink, "unlink", 1, (const char* path), (path))
OF_NAME_AT(unlinkat, "unlink", 1, (int at, const char* path, int flags), (at, path, flags))
OF_NAME(rename, "rename", 1, (const char* path, const char* to), (path, to))
OF_NAME_AT(renameat, "rename", 1, (int at, const char* path, int other, const char* to), (at, path, other, to))
OF_NAME_AT(renameat2, "rename", 1, (int at, const char* path, int other, const char* to, unsigned flags),
           (at, path, other, to, flags))

static int writes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }

static mode_t mode_of(int flags, va_list rest) {
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)                                                       \
  int name(const char* path, int flags, ...) {                           \
    va_list rest;                                                        \
    va_start(rest, flags);                                               \
    const mode_t mode = mode_of(flags, rest);                            \
    va_end(rest);                                                        \
    CHECK(is_below(path), "open", writes(flags));                        \
    return NEXT(int, #name, (const char*, int, ...))(path, flags, mode); \
  }
#define OPEN_AT(name)                                                             \
  int name(int at, const char* path, int flags, ...) {                            \
    va_list rest;                                                                 \
    va_start(rest, flags);                                                        \
    const mode_t mode = mode_of(flags, rest);                                     \
    va_end(rest);                                                                 \
    CHECK(is_name_below(at, path), "open", writes(flags));                        \
    return NEXT(int, #name, (int, const char*, int, ...))(at, path, flags, mode); \
  }

OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)
