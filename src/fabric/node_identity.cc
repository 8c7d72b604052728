#include <cerrno>
#include <fstream>

#include <unistd.h>

#include "fabric/remote.h"

namespace forebay::fabric {

static Result<std::string> read_link(const std::string& path) {
  char target[256];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
  if (size < 0) return fail_errno(errno, "readlink", path);
  return std::string(target, static_cast<size_t>(size));
}

Result<std::string> node_identity() {
  const std::string boot_file = "/proc/sys/kernel/random/boot_id";
  std::string boot;
  if (!std::getline(std::ifstream(boot_file), boot) || boot.empty())
    return fail(ErrorKind::io, "the boot's identity cannot be read", boot_file);
  FOREBAY_TRY(const std::string net, read_link("/proc/self/ns/net"));
  FOREBAY_TRY(const std::string mnt, read_link("/proc/self/ns/mnt"));
  return boot + " " + net + " " + mnt;
}

}  // namespace forebay::fabric
