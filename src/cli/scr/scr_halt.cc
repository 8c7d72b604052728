// forebay scr halt: when an application is to end.
#include <algorithm>
#include <charconv>
#include <ctime>

#include <fmt/format.h>

#include "cli/scr/scr.h"
#include "cli/text.h"
#include "cli/units.h"

namespace forebay::cli {
namespace {

std::string time_text(int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm local{};
  char text[64] = "";
  if (::localtime_r(&time, &local) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &local);
  return text;
}

Json halt_json(const scr::Halt& halt) {
  const auto number = [](const std::optional<int64_t>& one) { return one ? Json(*one) : Json(); };
  const auto time = [](const std::optional<int64_t>& one) { return one ? Json(format_utc_time(*one, 0)) : Json(); };
  return {{"checkpoint_count", number(halt.checkpoints)},
          {"before", time(halt.before)},
          {"after", time(halt.after)},
          {"left_seconds", number(halt.seconds)},
          {"reason", json_text_or_null(halt.reason)}};
}

void print_conditions(const scr::Halt& halt) {
  if (halt == scr::Halt{}) fmt::print("no halt condition\n");
  if (halt.checkpoints) fmt::print("after {}\n", plural(static_cast<uint64_t>(*halt.checkpoints), "more checkpoint"));
  if (halt.before) fmt::print("before {}\n", time_text(*halt.before));
  if (halt.after) fmt::print("at the first checkpoint after {}\n", time_text(*halt.after));
  if (halt.seconds) fmt::print("{} s before the end of the allocation\n", *halt.seconds);
  if (!halt.reason.empty())
    fmt::print("{}: {}\n", scr::waits_for_checkpoint(halt) ? "no start meanwhile" : "now", printable(halt.reason));
}

// The next checkpoint ends the application: it is a reason with a count of its own.
void forget_next(scr::Halt& halt) {
  if (!scr::waits_for_checkpoint(halt)) return;
  halt.reason.clear();
  halt.checkpoints.reset();
}

Result<void> unset(scr::Halt& halt, const std::string& what) {
  if (what == "checkpoints" || what == "reason") forget_next(halt);
  if (what == "checkpoints")
    halt.checkpoints.reset();
  else if (what == "before")
    halt.before.reset();
  else if (what == "after")
    halt.after.reset();
  else if (what == "seconds")
    halt.seconds.reset();
  else if (what == "reason")
    halt.reason.clear();
  else
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no halt condition", what), {}, {},
                "checkpoints, before, after, seconds or reason");
  return {};
}

}  // namespace

Result<int64_t> parse_halt_time(const std::string& text, int64_t now) {
  if (text == "now") return now;
  int64_t seconds = 0;
  if (const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
      error == std::errc() && end == text.data() + text.size() && seconds >= 0)
    return seconds;
  std::tm local{};
  const auto time = static_cast<std::time_t>(now);
  for (const char* format :
       {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%H:%M:%S", "%H:%M"}) {
    ::localtime_r(&time, &local);
    local.tm_sec = 0;
    const char* const end = ::strptime(text.c_str(), format, &local);
    if (end == nullptr || *end != '\0') continue;
    local.tm_isdst = -1;
    std::time_t found = std::mktime(&local);
    if (format[1] == 'H' && found < time) {
      ++local.tm_mday;
      local.tm_isdst = -1;
      found = std::mktime(&local);
    }
    if (found != -1) return static_cast<int64_t>(found);
  }
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no time", text), {}, {},
              "say it as 18:30, 2026-11-24T18:30, now, or in seconds since 1970");
}

std::optional<std::string> why_not_start(const scr::Halt& halt, int64_t now, bool first) {
  scr::Halt counts = halt;
  if (first && counts.reason == scr::kFinalized) counts.reason.clear();
  if (!counts.reason.empty()) return counts.reason;
  return scr::why_halt(counts, now, std::nullopt, 0);
}

Result<ExitCode> scr_halt(const scr::Places& places, const HaltWords& words, const Console& console) {
  auto read = scr::read_halt(places.halt);
  const bool is_forgotten = !read && read.error().kind == ErrorKind::corrupt && words.remove;
  if (!read && !is_forgotten) return std::unexpected(std::move(read).error());
  scr::Halt halt = read.value_or(scr::Halt{});
  const scr::Halt before = halt;
  const auto now = static_cast<int64_t>(std::time(nullptr));
  if (words.remove) halt = {};
  for (const std::string& what : words.unset) FOREBAY_CHECK(unset(halt, what));
  if (words.checkpoints) {
    forget_next(halt);
    halt.checkpoints = *words.checkpoints;
  }
  if (words.seconds) halt.seconds = *words.seconds;
  if (!words.before.empty()) {
    FOREBAY_TRY(halt.before, parse_halt_time(words.before, now));
  }
  if (!words.after.empty()) {
    FOREBAY_TRY(halt.after, parse_halt_time(words.after, now));
  }
  const bool says_nothing = !words.list && !words.remove && words.unset.empty() && !words.checkpoints &&
                            !words.seconds && words.before.empty() && words.after.empty();
  if (words.immediate) {
    halt.reason = kHaltNow;
  } else if (says_nothing && (halt.reason.empty() || halt.reason == scr::kFinalized)) {
    halt.reason = scr::kHalted;
    halt.checkpoints = std::clamp<int64_t>(halt.checkpoints.value_or(1), 0, 1);
  }
  if (halt != before || is_forgotten) {
    FOREBAY_CHECK(scr::make_own_directories(places));
    FOREBAY_CHECK(scr::write_halt(places.halt, halt));
  }
  if (console.json)
    print_json({{"path", json_text(places.halt)}, {"halt", halt_json(halt)}});
  else
    print_conditions(halt);
  return ExitCode::ok;
}

}  // namespace forebay::cli
