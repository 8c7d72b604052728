#include "engine/pack/team.h"

namespace forebay::engine {
namespace {

// An error as text for gather() and broadcast(): kind, then what, path and hint, separated by NULs. Empty for success.
std::string pack(const Result<void>& result) {
  if (result) return {};
  const Error& error = result.error();
  return std::to_string(static_cast<int>(error.kind)) + '\0' + error.what + '\0' + error.path + '\0' + error.hint +
         '\0';
}

Result<void> unpack(const std::string& text) {
  if (text.empty()) return {};
  std::string fields[4];
  size_t at = 0;
  for (std::string& field : fields) {
    const size_t end = text.find('\0', at);
    field = text.substr(at, end - at);
    at = end + 1;
  }
  return fail(static_cast<ErrorKind>(std::stoi(fields[0])), fields[1], fields[2], {}, fields[3]);
}

}  // namespace

Result<void> agree(Team& team, const Result<void>& mine) {
  std::string verdict;
  for (const std::string& text : team.gather(pack(mine)))
    if (verdict.empty()) verdict = text;
  return unpack(team.broadcast(verdict));
}

}  // namespace forebay::engine
