#include "syscalls.h"

#include <fcntl.h>
#include <sys/syscall.h>

namespace crash {

static bool is_writing(uint64_t flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }

bool opens_for_writing(uint64_t number, const uint64_t args[6]) {
  switch (number) {
    case SYS_open:
      return is_writing(args[1]);
    case SYS_openat:
      return is_writing(args[2]);
    case SYS_creat:
      return true;
    default:
      return false;
  }
}

bool reads(uint64_t number) {
  return number == SYS_read || number == SYS_pread64 || number == SYS_readv || number == SYS_preadv ||
         number == SYS_preadv2 || number == SYS_getdents64;
}

std::optional<int> opened_name(uint64_t number) {
  if (number == SYS_open) return 0;
  if (number == SYS_openat || number == SYS_openat2) return 1;
  return {};
}

Changed changed_by(uint64_t number) {
  constexpr int kFirst = 0, kSecond = 1, kThird = 2, kFourth = 3, kNone = -1;
  switch (number) {
    case SYS_open:
    case SYS_creat:
    case SYS_unlink:
    case SYS_rmdir:
    case SYS_mkdir:
    case SYS_truncate:
    case SYS_chmod:
      return {kNone, kFirst};
    case SYS_rename:
    case SYS_link:
    case SYS_symlink:
      return {kNone, kSecond};
    case SYS_openat:
    case SYS_unlinkat:
    case SYS_mkdirat:
    case SYS_fchmodat:
    case SYS_utimensat:
      return {kFirst, kSecond};
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_linkat:
      return {kThird, kFourth};
    case SYS_symlinkat:
      return {kSecond, kThird};
    case SYS_copy_file_range:
      return {kThird, kNone};
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendfile:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_syncfs:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_fchmod:
    case SYS_close:
      return {kFirst, kNone};
    default:
      return {};
  }
}

bool copies_descriptor(uint64_t number, const uint64_t args[6]) {
  return number == SYS_dup || (number == SYS_fcntl && (args[1] == F_DUPFD || args[1] == F_DUPFD_CLOEXEC));
}

std::optional<Syscall> changing_call(uint64_t number, const uint64_t args[6]) {
  const bool is_stream = args[0] <= 2;
  switch (number) {
    case SYS_open:
    case SYS_openat:
    case SYS_creat:
      if (!opens_for_writing(number, args)) return {};
      return Syscall{"open", true};
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
      if (is_stream) return {};
      return Syscall{"write", true};
    case SYS_copy_file_range:
    case SYS_sendfile:
      return Syscall{"copy", true};
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_syncfs:
    case SYS_msync:
      return Syscall{"fsync", false};
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
      return Syscall{"rename", false};
    case SYS_link:
    case SYS_linkat:
      return Syscall{"link", true};
    case SYS_symlink:
    case SYS_symlinkat:
      return Syscall{"symlink", true};
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_rmdir:
      return Syscall{"unlink", false};
    case SYS_mkdir:
    case SYS_mkdirat:
      return Syscall{"mkdir", true};
    case SYS_truncate:
    case SYS_ftruncate:
      return Syscall{"truncate", true};
    case SYS_fallocate:
      return Syscall{"fallocate", true};
    case SYS_chmod:
    case SYS_fchmod:
    case SYS_fchmodat:
      return Syscall{"chmod", false};
    case SYS_utimensat:
      return Syscall{"utimens", false};
    default:
      return {};
  }
}

}  // namespace crash
