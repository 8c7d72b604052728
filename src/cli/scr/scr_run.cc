// Words of `forebay run` for a job that is configured as SCR's are.
#include <fmt/format.h>

#include "cli/scr/scr.h"

namespace forebay::cli {
namespace {

Result<int64_t> number_of(const scr::Config& config, std::string_view key, int64_t least, int64_t most) {
  FOREBAY_TRY(const int64_t number, config.number(key));
  if (number < least || number > most)
    return fail(ErrorKind::invalid_argument, fmt::format("{} is {}, which makes no sense", key, number),
                config.where(key), {}, fmt::format("it is between {} and {}", least, most));
  return number;
}

Result<std::string> scheme_of(const scr::Config& config) {
  const std::string type = config.text("SCR_COPY_TYPE");
  FOREBAY_TRY(const int64_t size, number_of(config, "SCR_SET_SIZE", 2, 255));
  if (type == "SINGLE") return "none";
  if (type == "PARTNER") return "partner";
  if (type == "XOR" || type == "FILE" || type.empty()) return fmt::format("xor:{}", size);
  if (type != "RS")
    return fail(ErrorKind::invalid_argument, fmt::format("SCR_COPY_TYPE is '{}'", type), config.where("SCR_COPY_TYPE"),
                {}, "it is SINGLE, PARTNER, XOR, RS or FILE");
  FOREBAY_TRY(const int64_t losses, number_of(config, "SCR_SET_FAILURES", 1, 254));
  return fmt::format("rs:{}:{}", losses, size);
}

}  // namespace

Result<std::vector<std::string>> run_words_of(const scr::Config& config, const std::string& stage) {
  constexpr int64_t kMost = 1'000'000;
  FOREBAY_TRY(const std::string scheme, scheme_of(config));
  // The library says of each set whether it is due; what the run adds is the flush of the newest one at the end.
  FOREBAY_CHECK(number_of(config, "SCR_FLUSH", 0, kMost));
  FOREBAY_CHECK(number_of(config, "SCR_CACHE_SIZE", 0, kMost));
  FOREBAY_TRY(const int64_t keep, scr::cache_size_of(config));
  FOREBAY_TRY(const int64_t runs, number_of(config, "SCR_RUNS", -1, kMost));
  FOREBAY_TRY(const int64_t backlog, number_of(config, "FOREBAY_SCR_BACKLOG", 1, kMost));
  FOREBAY_TRY(const int64_t watchdog, number_of(config, "SCR_WATCHDOG_TIMEOUT", 0, 86'400));
  std::vector<std::string> words = {
      "--redundancy=" + scheme, "--flush-every=0", fmt::format("--keep={}", keep),
      // What the library says is due was promised: it is stored in order, and none is left out.
      "--backlog=block", fmt::format("--backlog-sets={}", backlog),
      fmt::format("--relaunch={}", runs < 0 ? kMost : std::max<int64_t>(runs - 1, 0))};
  FOREBAY_TRY(const auto levels, scr::levels_of(config));
  for (const scr::LevelOfNode& level : levels)
    words.push_back(fmt::format("--level={},keep={}", scr::directory_on(level.store, stage), level.keep));
  FOREBAY_TRY(const int64_t encrypt, number_of(config, "FOREBAY_SCR_ENCRYPT", 0, 1));
  if (encrypt == 1) words.emplace_back("--encrypt");
  if (watchdog > 0) words.push_back(fmt::format("--set-interval={}", watchdog));
  const std::string group = config.text("SCR_GROUP");
  if (!group.empty() && group != "NODE") words.push_back("--failure-group=" + group);
  return words;
}

}  // namespace forebay::cli
