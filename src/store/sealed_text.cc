#include "store/sealed_text.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/checksum.h"

namespace forebay::store {

using nlohmann::json;

std::string seal(std::string_view tag, const json& body) {
  // Text that is not UTF-8 gets replacement characters instead of an exception.
  const std::string text = body.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  return fmt::format("{} {}\n{}", tag, hash128_hex(as_bytes(text)), text);
}

static std::unexpected<Error> damaged(const std::string& path, std::string what) {
  return fail(ErrorKind::corrupt, std::move(what), path, {}, "put the file back from a copy");
}

Result<json> unseal(std::string_view tag, std::string_view text, uint64_t newest_version, const std::string& path,
                    int most_depth) {
  const size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos || !text.starts_with(tag))
    return damaged(path, fmt::format("does not begin with '{}'", tag));
  const std::string_view rest = text.substr(line_end + 1);
  if (text.substr(0, line_end) != fmt::format("{} {}", tag, hash128_hex(as_bytes(rest))))
    return damaged(path, "the content does not match its checksum");
  // Depth and the size of the text bound what the parser allocates.
  const auto is_shallow = [&](int depth, json::parse_event_t, json&) { return depth <= most_depth; };
  json body = json::parse(rest, is_shallow, false);
  if (!body.is_object()) return damaged(path, "is not a JSON object");
  const auto version = body.find("version");
  if (version == body.end() || !version->is_number_unsigned()) return damaged(path, "has no version");
  if (version->get<uint64_t>() > newest_version)
    return fail(ErrorKind::unsupported,
                fmt::format("{} version {} was written by a newer Forebay", tag, version->get<uint64_t>()), path, {},
                "read it with the Forebay that wrote it, or a newer one");
  return body;
}

}  // namespace forebay::store
