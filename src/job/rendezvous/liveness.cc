#include "job/rendezvous/liveness.h"

#include <charconv>

#include "store/sealed_text.h"

namespace forebay::job {
namespace {

constexpr std::string_view kLeaseTag = "forebay-lease";
constexpr uint64_t kLeaseVersion = 1;

}  // namespace

std::string seal_holder(const Holder& holder) {
  return store::seal(kLeaseTag, {{"version", kLeaseVersion},
                                 {"host", holder.host},
                                 {"processes", holder.processes},
                                 {"pid", holder.pid},
                                 {"pid_started", holder.pid_started},
                                 {"began_seconds", holder.began_seconds},
                                 {"command", holder.command}});
}

Result<Holder> parse_holder(std::string_view text, const std::string& path) {
  FOREBAY_TRY(const nlohmann::json body, store::unseal(kLeaseTag, text, kLeaseVersion, path));
  Holder holder;
  const auto find = [&](const char* key) { return body.contains(key) ? body.at(key) : nlohmann::json(); };
  const auto read_text = [&](const char* key, std::string& to) {
    const auto member = find(key);
    if (member.is_string()) to = member.get<std::string>();
    return member.is_string();
  };
  const auto pid = find("pid"), started = find("pid_started"), began = find("began_seconds");
  if (!read_text("host", holder.host) || !read_text("processes", holder.processes) ||
      !read_text("command", holder.command) || !pid.is_number_unsigned() || !started.is_number_unsigned() ||
      !began.is_number_integer())
    return fail(ErrorKind::corrupt, "a member is missing or of the wrong type", path);
  holder.pid = pid.get<uint64_t>();
  holder.pid_started = started.get<uint64_t>();
  holder.began_seconds = began.get<int64_t>();
  return holder;
}

Life judge(const Holder& holder, const Traces& traces) {
  if (traces.same_processes) return traces.pid_started == holder.pid_started ? Life::living : Life::dead;
  if (traces.silence < kLease) return Life::living;
  return traces.silence < kForgotten ? Life::silent : Life::dead;
}

const char* to_string(Life life) {
  switch (life) {
    case Life::living:
      return "living";
    case Life::silent:
      return "silent";
    case Life::dead:
      return "dead";
  }
  return "";
}

std::optional<uint64_t> parse_process_start(std::string_view stat) {
  constexpr size_t kState = 0, kStart = 19;  // behind the name, which may hold anything
  const size_t name_end = stat.rfind(')');
  if (name_end == stat.npos) return {};
  stat.remove_prefix(name_end + 1);
  for (size_t field = 0;; ++field) {
    stat.remove_prefix(std::min(stat.find_first_not_of(" \n"), stat.size()));
    const std::string_view word = stat.substr(0, stat.find_first_of(" \n"));
    if (word.empty()) return {};
    if (field == kState && (word == "Z" || word == "X" || word == "x")) return {};
    if (field == kStart) {
      uint64_t start = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), start);
      if (error != std::errc{} || end != word.data() + word.size()) return {};
      return start;
    }
    stat.remove_prefix(word.size());
  }
}

}  // namespace forebay::job
