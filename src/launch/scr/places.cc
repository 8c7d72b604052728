#include "launch/scr/places.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/catalogue.h"
#include "base/checksum.h"
#include "base/posix/ownership.h"
#include "store/files.h"

namespace forebay::scr {
namespace {

Result<std::string> resolved(const std::string& path) {
  std::array<char, PATH_MAX> real;
  if (::realpath(path.c_str(), real.data()) == nullptr) return fail_errno(errno, "realpath", path);
  return std::string(real.data());
}

std::string first_of(const Config& config, const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* value = environment(name); value != nullptr && *value != '\0') return value;
    if (auto value = config.get(name); value && !value->empty()) return *value;
  }
  return {};
}

// One that belongs to this user alone.
Result<void> make_private_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno(errno, "mkdir", path);
  return check_private_directory(path, "the cache's directory", "name another SCR_CACHE_BASE");
}

}  // namespace

// The STORE of each CKPT line that uses a cache, empty where it names none.
static std::vector<std::string> stores_of(const Config& config) {
  std::vector<std::string> stores;
  for (const ConfigLine& line : config.lines("CKPT")) {
    const auto of_line = [&](const char* item) {
      const auto found = line.items.find(item);
      return found == line.items.end() ? std::string() : found->second;
    };
    const std::string bypass = of_line("BYPASS");
    if (of_line("ENABLED") == "0" || (bypass.empty() ? config.text("SCR_CACHE_BYPASS") : bypass) != "0") continue;
    stores.push_back(of_line("STORE"));
  }
  return stores;
}

std::string cache_base_of(const Config& config) {
  const std::vector<std::string> stores = stores_of(config);
  const bool is_one = !stores.empty() && std::ranges::count(stores, stores.front()) == std::ssize(stores);
  return is_one && !stores.front().empty() ? stores.front() : config.text("SCR_CACHE_BASE");
}

static Result<int64_t> cache_size_at(const Config& config, const std::string& base) {
  for (const ConfigLine& line : config.lines("STORE")) {
    const auto count = line.items.find("COUNT");
    if (line.id != base || count == line.items.end()) continue;
    const std::string& text = count->second;
    int64_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault == std::errc{} && end == text.data() + text.size() && number > 0) return number;
    return fail(ErrorKind::invalid_argument,
                fmt::format("STORE={} COUNT={}: that is no whole number of at least 1", line.id, text), line.where);
  }
  return config.number("SCR_CACHE_SIZE");
}

Result<int64_t> cache_size_of(const Config& config) { return cache_size_at(config, cache_base_of(config)); }

Result<std::vector<LevelOfNode>> levels_of(const Config& config) {
  std::vector<LevelOfNode> levels;
  const std::string base = cache_base_of(config);
  for (const std::string& store : stores_of(config)) {
    if (store.empty() || store == base || std::ranges::find(levels, store, &LevelOfNode::store) != levels.end())
      continue;
    FOREBAY_TRY(const int64_t keep, cache_size_at(config, store));
    levels.push_back({store, std::max<int64_t>(keep, 1)});
  }
  return levels;
}

std::string directory_on(const std::string& store, const std::string& stage) {
  return fmt::format("{}/forebay-{}{}", store, ::geteuid(), stage.substr(stage.rfind('/')));
}

Result<Places> places_of(const Config& config, const Environment& environment) {
  Places places;
  FOREBAY_TRY(places.prefix, resolved(config.get("SCR_PREFIX").value_or(".")));
  const std::string hash = hash128_hex(as_bytes(places.prefix)).substr(0, 16);
  places.job = first_of(config, environment, {"SCR_JOB_ID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"});
  if (places.job.empty()) places.job = hash;
  if (!is_safe_name(places.job) || places.job.find('/') != std::string::npos)
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no name of a job", places.job), {}, {},
                "SCR_JOB_ID says another one");
  places.own = places.prefix + "/.scr";
  places.index = places.own + "/index.json";
  places.halt = places.own + "/halt.json";
  places.sets = places.own + "/sets";
  places.logs = places.own + "/logs";
  const auto chosen = [&](const char* name, std::string otherwise) {
    const std::string value = first_of(config, environment, {name});
    return value.empty() ? otherwise : value;
  };
  places.store = chosen("FOREBAY_STORE", places.own + "/store");
  places.rendezvous = chosen("FOREBAY_RENDEZVOUS", places.own + "/jobs/" + places.job);
  places.series = chosen("FOREBAY_SERIES", "scr-" + hash);
  places.stage =
      chosen("FOREBAY_STAGE", fmt::format("{}/forebay-{}/scr.{}", cache_base_of(config), ::geteuid(), places.job));
  return places;
}

// Who else can write there could halt the job, name sets that are not the job's, and have its logs written elsewhere.
static Result<void> make_own_directory(const std::string& path) {
  FOREBAY_CHECK(store::make_directory(path));
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return fail_errno(errno, "lstat", path);
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    return fail(ErrorKind::permission, fmt::format("belongs to user {}", info.st_uid), path, {},
                "name another SCR_PREFIX");
  if ((info.st_mode & S_IWOTH) != 0)
    return fail(ErrorKind::permission, "can be written by everybody", path, {},
                "chmod o-w, or name another SCR_PREFIX");
  return {};
}

Result<void> make_own_directories(const Places& places) {
  FOREBAY_CHECK(make_own_directory(places.own));
  FOREBAY_CHECK(make_own_directory(places.own + "/jobs"));
  FOREBAY_CHECK(make_own_directory(places.sets));
  return make_own_directory(places.logs);
}

Result<void> make_stage_directory(const std::string& stage) {
  const std::string above = stage.substr(0, stage.rfind('/'));
  FOREBAY_CHECK(make_private_parents(above));
  FOREBAY_CHECK(make_private_directory(above));
  return make_private_directory(stage);
}

}  // namespace forebay::scr
