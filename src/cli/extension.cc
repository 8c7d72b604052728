#include "cli/extension.h"

#include <cerrno>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/posix/own_code.h"

namespace forebay::cli {

Result<std::string> find_program(std::string_view verb, std::string_view program) {
  const std::string path = extension_program(program);
  if (path.empty())
    return fail(ErrorKind::io, fmt::format("'{}' is an extension, and where Forebay lies is not known", verb), {}, {},
                "mount /proc");
  auto found = trusted_file(path);
  if (found || found.error().kind != ErrorKind::not_found) return found;
  return fail(ErrorKind::unsupported, fmt::format("'{}' is an extension that is not installed", verb), path, {},
              fmt::format("install the package {0}, or build the target {0}", program));
}

std::unexpected<Error> become(std::string_view program, std::span<const std::string> words) {
  const auto path = find_program(words.front(), program);
  if (!path) return std::unexpected(path.error());
  std::vector<char*> arguments = {const_cast<char*>(path->c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(path->c_str(), arguments.data());
  return fail_errno(errno, "execv", *path);
}

}  // namespace forebay::cli
