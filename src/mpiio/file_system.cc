#include "mpiio/file_system.h"

#include <algorithm>
#include <array>

#include <linux/magic.h>
#include <sys/vfs.h>

namespace forebay::lock::mpiio {

bool is_local(int fd) {
  constexpr std::array<unsigned long, 8> kLocal = {
      BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, RAMFS_MAGIC, TMPFS_MAGIC,
      0x58465342,  // XFS
      0x2fc12fc1,  // ZFS
  };
  struct statfs system{};
  if (::fstatfs(fd, &system) != 0) return false;
  return std::ranges::find(kLocal, static_cast<unsigned long>(system.f_type)) != kLocal.end();
}

}  // namespace forebay::lock::mpiio
