#include "base/posix/own_code.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "base/posix/trust.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

std::string without_links(const char* path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path, nullptr), std::free);
  return real ? std::string(real.get()) : std::string();
}

// Of a program, only the kernel knows its file: its own name for itself may have been found through PATH.
std::string find_own_code() {
  Dl_info self{};
  void* entry = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(&find_own_code), &self, &entry, RTLD_DL_LINKMAP) == 0 || !entry) return {};
  const char* const name = static_cast<const link_map*>(entry)->l_name;  // "" for the program
  return without_links(name != nullptr && *name != '\0' ? name : "/proc/self/exe");
}

std::unexpected<Error> refuse_file(const Doubted& found, const std::string& path) {
  switch (found.doubt) {
    case Doubt::foreign_owner:
      return fail(ErrorKind::permission,
                  fmt::format("it is not run, since {} belongs to user {}, who is neither this user nor root nor the "
                              "owner of Forebay's own files",
                              found.path, found.owner),
                  path, {}, "install it as this user or as root, where nobody else can write");
    case Doubt::writable_by_group:
      return fail(ErrorKind::permission,
                  fmt::format("it is not run, since group {} can write {}", found.group, found.path), path, {},
                  fmt::format("'chmod g-w {}' if it is what you mean to run", found.path));
    case Doubt::writable_by_all:
      return fail(ErrorKind::permission, fmt::format("it is not run, since everybody can write {}", found.path), path,
                  {}, fmt::format("'chmod o-w {}' if it is what you mean to run", found.path));
    case Doubt::not_a_file:
      return fail(ErrorKind::invalid_argument, "it is not a regular file", path);
    default:
      return fail(ErrorKind::not_found, "it is not there", path);
  }
}

// The command's path, if `code` is in the directory of extensions, else `code`.
std::string command_of(const std::string& code) {
  const std::string directory = fs::path(code).parent_path().string(), end = "/" FOREBAY_EXTENSIONS;
  if (!directory.ends_with(end)) return code;
  return directory.substr(0, directory.size() - end.size()) + "/" + FOREBAY_BINARIES + "/forebay";
}

}  // namespace

const std::string& own_code() {
  static const std::string path = find_own_code();
  return path;
}

const std::string& own_command() {
  static const std::string path = command_of(own_code());
  return path;
}

std::string extension_program(std::string_view name) {
  if (own_command().empty()) return {};
  const fs::path from_bin = fs::path(FOREBAY_EXTENSIONS).lexically_relative(FOREBAY_BINARIES);
  return (fs::path(own_command()).parent_path() / from_bin / name).lexically_normal().string();
}

Result<std::string> trusted_file(const std::string& path) {
  std::string real = without_links(path.c_str());
  if (real.empty()) return fail_errno(errno, "realpath", path);
  Doubted found;
  look_for_doubt(real.c_str(), own_code().c_str(), trust_of_process(own_code().c_str()), found);
  if (found.doubt != Doubt::none) return refuse_file(found, path);
  return real;
}

Result<void*> load_code(const std::string& path, int mode) {
  FOREBAY_TRY(const std::string real, trusted_file(path));
  void* const handle = ::dlopen(real.c_str(), mode);
  if (handle == nullptr) return fail(ErrorKind::unsupported, ::dlerror(), path);
  return handle;
}

}  // namespace forebay
