#include "job/client/marker.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/catalogue.h"
#include "store/sealed_text.h"

namespace forebay::job {
namespace {

using nlohmann::json;

constexpr std::string_view kTag = "forebay-marker";
constexpr uint64_t kVersion = 1;
constexpr uint32_t kNanosecondsPerSecond = 1'000'000'000;

// The whole number that `value` is, if it fits.
template <class Int>
std::optional<Int> number(const json& value) {
  if (value.is_number_unsigned()) {
    const auto whole = value.get<uint64_t>();
    return std::in_range<Int>(whole) ? std::optional(static_cast<Int>(whole)) : std::nullopt;
  }
  if (!value.is_number_integer()) return std::nullopt;
  const auto whole = value.get<int64_t>();
  return std::in_range<Int>(whole) ? std::optional(static_cast<Int>(whole)) : std::nullopt;
}

template <class Int>
std::optional<Int> number(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? std::nullopt : number<Int>(*found);
}

// A list, not an object: the parser looks at all members of the list around an object whenever one ends.
std::optional<MarkedFile> file_of(const json& entry) {
  if (!entry.is_array() || entry.size() != 4 || !entry[0].is_string()) return std::nullopt;
  const auto size = number<uint64_t>(entry[1]);
  const auto mtime_s = number<int64_t>(entry[2]);
  const auto mtime_ns = number<uint32_t>(entry[3]);
  if (!size || !mtime_s || !mtime_ns) return std::nullopt;
  MarkedFile file{entry[0].get<std::string>(), *size, *mtime_s, *mtime_ns};
  if (!is_safe_name(file.name) || file.mtime_ns >= kNanosecondsPerSecond) return std::nullopt;
  return file;
}

std::optional<Marker> marker_in(const json& body) {
  const auto rank = number<uint32_t>(body, "rank");
  const auto ranks = number<uint32_t>(body, "ranks");
  const auto pid = number<uint64_t>(body, "pid");
  const auto files = body.find("files");
  if (!rank || !ranks || *rank >= *ranks || !pid || files == body.end() || !files->is_array()) return std::nullopt;
  Marker marker{.rank = *rank, .ranks = *ranks, .pid = *pid, .step = number<int64_t>(body, "step"), .files = {}};
  if (body.contains("step") && !marker.step) return std::nullopt;
  marker.files.reserve(files->size());
  for (const json& entry : *files) {
    auto file = file_of(entry);
    if (!file) return std::nullopt;
    marker.files.push_back(std::move(*file));
  }
  return marker;
}

}  // namespace

std::string encode_marker(const Marker& marker) {
  json files = json::array();
  for (const MarkedFile& file : marker.files)
    files.push_back(json::array({file.name, file.size, file.mtime_s, file.mtime_ns}));
  json body{{"version", kVersion}, {"rank", marker.rank}, {"ranks", marker.ranks}, {"pid", marker.pid}};
  if (marker.step) body["step"] = *marker.step;
  body["files"] = std::move(files);
  return store::seal(kTag, body);
}

Result<Marker> decode_marker(std::string_view text, const std::string& path) {
  FOREBAY_TRY(const json body, store::unseal(kTag, text, kVersion, path));
  auto marker = marker_in(body);
  if (!marker) return fail(ErrorKind::corrupt, "is no marker", path);
  return std::move(*marker);
}

bool is_utf8(std::string_view name) {
  try {
    (void)json(name).dump();
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

}  // namespace forebay::job
