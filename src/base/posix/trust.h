// Whose files may be run. Header alone and of libc alone: libforebay_mpiio.so, which is preloaded into anything, asks
// too.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay {

enum class Doubt : uint8_t { none, not_found, not_a_file, foreign_owner, writable_by_group, writable_by_all };

// Whom a process trusts with what it runs, besides root.
struct Trust {
  uid_t user = 0;       // its own
  uid_t installer = 0;  // who owns the file of the code that asks, which runs already
  gid_t group = 0;      // its own
};

// Of a file, or of a directory above one. A group that has its owner's number is the owner's alone: useradd(8) and its
// like number them so. In a directory with the sticky bit nobody can remove or rename what is another's.
constexpr Doubt doubt_of(uid_t owner, gid_t group, mode_t mode, const Trust& trust) {
  if (owner != 0 && owner != trust.user && owner != trust.installer) return Doubt::foreign_owner;
  if (S_ISDIR(mode) && (mode & S_ISVTX) != 0) return Doubt::none;
  if ((mode & S_IWOTH) != 0) return Doubt::writable_by_all;
  const bool is_own_group = group == owner && (owner != trust.user || group == trust.group);
  return (mode & S_IWGRP) != 0 && !is_own_group ? Doubt::writable_by_group : Doubt::none;
}

// What there is to say against a file, and of which path: of its own, or of a directory above it.
struct Doubted {
  Doubt doubt = Doubt::none;
  char path[PATH_MAX] = "";
  uid_t owner = 0;
  gid_t group = 0;
};

// The file `path`, which realpath() has made, and the directories above it, up to the first that is also above `own`,
// the file of the code that asks: who can change that directory can change this code. An empty `own` is above nothing.
inline void look_for_doubt(const char* path, const char* own, const Trust& trust, Doubted& found) {
  const auto look = [&](bool is_file) {
    struct stat info{};
    const bool is_there = lstat(found.path, &info) == 0;
    found.owner = info.st_uid;
    found.group = info.st_gid;
    if (!is_there) return Doubt::not_found;
    if (is_file && !S_ISREG(info.st_mode)) return Doubt::not_a_file;
    return doubt_of(info.st_uid, info.st_gid, info.st_mode, trust);
  };
  size_t length = strlen(path);
  found.doubt = Doubt::not_found;
  if (length == 0 || path[0] != '/' || length >= sizeof found.path) return;
  memcpy(found.path, path, length + 1);
  found.doubt = look(true);
  while (found.doubt == Doubt::none && length > 1) {
    while (path[--length] != '/') {
    }
    const bool is_root = length == 0;
    const bool is_above_own = strncmp(path, own, length) == 0 && own[length] == '/';
    if (is_above_own) return;
    if (is_root) length = 1;
    found.path[length] = '\0';
    found.doubt = look(false);
  }
}

inline Trust trust_of_process(const char* own) {
  struct stat info{};
  const bool is_known = own[0] != '\0' && stat(own, &info) == 0;
  return {.user = geteuid(), .installer = is_known ? info.st_uid : 0, .group = getegid()};
}

}  // namespace forebay
