#include "launch/scr/halt.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "store/files.h"

namespace forebay::scr {
namespace {

constexpr uint64_t kMostHaltBytes = 64u << 10;

std::unexpected<Error> no_halt(const std::string& path, std::string what) {
  return fail(ErrorKind::corrupt, std::move(what), path, {}, "'forebay scr halt --remove' forgets it");
}

std::optional<int64_t>* member(Halt& halt, const std::string& name) {
  if (name == "checkpoints") return &halt.checkpoints;
  if (name == "before") return &halt.before;
  if (name == "after") return &halt.after;
  return name == "seconds" ? &halt.seconds : nullptr;
}

}  // namespace

std::string print_halt(const Halt& halt) {
  nlohmann::json body = nlohmann::json::object();
  if (halt.checkpoints) body["checkpoints"] = *halt.checkpoints;
  if (halt.before) body["before"] = *halt.before;
  if (halt.after) body["after"] = *halt.after;
  if (halt.seconds) body["seconds"] = *halt.seconds;
  if (!halt.reason.empty()) body["reason"] = halt.reason;
  return body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<Halt> parse_halt(std::string_view text, const std::string& path) {
  const auto body = text.size() > kMostHaltBytes ? nlohmann::json() : nlohmann::json::parse(text, nullptr, false);
  if (!body.is_object()) return no_halt(path, "is no list of halt conditions");
  Halt halt;
  for (const auto& [name, value] : body.items()) {
    if (name == "reason" && value.is_string()) {
      halt.reason = value.get<std::string>();
    } else if (auto* number = member(halt, name); number != nullptr && value.is_number_integer()) {
      *number = value.get<int64_t>();
    } else {
      return no_halt(path, fmt::format("has no halt condition '{}' of this kind", name));
    }
  }
  return halt;
}

Result<Halt> read_halt(const std::string& path) {
  const auto text = store::read_text(path, kMostHaltBytes);
  if (!text && text.error().kind == ErrorKind::not_found) return Halt{};
  FOREBAY_CHECK(text);
  return parse_halt(*text, path);
}

Result<void> write_halt(const std::string& path, const Halt& halt) {
  const size_t slash = path.rfind('/');
  return store::write_text(path.substr(0, slash), path.substr(slash + 1), print_halt(halt));
}

std::optional<std::string> why_halt(const Halt& halt, int64_t now, std::optional<int64_t> end, int64_t seconds) {
  if (!halt.reason.empty() && !waits_for_checkpoint(halt)) return halt.reason;
  if (halt.checkpoints && *halt.checkpoints <= 0) return "the checkpoints that were to be written are written";
  const int64_t margin = halt.seconds.value_or(seconds);
  if (halt.before && now >= *halt.before - margin) return "it is to end before a time that has come";
  if (halt.after && now >= *halt.after) return "it is to end after a time that has passed";
  if (end && margin > 0 && *end - now <= margin) return fmt::format("the allocation ends in {} s", *end - now);
  return std::nullopt;
}

bool waits_for_checkpoint(const Halt& halt) { return halt.reason == kHalted && halt.checkpoints.value_or(0) > 0; }

}  // namespace forebay::scr
