#include "job/rendezvous/series_claim.h"

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 1s;          // between looks at a lease that may run out
constexpr int kAttempts = 3;        // of runs that begin at the same time, and give way to one another
constexpr int64_t kSameTime = 3;    // seconds
constexpr size_t kTokenBytes = 16;  // of store::random_token()

bool is_of_series(std::string_view name, std::string_view series) {
  return name.size() == series.size() + 1 + kTokenBytes && name.starts_with(series) && name[series.size()] == '.' &&
         name.find_first_not_of("0123456789abcdef", series.size() + 1) == name.npos;
}

std::string who(const Holder& holder) {
  return fmt::format("on {}, process {}, since {:%Y-%m-%d %H:%M:%S} UTC: {}", holder.host, holder.pid,
                     fmt::gmtime(holder.began_seconds), holder.command);
}

std::unexpected<Error> refused(const std::string& series, const Holder& holder, const std::string& path) {
  return fail(
      ErrorKind::exists, fmt::format("another job of the series '{}' lives ({})", series, who(holder)), path, {},
      "wait for its end, or end it; if this is another computation, give it a series of its own with --series NAME");
}

// Until it is known whether the other one lives. Its lease is removed if it does not.
Result<void> outlast(const std::string& runs, const std::string& name, const std::string& series,
                     const SeriesClaim::Say& say) {
  const std::string path = runs + "/" + name;
  std::optional<int64_t> first;
  for (;;) {
    const auto seen = see_lease(path, file_system_time(runs));
    if (!seen && seen.error().kind == ErrorKind::not_found) return {};  // it has ended
    if (!seen)
      return fail(seen.error().kind, "another job of this series left a lease that cannot be read", path, {},
                  "remove it if no such job lives");
    const bool is_first = !first;
    if (is_first) first = seen->renewed_seconds;
    switch (judge_rival(*seen, seen->renewed_seconds != *first)) {
      case Rival::lives:
        return refused(series, seen->holder, path);
      case Rival::is_gone:
        say(fmt::format("a job of this series has ended without putting things in order ({})", who(seen->holder)));
        ::unlink(path.c_str());
        return {};
      case Rival::wait:
        if (is_first)
          say(fmt::format("another job of the series '{}' may live ({}): waits up to {} s for a sign of it", series,
                          who(seen->holder), kLease / 1s));
    }
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

Rival judge_rival(const LeaseSeen& seen, bool renewed) {
  if (seen.life != Life::living) return Rival::is_gone;
  return seen.looked_up || renewed ? Rival::lives : Rival::wait;
}

Result<SeriesClaim> SeriesClaim::take(const std::string& store, const std::string& series, const std::string& command,
                                      const Say& say) {
  const std::string runs = store + "/runs";
  if (::mkdir(runs.c_str(), 0775) != 0 && errno != EEXIST) return fail_errno(errno, "mkdir", runs);
  FOREBAY_TRY(const Holder holder, this_holder(command));
  for (int attempt = 1;; ++attempt) {
    const std::string token = store::random_token(), name = fmt::format("{}.{}", series, token);
    const std::string path = runs + "/" + name;
    FOREBAY_CHECK(write_lease(runs, name, holder));
    auto result = [&]() -> Result<SeriesClaim> {
      FOREBAY_TRY(LeaseKeeper keeper, LeaseKeeper::start(path));
      FOREBAY_TRY(const auto names, store::names_in(runs));
      for (const std::string& other : names)
        if (other != name && is_of_series(other, series)) FOREBAY_CHECK(outlast(runs, other, series, say));
      return SeriesClaim(path, std::move(keeper));
    }();
    if (result) return result;
    ::unlink(path.c_str());
    if (result.error().kind != ErrorKind::exists || attempt == kAttempts) return result;
    const auto rival = see_lease(result.error().path, 0);
    if (rival && rival->holder.began_seconds + kSameTime < holder.began_seconds) return result;
    // Both saw the other one, perhaps. Who is the first to try again has it.
    std::this_thread::sleep_for(50ms + 1ms * (std::stoul(token.substr(0, 4), nullptr, 16) % 500));
  }
}

void SeriesClaim::release() const { ::unlink(path_.c_str()); }

}  // namespace forebay::job
