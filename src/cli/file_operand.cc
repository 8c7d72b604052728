#include "cli/file_operand.h"

#include <cerrno>

#include <fmt/format.h>
#include <sys/stat.h>

#include "cli/common.h"

namespace forebay::cli {

static bool is_file(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

Result<bool> names_file(const std::string& store_option, const std::vector<std::string>& operands) {
  if (!store_option.empty() || operands.size() != 1) return false;
  if (is_file(operands[0])) return true;
  struct stat status{};
  if (::stat(operands[0].c_str(), &status) == 0 || errno != ENOENT) return false;
  const std::string unfinished = operands[0] + std::string(kUnfinished);
  if (is_file(unfinished))
    return fail(ErrorKind::not_found,
                fmt::format("there is no such file, but {}, which was never finished", unfinished), operands[0], {},
                fmt::format("`forebay info {}` shows what is in it", unfinished));
  if (!store_of_environment().empty()) return false;
  return fail(ErrorKind::invalid_argument, "there is no such file, and no store is given in which it could be a set",
              operands[0], {}, "use --store STORE, or set FOREBAY_STORE, if it is the name of a set");
}

}  // namespace forebay::cli
